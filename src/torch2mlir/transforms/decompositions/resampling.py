"""Images at other sizes: gradients of interpolation, and interpolation against aliasing.

Along each dimension these are products with a matrix, ``weights[new place, old place]``; the gradient is the product
with its transpose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import pi
from typing import Any

import torch
from torch import Tensor

from torch2mlir.transforms.decompositions import byte_images
from torch2mlir.transforms.decompositions.pooling import computed_in
from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten

Weights = Callable[[Any, Any, bool, float | None, torch.dtype], Any]
"""``weights(old size, new size, align_corners, scale, dtype)``: the matrix, one row for each new place."""


def _ratio(old: int, new: int, align_corners: bool, scale: float | None) -> float:
    """How far apart new places are among the old ones; 0 where corners are aligned and there is one."""
    if align_corners:
        steps = torch.sym_max(new - 1, 1)
        return (old - 1) * torch.sym_min(new - 1, 1) / steps
    return 1.0 / scale if scale is not None and scale > 0 else old / new


def _places(
    old: int, new: int, align_corners: bool, scale: float | None, dtype: torch.dtype
) -> tuple[Any, Any]:
    """Where new places lie among the old ones, as a column, and the old ones as a row."""
    ratio = _ratio(old, new, align_corners, scale)
    numbers = torch.arange(new).to(dtype).unsqueeze(1)
    centers = numbers * ratio if align_corners else (numbers + 0.5) * ratio - 0.5
    return centers, torch.arange(old).to(dtype)


def _nearest(
    exact: bool, old: int, new: int, align_corners: bool, scale: float | None, dtype: torch.dtype
) -> Tensor:
    """One in each row, at ``floor(place)``, or at the nearest center if ``exact``."""
    numbers = torch.arange(new).to(torch.float32) + (0.5 if exact else 0.0)
    chosen = (numbers * _ratio(old, new, False, scale)).to(torch.int64).clamp(max=old - 1)
    return (chosen.unsqueeze(1) == torch.arange(old)).to(dtype)


def _linear(
    old: int, new: int, align_corners: bool, scale: float | None, dtype: torch.dtype
) -> Tensor:
    """``1 - distance``, of places held within the image."""
    centers, places = _places(old, new, align_corners, scale, dtype)
    return (1 - (centers.clamp(min=0, max=old - 1) - places).abs()).clamp(min=0)


def cubic(distance: Tensor, a: float) -> Tensor:
    """Keys' kernel of distances that are not negative. Cubic convolution interpolation, IEEE TASSP 29 (1981)."""
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = (((distance - 5) * distance + 8) * distance - 4) * a
    return torch.where(distance <= 1, near, torch.where(distance < 2, far, 0.0))


def _cubic(old: Any, new: Any, align_corners: bool, scale: float | None, dtype: torch.dtype) -> Any:
    """Keys' kernel; what lies outside counts as the place on the edge."""
    centers, places = _places(old, new, align_corners, scale, dtype)
    first = centers.floor()
    total: Any = 0
    for offset in (-1, 0, 1, 2):
        tap = first + offset
        weight = cubic((centers - tap).abs(), -0.75)
        total = total + torch.where(tap.clamp(min=0, max=old - 1) == places, weight, 0.0)
    return total


def _triangle(x: Tensor) -> Tensor:
    return (1 - x.abs()).clamp(min=0)


def _lanczos(x: Any) -> Any:
    """``sinc(x) * sinc(x / 3)`` within three steps."""
    angle = torch.where(x == 0, 1.0, x * pi)
    value = 3 * torch.sin(angle) * torch.sin(angle / 3) / (angle * angle)
    return torch.where(x == 0, 1.0, torch.where(x.abs() < 3, value, 0.0))


