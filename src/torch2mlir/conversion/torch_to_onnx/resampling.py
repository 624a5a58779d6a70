"""Images resized in ONNX: ``Resize``, kept whole for it where it is linear in two dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_onnx.lowering import OnnxLowering, lowers
from torch2mlir.dialects.torch.dims import Sizes


@lowers("aten.upsample_bilinear2d.vec")
def bilinear_by_either(
    lower: OnnxLowering,
    x: Tensor,
    size: Sizes | None,
    align_corners: bool,
    factors: Sequence[float] | None,
) -> Tensor:
    """Of a size, or larger by factors."""
    return _resized(lower, x, align_corners, factors)


@lowers("aten.upsample_bilinear2d")
def bilinear(
    lower: OnnxLowering,
    x: Tensor,
    size: Sizes,
    align_corners: bool,
    *factors: float | None,
) -> Tensor:
    """Of a size; factors only say where between the old elements the new ones are."""
    return _resized(lower, x, align_corners, None)


def _resized(
    lower: OnnxLowering, x: Tensor, align_corners: bool, factors: Sequence[float] | None
) -> Tensor:
    """``[N, C, H, W]`` with elements in between by their distances from the four neighbours."""
    sizes, dtype = lower.out.sizes, lower.out.dtype
    if 0 in (*x.sizes, *sizes):
        return lower.splat(0, sizes, dtype)
    scales = None if factors is None else lower.numbers([1.0, 1.0, *factors])
    shape = lower.shape(sizes) if factors is None else None
    return lower.node(
        "Resize",
        x,
        None,
        scales,
        shape,
        sizes=sizes,
        dtype=dtype,
        mode="linear",
        coordinate_transformation_mode="align_corners" if align_corners else "half_pixel",
    )
