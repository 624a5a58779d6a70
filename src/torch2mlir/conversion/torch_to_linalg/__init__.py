"""Backend contract to Linalg-on-Tensors."""

from torch2mlir.conversion.torch_to_linalg import (
    complex,
    control_flow,
    convolution,
    indexing,
    linear,
    pooling,
    reduction,
    scatter,
    sorting,
)
from torch2mlir.conversion.torch_to_linalg.lowering import LinalgLowering

FAMILIES = (
    reduction,
    linear,
    convolution,
    pooling,
    indexing,
    scatter,
    sorting,
    complex,
    control_flow,
)
LOWERING = LinalgLowering

__all__ = ["FAMILIES", "LOWERING", "LinalgLowering"]
