"""What IREE has beside linalg and its engine is given: scatters and scans, in MLIR's generic form."""

from __future__ import annotations

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, IntegerAttr
from xdsl.ir import Dialect
from xdsl.traits import IsTerminator

from torch2mlir.dialects.rows import Kind, op_classes

_KINDS = {
    "tensor": Kind(),
    "dimension_map": Kind(DenseArrayBase),
    "bool": Kind(BoolAttr),
    "dimension": Kind(IntegerAttr),
}
ScatterOp, ScanOp = op_classes(
    "iree_linalg_ext",
    _KINDS,
    """
    scatter updates, indices, original {dimension_map, unique_indices: bool} (body) -> result
      Rows combined, one after another, with those of a tensor at given positions. Operands are the rows ``[N, C]``,
      the positions ``[N, 1]``, none of them outside, and the tensor ``[K, C]``, which it may compute into. The region
      gets an element of a row and the one that is there.
    scan source, destination, accumulator {dimension, inclusive: bool} (body) -> result, reached
      Elements combined with all before them along a dimension. Operands are the tensor, a destination of its sizes and
      what to start from, of the sizes without the dimension; it computes into both, which are its results. The region
      gets what is reached and the next element.
    """,
    (),
)
(YieldOp,) = op_classes(
    "iree_linalg_ext",
    _KINDS,
    """
    yield values*
      Ends the region.
    """,
    (IsTerminator(),),
)

IREE_LINALG_EXT = Dialect("iree_linalg_ext", [ScatterOp, ScanOp, YieldOp])
