"""The ``tm_tensor`` dialect: scans, scatters, sorts and attention, in texts that Torch-MLIR's pipelines leave."""

from xdsl.dialects.builtin import I64, BoolAttr, DenseArrayBase, IntegerAttr, i64
from xdsl.ir import Dialect
from xdsl.irdl import AttrSizedOperandSegments, ParsePropInAttrDict
from xdsl.traits import IsTerminator

from torch2mlir.dialects.rows import Kind, op_classes

_GROUPS = "(`ins` `(` $inputs^ `:` type($inputs) `)`)? `outs` `(` $outputs `:` type($outputs) `)`"
_KINDS = {
    "tensor": Kind(),
    "bool": Kind(BoolAttr),
    "i64": Kind(IntegerAttr[I64]),
    "i64s": Kind(DenseArrayBase.constr(i64)),
}
_OPS = op_classes(
    "tm_tensor",
    _KINDS,
    f"""
    scan inputs*, outputs* {{dimension: i64, inclusive: bool}} (body) -> res*
      | `dimension` `(` $dimension `)` `inclusive` `(` $inclusive `)` attr-dict {_GROUPS} $body
        (`->` type($res)^)? |
      Running combination of elements along a dimension.
    scatter inputs*, outputs* {{dimension_map?: i64s, unique_indices: bool}} (body) -> res*
      | attr-dict `unique_indices` `(` $unique_indices `)` {_GROUPS} $body (`->` type($res)^)? |
      Elements put at, or combined with those at, given positions.
    sort inputs*, outputs* {{dimension: i64}} (body) -> res*
      | attr-dict `dimension` `(` $dimension `)` {_GROUPS} $body (`->` type($res)^)? |
      Tensors ordered along a dimension by a comparison of their elements.
    topk inputs*, outputs* {{dimension: i64}} (body) -> res*
      | attr-dict `dimension` `(` $dimension `)` {_GROUPS} $body (`->` type($res)^)? |
      The first elements along a dimension in an order, with their positions.
    attention inputs*, outputs* -> res*
      | attr-dict {_GROUPS} (`->` type($res)^)? |
      Scaled dot-product attention.
    """,
    (),
    options=(AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict()),
)
(YieldOp,) = op_classes(
    "tm_tensor",
    _KINDS,
    """
    yield values*
      | attr-dict ($values^ `:` type($values))? |
      Ends a region.
    """,
    (IsTerminator(),),
)

TM_TENSOR = Dialect("tm_tensor", [*_OPS, YieldOp])
