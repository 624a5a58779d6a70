"""Backend contract to TOSA."""

from torch2mlir.conversion.torch_to_tosa import (
    complex,
    constructors,
    control_flow,
    convolution,
    elementwise,
    indexing,
    linear,
    pooling,
    reduction,
    sorting,
)
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering

FAMILIES = (
    elementwise,
    complex,
    reduction,
    linear,
    convolution,
    pooling,
    indexing,
    sorting,
    constructors,
    control_flow,
)
LOWERING = TosaLowering

__all__ = ["FAMILIES", "LOWERING", "TosaLowering"]
