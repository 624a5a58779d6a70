"""How many elements, or points of several coordinates, fall into bins."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import torch
from torch import Tensor
from torch.types import Number

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten


@decomposes(aten.histc.default)
def _histc(a: Tensor, bins: int = 100, min: Number = 0, max: Number = 0) -> Tensor:
    """How many elements fall into each of ``bins`` equal parts; those outside count for none.

    Without bounds they are the least and the greatest element; equal bounds are moved apart by one each.
    """
    flat = a.reshape(-1)
    low = torch.full([], min, dtype=a.dtype)
    high = torch.full([], max, dtype=a.dtype)
    if min == max and a.numel() != 0:
        low, high = torch.amin(flat, 0), torch.amax(flat, 0)
    low, high = _apart(low, high, 1)
    place = torch.clamp(((flat - low) * bins / (high - low)).to(torch.int64), 0, bins - 1)
    inside = (flat >= low) & (flat <= high)
    return _summed(torch.where(inside, place, 0), inside.to(a.dtype), [bins])


def _summed(place: Tensor, weight: Tensor, bins: list[int]) -> Tensor:
    """The weights summed up by place in a grid."""
    empty = torch.zeros([prod(bins)], dtype=weight.dtype)
    return aten.scatter_add(empty, 0, place, weight).reshape(bins)


def _apart(low: Tensor, high: Tensor, amount: float) -> tuple[Any, Any]:
    """Bounds of which one is greater than the other."""
    equal = low == high
    return torch.where(equal, low - amount, low), torch.where(equal, high + amount, high)


def _equal_bins(a: Any, bins: int, bounds: Any) -> Any:
    """The edges of equal bins over a vector's range, or over other bounds."""
    low, high = (torch.full([], x, dtype=a.dtype) for x in bounds or (0, 1))
    if not bounds and a.numel() != 0:
        low, high = torch.amin(a, 0), torch.amax(a, 0)
    low, high = _apart(low, high, 0.5)
    steps = torch.arange(bins + 1, dtype=a.dtype)
    width = (high - low) / bins
    return torch.where(steps < (bins + 1) // 2, low + steps * width, high - (bins - steps) * width)


def _histogram(
    columns: Sequence[Tensor], edges: Sequence[Tensor], weight: Any, density: bool
) -> Tensor:
    """The weight of points, given by their coordinates, in each bin of a grid; the last ones include their ends."""
    bins = [edge.shape[0] - 1 for edge in edges]
    weight = torch.ones_like(columns[0]) if weight is None else weight.reshape(-1)
    place = torch.zeros_like(columns[0], dtype=torch.int64)
    for column, edge, count in zip(columns, edges, bins, strict=True):
        own = torch.clamp(torch.searchsorted(edge, column, right=True) - 1, 0, count - 1)
        place = place * count + own
        weight = torch.where((column >= edge[0]) & (column <= edge[count]), weight, 0)
    total = _summed(place, weight, bins)
    if density:
        total = total / torch.sum(total)
        for dim, edge in enumerate(edges):
            widths = edge[1:] - edge[:-1]
            total = total / widths.reshape([-1] + [1] * (len(bins) - dim - 1))
    return total


@decomposes(aten.histogram.bins_tensor)
def _histogram_of_edges(
    a: Tensor, edges: Tensor, *, weight: Tensor | None = None, density: bool = False
) -> tuple[Any, Any]:
    """How many elements, or how much weight, lies between neighbouring edges."""
    return _histogram([a.reshape(-1)], [edges], weight, density), edges


@decomposes(aten.histogram.bin_ct)
def _histogram_of_count(
    a: Tensor,
    bins: int = 100,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> tuple[Any, Any]:
    """Equal bins over a range, by default that of the elements."""
    flat = a.reshape(-1)
    edges = _equal_bins(flat, bins, range)
    return _histogram([flat], [edges], weight, density), edges


def _coordinates(points: Tensor) -> Any:
    """Vectors of the coordinates of points ``[.., d]``."""
    return [column.clone() for column in points.reshape(-1, points.shape[-1]).unbind(1)]


@decomposes(aten._histogramdd_bin_edges.default)
def _grid_edges(
    points: Tensor,
    bins: Sequence[int],
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> list[Any]:
    """Equal bins in every coordinate; ``range`` has two bounds of each."""
    bounds = zip(range[::2], range[1::2], strict=True) if range else [None] * len(bins)
    return [_equal_bins(*each) for each in zip(_coordinates(points), bins, bounds, strict=True)]


@decomposes(aten._histogramdd_from_bin_cts.default)
def _grid_of_counts(
    points: Tensor,
    bins: Sequence[int],
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Tensor:
    """How many points lie in each bin of a grid of equal bins."""
    edges = _grid_edges(points, bins, range=range)
    return _histogram(_coordinates(points), edges, weight, density)


@decomposes(aten._histogramdd_from_bin_tensors.default)
def _grid_of_edges(
    points: Tensor, bins: Sequence[Tensor], *, weight: Tensor | None = None, density: bool = False
) -> Tensor:
    """How many points lie in each bin of a grid with these edges."""
    return _histogram(_coordinates(points), bins, weight, density)
