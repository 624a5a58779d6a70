"""What orders elements, or selects them by their rank, in terms of a stable sort."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch._decomp.decompositions import isin
from torch.types import Number

from torch2mlir.transforms.decompositions.loops import as_long_as, repeat
from torch2mlir.transforms.decompositions.registry import decomposes
from torch2mlir.transforms.decompositions.scans import limits, running_maximum

aten = torch.ops.aten


def _sorted(a: Tensor, dim: int, descending: bool = False) -> Any:
    return aten.sort.stable(a, stable=True, dim=dim, descending=descending)


def _flat(a: Any) -> Any:
    return a.reshape([a.numel()])


@decomposes(aten.sort.default)
def _sort(a: Tensor, dim: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    return _sorted(a, dim, descending)


@decomposes(aten.argsort.default)
def _argsort(a: Tensor, dim: int = -1, descending: bool = False) -> Tensor:
    return _sorted(a, dim, descending)[1]


@decomposes(aten.argsort.stable)
def _argsort_stable(a: Tensor, *, stable: bool, dim: int = -1, descending: bool = False) -> Tensor:
    return _sorted(a, dim, descending)[1]


@decomposes(aten.isin.Tensor_Tensor)
def _isin(
    elements: Tensor, test_elements: Tensor, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """PyTorch's own asks which of two ways takes less; of sizes that vary, each is compared with each."""
    sizes = (*elements.shape, *test_elements.shape)
    if all(isinstance(size, int) for size in sizes):
        return isin(elements, test_elements, assume_unique=assume_unique, invert=invert)
    found = aten.any.dim(elements.unsqueeze(-1) == _flat(test_elements), -1)
    return ~found if invert else found


_SORTED_WHOLE = 256
"""Up to so many elements a line is sorted for the first of it, which is one comparison of all pairs."""
_MOST_CHOSEN = 128


@decomposes(aten.topk.default)
def _topk(
    a: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Tensor, Tensor]:
    """The front of what is sorted; of equal elements those with the lower positions."""
    if a.dim() and isinstance(k, int) and _is_long(a, k, a.shape[dim], largest):
        values, positions = _top_of_groups(a.movedim(dim, -1), k, largest)
        return values.movedim(-1, dim), positions.movedim(-1, dim)
    values, positions = _sorted(a, dim, largest)
    if a.dim() == 0:
        return values, positions
    return aten.slice(values, dim, 0, k), aten.slice(positions, dim, 0, k)


def _is_long(a: Tensor, k: int, length: int, largest: bool) -> bool:
    """Whether groups are worth it, and their extrema order them: the lowest of numbers and NaN is NaN."""
    return (
        isinstance(length, int)
        and length > _SORTED_WHOLE
        and 0 < k <= _MOST_CHOSEN
        and a.dtype is not torch.bool
        and (largest or not a.dtype.is_floating_point)
    )


