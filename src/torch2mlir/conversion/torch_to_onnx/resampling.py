"""Images resized in ONNX: ``Resize``, kept whole for it where it is linear in two dimensions, or repeats elements."""

from __future__ import annotations

from collections.abc import Sequence

from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_onnx.lowering import OnnxLowering, lowers
from torch2mlir.dialects.torch.dims import Sizes
from torch2mlir.errors import UnsupportedOpError
from torch2mlir.transforms.semantics.repeated_places import times_repeated


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


def _lowers_nearest(kind: str, rank: int) -> None:
    @lowers(f"aten.{kind}{rank}d.vec")
    def nearest_by_either(
        lower: OnnxLowering, x: Tensor, size: Sizes | None, factors: Sequence[float] | None
    ) -> Tensor:
        return _repeated(lower, x, factors, by_factors=True)

    @lowers(f"aten.{kind}{rank}d")
    def nearest(lower: OnnxLowering, x: Tensor, size: Sizes, *factors: float | None) -> Tensor:
        return _repeated(lower, x, list(factors), by_factors=False)


for _kind in ("upsample_nearest", "_upsample_nearest_exact"):
    for _rank in (1, 2, 3):
        _lowers_nearest(_kind, _rank)


def _repeated(lower: OnnxLowering, x: Tensor, factors: object, by_factors: bool) -> Tensor:
    """Each element of an image a whole number of times."""
    sizes, dtype = lower.out.sizes, lower.out.dtype
    if 0 in (*x.sizes, *sizes):
        return lower.splat(0, sizes, dtype)
    times = times_repeated(x.sizes, sizes, factors, by_factors)
    if times is None:
        raise UnsupportedOpError("ONNX resizes to the nearest place by whole numbers only")
    return lower.node(
        "Resize",
        x,
        None,
        lower.numbers([1.0, 1.0, *map(float, times)]),
        None,
        sizes=sizes,
        dtype=dtype,
        mode="nearest",
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )


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
