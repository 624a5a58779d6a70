"""``grid_sample`` of images and volumes, in all modes, and its gradients.

A sampled place is the sum of taps, one for each combination of places along the dimensions: ``weight * element``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import inf
from typing import Any

import torch
from torch import Tensor

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten

LINEAR, NEAREST, CUBIC = range(3)
"""Interpolation modes as the op numbers them."""
ZEROS, BORDER, REFLECTION = range(3)
"""Padding modes as the op numbers them."""


@dataclass(frozen=True)
class _Tap:
    """A place along one dimension: its number, a float; its weight, and the derivative of this by the coordinate."""

    place: Any
    weight: Any
    slope: Any


@dataclass(frozen=True)
class _Mode:
    """How coordinates along a dimension become taps."""

    interpolation: int
    padding: int
    align_corners: bool
    of_volumes: bool

    def scale(self, size: int) -> float:
        """Elements per unit of the grid, whose edges are at -1 and 1."""
        return (size - 1) / 2 if self.align_corners else size / 2

    def taps(self, grid: Tensor, size: int) -> list[_Tap]:
        """The taps along a dimension; slopes are derivatives by the grid.

        Places are rounded where PyTorch's kernel rounds them: which element is the nearest depends on it.
        """
        scale = self.scale(size)
        position = (grid + 1) * scale - (0.0 if self.align_corners else 0.5)
        if self.interpolation == CUBIC:
            return self._cubic(position, size, scale)
        position, slope = self._padded(position, size)
        if self.interpolation == NEAREST:
            return [_Tap(position.round(), torch.ones_like(position), torch.zeros_like(position))]
        low = position.floor()
        along = position - low
        return [_Tap(low, 1 - along, -slope * scale), _Tap(low + 1, along, slope * scale)]

    def _cubic(self, position: Any, size: Any, scale: Any) -> list[_Tap]:
        """Keys' kernel with a = -0.75; padding applies to each place."""
        first = position.floor()
        t = position - first
        taps = []
        for offset in (-1, 0, 1, 2):
            weight, slope = _keys(t - offset, near=offset in (0, 1))
            place, _ = self._padded(first + offset, size)
            taps.append(_Tap(place, weight, slope * scale))
        return taps

    def _padded(self, position: Tensor, size: int) -> tuple[Any, Any]:
        """The position inside of the image, and the derivative of that."""
        slope = torch.ones_like(position)
        if self.padding == ZEROS:
            return position, slope
        if self.padding == REFLECTION:
            position, slope = self._reflected(position, size)
        slope = torch.where((position > 0) & (position < size - 1), slope, 0.0)
        # as PyTorch's kernels have it, NaN is the first place of an image and the last one of a volume
        position = torch.where(position.isnan(), inf if self.of_volumes else 0.0, position)
        return position.clamp(min=0, max=size - 1), slope

    def _reflected(self, position: Tensor, size: int) -> tuple[Any, Any]:
        """Mirrored at centers of the elements on the edge, or at the outer sides of these."""
        low = 0.0 if self.align_corners else -0.5
        span = size - 1 if self.align_corners else size
        if isinstance(span, int) and span == 0:
            return torch.zeros_like(position), torch.zeros_like(position)
        distance = position - low
        direction = torch.where(distance < 0, -1.0, 1.0)
        flips = torch.div(distance.abs(), span, rounding_mode="floor")
        extra = distance.abs() - flips * span
        odd = flips - 2 * torch.floor(flips / 2) != 0
        return (
            torch.where(odd, span - extra, extra) + low,
            torch.where(odd, -direction, direction).to(position.dtype),
        )


def _keys(distance: Any, near: bool) -> tuple[Any, Any]:
    """The kernel of Keys with a = -0.75 and its derivative, of signed distances below 1 (``near``) or from 1 to 2."""
    a = -0.75
    size = distance.abs()
    sign = torch.where(distance < 0, -1.0, 1.0).to(distance.dtype)
    if near:
        value = ((a + 2) * size - (a + 3)) * size * size + 1
        slope = (3 * (a + 2) * size - 2 * (a + 3)) * size
    else:
        value = (((size - 5) * size + 8) * size - 4) * a
        slope = ((3 * size - 10) * size + 8) * a
    return value, slope * sign


