"""What IREE has beside linalg and its engine is given: scatters and scans, in MLIR's generic form."""

from __future__ import annotations

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, IntegerAttr
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
class ScanOp(IRDLOperation):
    """Elements combined with all before them along a dimension.

    Operands are the tensor, a destination of its sizes and what to start from, of the sizes without the dimension; it
    computes into both, which are its results. The region gets what is reached and the next element.
    """

    name = "iree_linalg_ext.scan"
    source = operand_def()
    destination = operand_def()
    accumulator = operand_def()
    dimension = prop_def(IntegerAttr)
    inclusive = prop_def(BoolAttr)
    body = region_def("single_block")
    result = result_def()
    reached = result_def()


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends the region."""

    name = "iree_linalg_ext.yield"
    values = var_operand_def()
    traits = traits_def(IsTerminator())


IREE_LINALG_EXT = Dialect("iree_linalg_ext", [ScatterOp, ScanOp, YieldOp])
