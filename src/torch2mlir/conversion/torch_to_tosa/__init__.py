"""Backend contract to TOSA."""

from torch2mlir.conversion.torch_to_tosa import (  # noqa: F401 - their lowerings
    constructors,
    convolution,
    elementwise,
    sorting,
)
from torch2mlir.conversion.torch_to_tosa.indexing import Reads
from torch2mlir.conversion.torch_to_tosa.linear import Products
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering
from torch2mlir.conversion.torch_to_tosa.pooling import Pools
from torch2mlir.conversion.torch_to_tosa.reduction import Reductions
from torch2mlir.conversion.torch_to_tosa.scatter import Writes


class Vocabulary(Reads, Writes, Pools, Reductions, Products, TosaLowering):
    """All words of TOSA."""


LOWERING = Vocabulary
