"""Backend contract to TOSA."""

from torch2mlir.conversion.torch_to_tosa import (
    arithmetic,
    complex,
    constructors,
    convolution,
    data_movement,
    elementwise,
    indexing,
    linear,
    pooling,
    reduction,
)
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering

FAMILIES = (
    elementwise,
    arithmetic,
    complex,
    reduction,
    linear,
    convolution,
    pooling,
    data_movement,
    indexing,
    constructors,
)
LOWERING = TosaLowering

__all__ = ["FAMILIES", "LOWERING", "TosaLowering"]
