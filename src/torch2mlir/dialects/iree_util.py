"""What IREE's engine is given of IREE's own ``util`` dialect, in MLIR's generic form."""

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
class TieShapeOp(IRDLOperation):
    """A tensor and its sizes that are only known at run time."""

    name = "flow.tensor.tie_shape"
    value = operand_def()
    sizes = var_operand_def()
    result = result_def()


IREE_FLOW = Dialect("flow", [TieShapeOp])
IREE_UTIL = Dialect("util", [OptimizationBarrierOp])
