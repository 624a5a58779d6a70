"""Backend contract to Linalg-on-Tensors."""

from torch2mlir.conversion.torch_to_linalg import (  # noqa: F401 - their lowerings
    control_flow,
    convolution,
    sorting,
)
from torch2mlir.conversion.torch_to_linalg.indexing import Reads
from torch2mlir.conversion.torch_to_linalg.linear import Products
from torch2mlir.conversion.torch_to_linalg.lowering import LinalgLowering
from torch2mlir.conversion.torch_to_linalg.pooling import Pools
from torch2mlir.conversion.torch_to_linalg.reduction import Reductions
from torch2mlir.conversion.torch_to_linalg.scatter import Writes


class Vocabulary(Reads, Writes, Pools, Reductions, Products, LinalgLowering):
    """All words of Linalg-on-Tensors."""


LOWERING = Vocabulary
