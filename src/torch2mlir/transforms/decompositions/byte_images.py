"""Images of ``uint8`` at other sizes, as PyTorch's CPU kernels compute them: in fixed point, a dimension at a time.

Weights are computed in f64 and rounded to 16 bits, with as many behind the point as the largest leaves room for; what a
row of the image becomes is rounded to bytes before the columns are looked at. Other arithmetic is one level off in
places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, floor, pi, sin
from typing import Any

import torch
from torch import Tensor
from torch._decomp import decompositions as pytorch

from torch2mlir.errors import BackendContractError
from torch2mlir.transforms.decompositions.registry import decomposes

Kernel = Callable[[float], float]
Taps = list[tuple[list[int], list[float]]]
"""For each new place, the old places it is made of, and their weights."""

_MOST_BITS = 22
"""Behind the point of a weight."""


def _triangle(x: float) -> float:
    return max(1 - abs(x), 0.0)


def _keys(a: float) -> Kernel:
    """Cubic convolution. Keys, IEEE TASSP 29 (1981)."""

    def cubic(x: float) -> float:
        x = abs(x)
        if x < 1:
            return ((a + 2) * x - (a + 3)) * x * x + 1
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a if x < 2 else 0.0

    return cubic


def _sinc(x: float) -> float:
    return sin(x * pi) / (x * pi) if x else 1.0


def _lanczos(x: float) -> float:
    return _sinc(x) * _sinc(x / 3) if -3 <= x < 3 else 0.0


KERNELS: dict[str, tuple[Kernel, int, bool]] = {
    "upsample_bilinear2d": (_triangle, 2, False),
    "upsample_bicubic2d": (_keys(-0.75), 4, False),
    "_upsample_bilinear2d_aa": (_triangle, 2, True),
    "_upsample_bicubic2d_aa": (_keys(-0.5), 4, True),
    "_upsample_lanczos2d_aa": (_lanczos, 6, True),
}
"""Operator -> the weight at a distance, how many places it reaches, whether it is widened against aliasing."""


def _taps(
    kernel: Kernel, reach: int, old: int, new: int, align_corners: bool, scale: float | None
) -> tuple[Taps, float]:
    """The ``reach`` places around each new one, those outside counting as the place on the edge; the largest weight."""
    ratio = _ratio(old, new, align_corners, scale)
    taps, largest = Taps(), 0.0
    for place in range(new):
        center = ratio * place if align_corners else ratio * (place + 0.5) - 0.5
        center = max(center, 0.0) if reach == 2 and not align_corners else center
        first = min(floor(center), old - 1)
        distance = min(max(center - first, 0.0), 1.0)
        weights = dict[int, float]()
        for step in range(1 - reach // 2, reach // 2 + 1):
            tap = min(max(first + step, 0), old - 1)
            weights[tap] = weights.get(tap, 0.0) + kernel(step - distance)
            largest = max(largest, weights[tap])
        taps.append(([*weights], [*weights.values()]))
    return taps, largest


def _wide_taps(
    kernel: Kernel, reach: int, old: int, new: int, align_corners: bool, scale: float | None
) -> tuple[Taps, float]:
    """All places under a kernel as wide as what one new place covers, their weights divided by their sum."""
    ratio = _ratio(old, new, align_corners, scale)
    width = max(ratio, 1.0)
    support = reach * 0.5 * width
    taps, largest = Taps(), 0.0
    for place in range(new):
        center = ratio * (place + 0.5)
        first = max(int(center - support + 0.5), 0)
        count = min(int(center + support + 0.5), old) - first
        count = min(max(count, 0), ceil(support) * 2 + 1)
        places = range(first, first + count)
        weights = [kernel((tap - center + 0.5) * (1.0 / width)) for tap in places]
        total = sum(weights)
        weights = [weight / total for weight in weights] if total else weights
        largest = max([largest, *weights]) if total else largest
        taps.append(([*places], weights))
    return taps, largest


def _ratio(old: int, new: int, align_corners: bool, scale: float | None) -> float:
    """How far apart new places are among the old ones."""
    if align_corners:
        return (old - 1) / (new - 1) if new > 1 else 0.0
    return 1.0 / scale if scale is not None and scale > 0 else old / new


def _in_fixed_point(taps: Taps, largest: float) -> tuple[list[int], list[int], int, int]:
    """Places and weights, as many for each new place, in one list each; how many that is; bits behind the point."""
    bits = 0
    while bits < _MOST_BITS and int(0.5 + largest * (1 << (bits + 1))) < 1 << 15:
        bits += 1
    width = max(len(places) for places, _ in taps)
    every_place, every_weight = list[int](), list[int]()
    for places, weights in taps:
        every_place += [*places, *[0] * (width - len(places))]
        scaled = (weight * (1 << bits) for weight in weights)
        rounded = [int(weight - 0.5 if weight < 0 else weight + 0.5) for weight in scaled]
        every_weight += [*rounded, *[0] * (width - len(rounded))]
    return every_place, every_weight, width, bits


def _along(x: Tensor, dim: int, fixed: tuple[list[int], list[int], int, int]) -> Tensor:
    """A dimension at its new size, in bytes as before."""
    places, weights, width, bits = fixed
    x = x.movedim(dim, -1).index_select(-1, torch.tensor(places, device=x.device))
    x = x.reshape([*x.shape[:-1], len(places) // width, width]).to(torch.int32)
    weight = torch.tensor(weights, dtype=torch.int32, device=x.device).reshape([-1, width])
    total = (x * weight).sum(-1, dtype=torch.int32) + (1 << bits >> 1)
    return (total >> bits).clamp(0, 255).to(torch.uint8).movedim(-1, dim)


def resized(
    name: str, x: Tensor, sizes: Sequence[Any], align_corners: bool, scales: Sequence[float | None]
) -> Tensor:
    """``x``, ``[batch, channels, height, width]`` of ``uint8``, at another height and width.

    A dimension whose size stays is left alone, whatever its scale.

    Raises:
        BackendContractError: sizes that vary, of which there is no table of weights.
    """
    kernel, reach, is_wide = KERNELS[name]
    for dim in (3, 2):
        old, new, scale = x.shape[dim], sizes[dim - 2], scales[dim - 2]
        if old is new:
            continue
        if not isinstance(old, int) or not isinstance(new, int):
            raise BackendContractError(
                "PyTorch resamples uint8 in fixed point, by weights of 16 bits that are known for known sizes only",
                hint="resample x.float(), round and convert the result; or say what the sizes are",
            )
        if old == new:
            continue
        taps = (_wide_taps if is_wide else _taps)(kernel, reach, old, new, align_corners, scale)
        x = _along(x, dim, _in_fixed_point(*taps))
    return x


def _register(name: str) -> None:
    """Of other elements PyTorch's definition is right."""
    packet = getattr(torch.ops.aten, name)
    of_others = torch._decomp.decomposition_table[packet.default]

    @decomposes(packet.default)
    def resample(
        x: Tensor,
        output_size: Sequence[Any],
        align_corners: bool,
        scales_h: float | None = None,
        scales_w: float | None = None,
    ) -> Tensor:
        if x.dtype is torch.uint8:
            return resized(name, x, output_size, align_corners, (scales_h, scales_w))
        return of_others(x, output_size, align_corners, scales_h, scales_w)

    @decomposes(packet.vec)
    def resample_by_sizes_or_factors(
        x: Tensor,
        output_size: Sequence[Any] | None,
        align_corners: bool,
        scale_factors: Sequence[float] | None = None,
    ) -> Tensor:
        sizes = pytorch.upsample_compute_output_size(x.size(), output_size, scale_factors)
        scales = [pytorch.get_scale_value(scale_factors, dim) for dim in (0, 1)]
        return resample(x, sizes, align_corners, *scales)


for _name in ("upsample_bilinear2d", "upsample_bicubic2d"):
    _register(_name)
