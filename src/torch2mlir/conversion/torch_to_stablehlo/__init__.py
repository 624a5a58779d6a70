"""Backend contract to StableHLO."""

from torch2mlir.conversion.torch_to_stablehlo import (  # noqa: F401 - their lowerings
    convolution,
    sorting,
)
from torch2mlir.conversion.torch_to_stablehlo.indexing import Reads
from torch2mlir.conversion.torch_to_stablehlo.linear import Products
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering
from torch2mlir.conversion.torch_to_stablehlo.pooling import Pools
from torch2mlir.conversion.torch_to_stablehlo.reduction import Reductions
from torch2mlir.conversion.torch_to_stablehlo.scatter import Writes


class Vocabulary(Reads, Writes, Pools, Reductions, Products, StablehloLowering):
    """All words of StableHLO."""


LOWERING = Vocabulary
