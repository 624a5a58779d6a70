"""Complex numbers and their parts in Linalg-on-Tensors."""

from __future__ import annotations

from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_linalg.lowering import LinalgLowering, lowers


@lowers("aten.complex")
def complex(lower: LinalgLowering, real: Tensor, imaginary: Tensor) -> Tensor:
    """Complex numbers of their parts."""
    dtype = lower.out.dtype
    part = dtype.element_type  # type: ignore[attr-defined]
    return lower.elementwise(
        lambda s, re, im: s.create_complex(re, im, dtype), real, imaginary, computed=part
    )


@lowers("prims.real")
def real(lower: LinalgLowering, x: Tensor) -> Tensor:
    """The real parts."""
    return lower.elementwise(lambda s, e: s.real(e), x)


@lowers("prims.imag")
def imag(lower: LinalgLowering, x: Tensor) -> Tensor:
    """The imaginary parts."""
    return lower.elementwise(lambda s, e: s.imaginary(e), x)
