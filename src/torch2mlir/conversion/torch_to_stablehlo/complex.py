"""Complex numbers and their parts in StableHLO."""

from __future__ import annotations

from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering, lowers
from torch2mlir.dialects import stablehlo as hlo


@lowers("aten.complex")
def complex(lower: StablehloLowering, real: Tensor, imaginary: Tensor) -> Tensor:
    """Complex numbers of their parts."""
    out = lower.out
    part = out.dtype.element_type  # type: ignore[attr-defined]
    parts = [lower.broadcast_to(lower.cast(x, part), out.sizes) for x in (real, imaginary)]
    return lower.op(hlo.ComplexOp, parts, out.sizes, out.dtype)


@lowers("prims.real")
def real(lower: StablehloLowering, x: Tensor) -> Tensor:
    """The real parts."""
    return lower.apply(hlo.RealOp, x, dtype=lower.out.dtype)


@lowers("prims.imag")
def imag(lower: StablehloLowering, x: Tensor) -> Tensor:
    """The imaginary parts."""
    return lower.apply(hlo.ImagOp, x, dtype=lower.out.dtype)
