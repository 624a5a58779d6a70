"""What IREE's engine is given of IREE's own ``iree_tensor_ext`` dialect, in MLIR's generic form."""

from __future__ import annotations

from xdsl.ir import Dialect
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    result_def,
    var_operand_def,
)


@irdl_op_definition
class ComputeBarrierOp(IRDLOperation):
    """The tensor, which whoever reads it does not compute anew. Operands are the tensor and its unknown sizes."""

    name = "iree_tensor_ext.compute_barrier.start"
    value = operand_def()
    value_dims = var_operand_def()
    result = result_def()


IREE_TENSOR_EXT = Dialect("iree_tensor_ext", [ComputeBarrierOp])
