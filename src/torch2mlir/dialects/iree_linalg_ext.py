"""What IREE has beside linalg and its engine is given: ``iree_linalg_ext.scatter``, in MLIR's generic form."""

from __future__ import annotations

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase
from xdsl.ir import Dialect
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import IsTerminator


@irdl_op_definition
class ScatterOp(IRDLOperation):
    """Rows combined, one after another, with those of a tensor at given positions.

    Operands are the rows ``[N, C]``, the positions ``[N, 1]``, none of them outside, and the tensor ``[K, C]``, which
    it may compute into. The region gets an element of a row and the one that is there.
    """

    name = "iree_linalg_ext.scatter"
    updates = operand_def()
    indices = operand_def()
    original = operand_def()
    dimension_map = prop_def(DenseArrayBase)
    unique_indices = prop_def(BoolAttr)
    body = region_def("single_block")
    result = result_def()


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends the region."""

    name = "iree_linalg_ext.yield"
    values = var_operand_def()
    traits = traits_def(IsTerminator())


IREE_LINALG_EXT = Dialect("iree_linalg_ext", [ScatterOp, YieldOp])
