"""Complex numbers and their parts in StableHLO."""

from __future__ import annotations

from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering, lowers
from torch2mlir.dialects import stablehlo as hlo


@lowers("aten.complex")
def complex(lower: StablehloLowering, real: Tensor, imaginary: Tensor) -> Tensor:
    """Complex numbers of their parts."""
    return lower.complex(real, imaginary, lower.out.dtype)


@lowers("prims.real")
def real(lower: StablehloLowering, x: Tensor) -> Tensor:
    """The real parts."""
    return lower.part(hlo.RealOp, x)


@lowers("prims.imag")
def imag(lower: StablehloLowering, x: Tensor) -> Tensor:
    """The imaginary parts."""
    return lower.part(hlo.ImagOp, x)
