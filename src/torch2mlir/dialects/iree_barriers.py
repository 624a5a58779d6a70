"""What of IREE's own ``util`` and ``iree_tensor_ext`` dialects its engine is given, in MLIR's generic form."""

from __future__ import annotations

from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def, var_operand_def


@irdl_op_definition
class OptimizationBarrierOp(IRDLOperation):
    """Its operand, of which the compiler knows nothing; IREE takes it of tensors of known sizes."""

    name = "util.optimization_barrier"
    operand = operand_def()
    result = result_def()


@irdl_op_definition
class ComputeBarrierOp(IRDLOperation):
    """The tensor, which whoever reads it does not compute anew. Operands are the tensor and its unknown sizes."""

    name = "iree_tensor_ext.compute_barrier.start"
    value = operand_def()
    value_dims = var_operand_def()
    result = result_def()


IREE_UTIL = Dialect("util", [OptimizationBarrierOp])
IREE_TENSOR_EXT = Dialect("iree_tensor_ext", [ComputeBarrierOp])
