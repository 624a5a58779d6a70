"""Backend contract to StableHLO."""

from torch2mlir.conversion.torch_to_stablehlo import (
    comparison,
    complex,
    constructors,
    convolution,
    data_movement,
    elementwise,
    indexing,
    linear,
    pooling,
    reduction,
    scatter,
)
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering

FAMILIES = (
    comparison,
    complex,
    constructors,
    convolution,
    data_movement,
    elementwise,
    indexing,
    linear,
    pooling,
    reduction,
    scatter,
)
LOWERING = StablehloLowering

__all__ = ["FAMILIES", "LOWERING", "StablehloLowering"]
