"""Backend contract to StableHLO."""

from torch2mlir.conversion.torch_to_stablehlo import elementwise
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering

FAMILIES = (elementwise,)
LOWERING = StablehloLowering

__all__ = ["FAMILIES", "LOWERING", "StablehloLowering"]