def _wide(
    kernel: Callable[[Any], Any],
    reach: int,
    old: int,
    new: int,
    align_corners: bool,
    scale: float | None,
    dtype: torch.dtype,
) -> Tensor:
    """A kernel as wide as what one new place covers, its weights divided by their sum: no aliasing when shrinking.

    Windows are those of PyTorch's CPU kernel: ``int(center -+ support + 0.5)`` within the image.
    """
    ratio = _ratio(old, new, align_corners, scale)
    width = torch.sym_max(ratio, 1.0)
    centers = (torch.arange(new).to(dtype).unsqueeze(1) + 0.5) * ratio
    support = width * reach
    places = torch.arange(old).to(dtype)
    first, end = ((centers + side + 0.5).trunc() for side in (-support, support))
    inside = (places >= first) & (places < end)
    weights = torch.where(inside, kernel((places - centers + 0.5) / width), 0.0)
    return weights / weights.sum(1, keepdim=True)


KERNELS: dict[str, Weights] = {
    "upsample_nearest": partial(_nearest, False),
    "_upsample_nearest_exact": partial(_nearest, True),
    "upsample_linear": _linear,
    "upsample_bicubic": _cubic,
    "_upsample_bilinear2d_aa": partial(_wide, _triangle, 1),
    "_upsample_bicubic2d_aa": partial(_wide, lambda x: cubic(x.abs(), -0.5), 2),
    "_upsample_lanczos2d_aa": partial(_wide, _lanczos, 3),
}


def _along(x: Tensor, dim: int, matrix: Tensor) -> Tensor:
    """The product with ``matrix[new, old]`` along a dimension."""
    return torch.matmul(x.movedim(dim, -1), matrix.t()).movedim(-1, dim)


def _forward(
    weights: Weights, x: Tensor, sizes: Sequence[Any], align_corners: bool, *scales: float | None
) -> Tensor:
    """Each dimension on its own, the last first."""
    result = computed_in(x)
    for dim, (size, scale) in reversed(list(enumerate(zip(sizes, scales, strict=True), 2))):
        matrix = weights(x.shape[dim], size, align_corners, scale, result.dtype)
        result = _along(result, dim, matrix)
    return result.to(x.dtype)


def _backward(
    weights: Weights,
    grad: Tensor,
    sizes: Sequence[Any],
    input_sizes: Sequence[Any],
    align_corners: bool,
    *scales: float | None,
) -> Tensor:
    """The transposed matrices on the gradient."""
    result = computed_in(grad)
    for dim, (size, scale) in enumerate(zip(sizes, scales, strict=True), 2):
        matrix = weights(input_sizes[dim], size, align_corners, scale, result.dtype)
        result = _along(result, dim, matrix.t())
    return result.to(grad.dtype)


def _register(overload: Any, direction: Callable[..., Any], weights: Weights) -> None:
    """Options that an overload has not, or that are left out, get their neutral values."""
    names = [argument.name for argument in overload._schema.arguments]

    @decomposes(overload)
    def resample(x: Tensor, *options: Any) -> Tensor:
        given = dict(zip(names[1:], options, strict=False))
        sizes = [given[name] for name in ("output_size", "input_size") if name in names]
        scales = [given.get(name) for name in names if name.startswith("scales")]
        if x.dtype is torch.uint8:
            name = overload._schema.name.removeprefix("aten::")
            aligned = given.get("align_corners", False)
            return byte_images.resized(name, x, given["output_size"], aligned, scales)
        return direction(weights, x, *sizes, given.get("align_corners", False), *scales)


for _name in ("_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa", "_upsample_lanczos2d_aa"):
    _register(getattr(aten, _name).default, _forward, KERNELS[_name])
    if hasattr(aten, f"{_name}_backward"):
        _register(getattr(aten, f"{_name}_backward").default, _backward, KERNELS[_name])
for _kind in ("upsample_nearest", "_upsample_nearest_exact"):
    for _rank in (1, 2, 3):
        _backward_op = getattr(aten, f"{_kind}{_rank}d_backward").default
        _register(_backward_op, _backward, KERNELS[_kind])
for _op in ("linear1d", "bilinear2d", "trilinear3d"):
    _backward_op = getattr(aten, f"upsample_{_op}_backward").default
    _register(_backward_op, _backward, KERNELS["upsample_linear"])
_register(aten.upsample_bicubic2d_backward.default, _backward, KERNELS["upsample_bicubic"])
