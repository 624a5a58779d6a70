"""Complex numbers, which TOSA does not have."""

from __future__ import annotations

from typing import NoReturn

from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering, lowers


@lowers("aten.complex", "prims.real", "prims.imag")
def complex(lower: TosaLowering, *parts: Tensor) -> NoReturn:
    """A named impossibility."""
    lower.fail(
        "TOSA has no complex numbers",
        "compute with the real and the imaginary part in tensors of their own",
    )