@dataclass(frozen=True)
class _Corner:
    """A combination of taps: where it is in the flat image ``[n, 1, p]``, whether inside, and the taps."""

    flat: Any
    inside: Any
    taps: Sequence[_Tap]

    def element(self, source: Tensor) -> Tensor:
        """The elements of each channel ``[n, c, p]``, zero outside, whatever the element that is nearest."""
        found = torch.gather(source, 2, _everywhere(self.flat, source.shape[1]))
        return torch.where(self.inside, found, 0.0)

    def weight(self) -> Tensor:
        """The product of the weights, zero outside."""
        return torch.where(self.inside, self.weight_anywhere(), 0.0)

    def weight_anywhere(self) -> Tensor:
        """The product of the weights, NaN where a coordinate is NaN or infinite."""
        return reduce(torch.mul, [tap.weight for tap in self.taps])

    def slope(self, dim: int) -> Tensor:
        """The derivative of the weight by the grid along a dimension."""
        factors = [tap.slope if i == dim else tap.weight for i, tap in enumerate(self.taps)]
        return torch.where(self.inside, reduce(torch.mul, factors), 0.0)


def _corners(sizes: Sequence[Any], grid: Tensor, mode: _Mode) -> Iterator[_Corner]:
    """All combinations; the grid's last dimension counts the image's from the last one on."""
    points = grid.flatten(1, -2).unsqueeze(1)
    spatial = len(sizes)
    along = [mode.taps(points[..., spatial - 1 - dim], size) for dim, size in enumerate(sizes)]
    for taps in product(*along):
        inside, flat = None, None
        for tap, size in zip(taps, sizes, strict=True):
            within = (tap.place >= 0) & (tap.place < size)
            inside = within if inside is None else inside & within
            place = torch.where(within, tap.place, 0.0).to(torch.int64)
            flat = place if flat is None else flat * size + place
        yield _Corner(flat, inside, taps)


def _everywhere(flat: Tensor, channels: int) -> Tensor:
    """The places ``[n, 1, p]`` for every channel."""
    return flat.expand(flat.shape[0], channels, flat.shape[2])


@decomposes(aten.grid_sampler_2d.default, aten.grid_sampler_3d.default)
def _grid_sampler(
    x: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """Elements at the taps of each place of the grid, weighted.

    As PyTorch's kernels do, images take zero times the weight of a tap outside, volumes leave such a tap out.
    """
    mode = _Mode(interpolation_mode, padding_mode, align_corners, x.dim() == 5)
    source = x.flatten(2)
    parts = [
        corner.element(source) * (corner.weight() if mode.of_volumes else corner.weight_anywhere())
        for corner in _corners(x.shape[2:], grid, mode)
    ]
    return reduce(torch.add, parts).reshape([*x.shape[:2], *grid.shape[1:-1]])


@decomposes(aten.grid_sampler_2d_backward.default, aten.grid_sampler_3d_backward.default)
def _grid_sampler_backward(
    grad: Tensor,
    x: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    output_mask: Sequence[bool],
) -> tuple[Tensor, Tensor]:
    """What flows back goes to the taps by their weights, and to the grid by the derivatives of these."""
    mode = _Mode(interpolation_mode, padding_mode, align_corners, x.dim() == 5)
    spatial = x.dim() - 2
    source, flow = x.flatten(2), grad.flatten(2)
    of_input = torch.zeros_like(source)
    of_grid: list[Any] = [torch.zeros_like(grid[..., 0].flatten(1))] * spatial
    for corner in _corners(x.shape[2:], grid, mode):
        places = _everywhere(corner.flat, x.shape[1])
        if output_mask[0]:
            of_input = of_input.scatter_add(2, places, flow * corner.weight())
        if output_mask[1] and interpolation_mode != NEAREST:
            pull = (corner.element(source) * flow).sum(1, keepdim=True)
            of_grid = [g + (pull * corner.slope(d)).squeeze(1) for d, g in enumerate(of_grid)]
    return of_input.reshape(x.shape), torch.stack(of_grid[::-1], -1).reshape(grid.shape)
