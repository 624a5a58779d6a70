"""What of IREE's own ``util`` and ``iree_tensor_ext`` dialects its engine is given, in MLIR's generic form."""

from __future__ import annotations

from xdsl.ir import Dialect
from xdsl.traits import MemoryWriteEffect

from torch2mlir.dialects.rows import Kind, op_classes

(OptimizationBarrierOp,) = op_classes(
    "util",
    {"tensor": Kind()},
    """
    optimization_barrier operand -> result
      Its operand, of which the compiler knows nothing; IREE takes it of tensors of known sizes.
    """,
    (MemoryWriteEffect(),),
)
(ComputeBarrierOp,) = op_classes(
    "iree_tensor_ext",
    {"tensor": Kind()},
    """
    compute_barrier.start value, value_dims* -> result
      The tensor, which whoever reads it does not compute anew. Operands are the tensor and its unknown sizes.
    """,
    (),
)

IREE_UTIL = Dialect("util", [OptimizationBarrierOp])
IREE_TENSOR_EXT = Dialect("iree_tensor_ext", [ComputeBarrierOp])
