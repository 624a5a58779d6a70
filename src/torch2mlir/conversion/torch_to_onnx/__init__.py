"""Backend contract to ONNX."""

from torch2mlir.conversion.torch_to_onnx import (  # noqa: F401 - their lowerings
    activations,
    attention,
    control_flow,
    convolution,
    normalization,
    resampling,
    sorting,
)
from torch2mlir.conversion.torch_to_onnx.indexing import Reads
from torch2mlir.conversion.torch_to_onnx.linear import Products
from torch2mlir.conversion.torch_to_onnx.lowering import OnnxLowering
from torch2mlir.conversion.torch_to_onnx.pooling import Pools
from torch2mlir.conversion.torch_to_onnx.reduction import Reductions
from torch2mlir.conversion.torch_to_onnx.scatter import Writes


class Vocabulary(Reads, Writes, Pools, Reductions, Products, OnnxLowering):
    """All words of ONNX."""


LOWERING = Vocabulary