def _top_of_groups(a: Tensor, k: int, largest: bool) -> tuple[Any, Any]:
    """The first ``k`` of each line: they are in those ``k`` groups of neighbours whose extrema come first.

    An element of any other group comes behind ``k`` elements: one of each of these groups, equal ones being earlier.
    """
    length = a.shape[-1]
    if not _is_long(a, k, length, largest):
        values, positions = _sorted(a, -1, largest)
        return aten.slice(values, -1, 0, k), aten.slice(positions, -1, 0, k)
    if k == 1:
        return (torch.max if largest else torch.min)(a, -1, keepdim=True)
    size = math.isqrt(length // k) + 1
    count = -(-length // size)
    lowest, highest = limits(a.dtype)
    padding = [0, count * size - length]
    groups = aten.constant_pad_nd(a, padding, lowest if largest else highest)
    groups = groups.reshape([*a.shape[:-1], count, size])
    extrema = torch.amax(groups, -1) if largest else torch.amin(groups, -1)
    chosen, _ = _sorted(_top_of_groups(extrema, k, largest)[1], -1)
    places = chosen.unsqueeze(-1) * size + torch.arange(size)
    places = places.reshape([*a.shape[:-1], k * size])
    flat = groups.reshape([*a.shape[:-1], count * size])
    values, at = _top_of_groups(torch.gather(flat, -1, places), k, largest)
    return values, torch.gather(places, -1, at)


@decomposes(aten.kthvalue.default)
def _kthvalue(a: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The ``k``-th smallest, counted from 1."""
    values, positions = _sorted(a, dim)
    if a.dim() == 0:
        return values, positions
    return tuple(_one(t, dim, k - 1, keepdim) for t in (values, positions))


def _one(a: Any, dim: int, place: Any, keepdim: bool) -> Any:
    """One place of a dimension."""
    return aten.slice(a, dim, place, place + 1) if keepdim else aten.select(a, dim, place)


@decomposes(aten.median.dim)
def _median_dim(a: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The lower of the two in the middle; NaN where there is one."""
    if a.dim() == 0:
        return a, torch.zeros_like(a, dtype=torch.int64)
    values, positions = _sorted(a, dim)
    middle = (a.shape[dim] - 1) // 2
    found = tuple(_one(t, dim, middle, keepdim) for t in (values, positions))
    if not a.dtype.is_floating_point:
        return found
    # NaNs come last and keep their order
    spoilt = torch.isnan(_one(values, dim, a.shape[dim] - 1, keepdim))
    first = torch.amin(torch.where(torch.isnan(values), positions, a.shape[dim]), dim, keepdim)
    return torch.where(spoilt, torch.nan, found[0]), torch.where(spoilt, first, found[1])


@decomposes(aten.median.default)
def _median(a: Tensor) -> Tensor:
    return _median_of_none(a) if _has_none(a) else aten.median.dim(_flat(a), 0)[0]


def _has_none(a: Tensor) -> bool:
    return any(isinstance(size, int) and size == 0 for size in a.shape)


def _median_of_none(a: Tensor) -> Tensor:
    """NaN, and what PyTorch makes of it in integers."""
    if a.dtype.is_floating_point:
        return torch.full((), torch.nan, dtype=a.dtype)
    none = torch.iinfo(a.dtype).min if a.dtype.itemsize >= 4 else 0
    return torch.full((), none, dtype=a.dtype)


@decomposes(aten.nanmedian.dim)
def _nanmedian_dim(a: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, ...]:
    """The lower of the two in the middle of what is not NaN."""
    if not a.dtype.is_floating_point or a.dim() == 0:
        return _median_dim(a, dim, keepdim)
    values, positions = _sorted(a, dim)
    count = torch.sum(~torch.isnan(a), dim, keepdim=True)
    middle = torch.div(torch.clamp(count - 1, min=0), 2, rounding_mode="floor")
    found = tuple(torch.gather(t, dim, middle) for t in (values, positions))
    return found if keepdim else tuple(torch.squeeze(t, dim) for t in found)


@decomposes(aten.nanmedian.default)
def _nanmedian(a: Tensor) -> Tensor:
    return _median_of_none(a) if _has_none(a) else aten.nanmedian.dim(_flat(a), 0)[0]


@decomposes(aten.mode.default)
def _mode(a: Tensor, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, ...]:
    """The smallest of the most frequent elements, and its last position, which is where the longest run ends."""
    if a.dim() == 0:
        return a, torch.zeros_like(a, dtype=torch.int64)
    values, positions = _sorted(a, dim)
    values, positions = values.movedim(dim, -1), positions.movedim(dim, -1)
    places = torch.arange(values.shape[-1])
    previous = values.index_select(-1, torch.clamp_min(places - 1, 0))
    starts = running_maximum(torch.where(values != previous, places, 0), -1)
    last = torch.argmax(places - starts, -1, True)
    found = (torch.gather(values, -1, last), torch.gather(positions, -1, last))
    return tuple(t.movedim(-1, dim) if keepdim else torch.squeeze(t, -1) for t in found)


@decomposes(aten.searchsorted.Tensor)
def _searchsorted(
    boundaries: Tensor,
    a: Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """How many boundaries are less, to the right also those that are equal; NaN is beyond all numbers."""
    if sorter is not None:
        boundaries = torch.gather(boundaries, -1, sorter)

    def passed(edges: Tensor, elements: Tensor) -> Tensor:
        return ~(edges > elements if right or side == "right" else edges >= elements)

    length = boundaries.shape[-1]
    if not isinstance(length, int):
        found = _bisected_in_loop(boundaries, a, passed)
    elif length > _COUNTED_BOUNDARIES:
        found = _bisected(boundaries, a, length, passed)
    else:
        edges = boundaries if boundaries.dim() == 1 else boundaries.unsqueeze(-2)
        found = torch.sum(passed(edges, a.unsqueeze(-1)), -1)
    return found.to(torch.int32 if out_int32 else torch.int64)


_COUNTED_BOUNDARIES = 32
"""Up to so many boundaries are all looked at, which is one reduction; more are searched."""


def _bisected(boundaries: Tensor, a: Tensor, length: int, passed: Callable[..., Any]) -> Tensor:
    """A binary search by steps of falling powers of two."""
    found = torch.zeros_like(a, dtype=torch.int64)
    for bit in reversed(range(length.bit_length())):
        tried = found + (1 << bit)
        at = torch.clamp(tried - 1, max=length - 1)
        found = torch.where((tried <= length) & passed(_edges(boundaries, at), a), tried, found)
    return found


def _bisected_in_loop(boundaries: Any, a: Any, passed: Callable[..., Any]) -> Any:
    """A binary search that halves what is left; of a number of boundaries known at run time."""

    def steps(low: Any, high: Any, left: Any) -> Any:
        return as_long_as(left > 0)

    def step(_: Any, low: Any, high: Any, left: Any, boundaries: Any, a: Any) -> tuple[Any, ...]:
        middle = torch.div(low + high, 2, rounding_mode="floor")
        at = torch.clamp(middle, max=boundaries.shape[-1] - 1)
        above = (middle < high) & passed(_edges(boundaries, at), a)
        low, high = torch.where(above, middle + 1, low), torch.where(above, high, middle)
        return low, high, torch.div(left, 2, rounding_mode="floor")

    length = torch.full((), boundaries.shape[-1], dtype=torch.int64)
    low = torch.zeros_like(a, dtype=torch.int64)
    return repeat(steps, step, low, low + length, length, outer=(boundaries, a))[0]


def _edges(boundaries: Tensor, at: Tensor) -> Tensor:
    """The boundaries at positions, of a line for all or of one line each."""
    return torch.take(boundaries, at) if boundaries.dim() == 1 else torch.gather(boundaries, -1, at)


@decomposes(aten.searchsorted.Scalar)
def _searchsorted_scalar(boundaries: Tensor, a: Number, **options: Any) -> Tensor:
    return _searchsorted(boundaries, torch.full([], a, dtype=boundaries.dtype), **options)


@decomposes(aten.bucketize.Tensor)
def _bucketize(
    a: Tensor, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    return _searchsorted(boundaries, a, out_int32=out_int32, right=right)


@decomposes(aten.bucketize.Scalar)
def _bucketize_scalar(a: Number, boundaries: Tensor, **options: Any) -> Tensor:
    return _bucketize(torch.full([], a, dtype=boundaries.dtype), boundaries, **options)
