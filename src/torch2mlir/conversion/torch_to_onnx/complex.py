"""Complex numbers, which no operator of ONNX computes with."""

from __future__ import annotations

from typing import NoReturn

from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_onnx.lowering import OnnxLowering, lowers


@lowers("aten.complex", "prims.real", "prims.imag")
def complex(lower: OnnxLowering, *parts: Tensor) -> NoReturn:
    """A named impossibility."""
    lower.fail(
        "ONNX computes with no complex numbers",
        "compute with the real and the imaginary part in tensors of their own",
    )
