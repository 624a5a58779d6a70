"""Backend contract to StableHLO."""

from torch2mlir.conversion.torch_to_stablehlo import (
    complex,
    control_flow,
    convolution,
    elementwise,
    indexing,
    linear,
    pooling,
    reduction,
    scatter,
    sorting,
)
from torch2mlir.conversion.torch_to_stablehlo.indexing import Reads
from torch2mlir.conversion.torch_to_stablehlo.linear import Products
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering
from torch2mlir.conversion.torch_to_stablehlo.pooling import Pools
from torch2mlir.conversion.torch_to_stablehlo.reduction import Reductions
from torch2mlir.conversion.torch_to_stablehlo.scatter import Writes

FAMILIES = (
    complex,
    convolution,
    elementwise,
    indexing,
    linear,
    pooling,
    reduction,
    scatter,
    sorting,
    control_flow,
)


class Vocabulary(Reads, Writes, Pools, Reductions, Products, StablehloLowering):
    """All words of StableHLO."""


LOWERING = Vocabulary

__all__ = ["FAMILIES", "LOWERING", "StablehloLowering"]
