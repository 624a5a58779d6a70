"""Complex numbers and their parts, for dialects that have them."""

from __future__ import annotations

from torch2mlir.conversion.lowering import Lowering, Tensor
from torch2mlir.conversion.registry import lowers_everywhere


@lowers_everywhere("aten.complex")
def complex(lower: Lowering, real: Tensor, imaginary: Tensor) -> Tensor:
    """Complex numbers of their parts."""
    return lower.complex(real, imaginary, lower.out.dtype)


@lowers_everywhere("prims.real")
def real(lower: Lowering, x: Tensor) -> Tensor:
    """The real parts."""
    return lower.real(x)


@lowers_everywhere("prims.imag")
def imag(lower: Lowering, x: Tensor) -> Tensor:
    """The imaginary parts."""
    return lower.imag(x)
