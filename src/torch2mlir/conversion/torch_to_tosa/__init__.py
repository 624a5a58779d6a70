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
from torch2mlir.conversion.torch_to_tosa.indexing import Reads
from torch2mlir.conversion.torch_to_tosa.linear import Products
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering
from torch2mlir.conversion.torch_to_tosa.pooling import Pools
from torch2mlir.conversion.torch_to_tosa.reduction import Reductions
from torch2mlir.conversion.torch_to_tosa.scatter import Writes

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


class Vocabulary(Reads, Writes, Pools, Reductions, Products, TosaLowering):
    """All words of TOSA."""


LOWERING = Vocabulary

__all__ = ["FAMILIES", "LOWERING", "TosaLowering"]
