"""The tensor dialect with what xDSL lacks of it: register `TENSOR` in place of xDSL's `Tensor`.

Added: bitcast, generate, rank. Corrected: expand_shape of a tensor of rank 0.
"""

from typing import ClassVar

from xdsl.dialects import tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IndexType,
    TensorType,
    UnrankedTensorType,
    i64,
)
from xdsl.dialects.utils.reshape_ops_utils import ContiguousArrayOfIntArray
from xdsl.irdl import (
    base,
    irdl_op_definition,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.arith_ext import extended
from torch2mlir.dialects.rows import FormattedOp, Kind, op_classes

BitcastOp, RankOp = op_classes(
    "tensor",
    {"tensor": Kind(base(TensorType) | base(UnrankedTensorType)), "index": Kind(IndexType)},
    """
    bitcast source -> dest
      | $source attr-dict `:` type($source) `to` type($dest) |
      The same bits under another element type of equal width.
    rank tensor -> result: index
      | $tensor attr-dict `:` type($tensor) |
      The number of dimensions of a tensor.
    """,
)


@irdl_op_definition
class GenerateOp(FormattedOp):
    """A tensor whose elements the body computes from their indices."""

    name = "tensor.generate"

    dynamic_extents = var_operand_def(IndexType)
    body = region_def("single_block")
    result = result_def(TensorType)
    traits = traits_def(RecursiveMemoryEffect())
    FORMAT: ClassVar[str] = "$dynamic_extents $body attr-dict `:` type($result)"

    def verify_(self) -> None:
        type_ = self.result.type
        assert isinstance(type_, TensorType)
        shape = type_.get_shape()
        if len(self.dynamic_extents) != shape.count(DYNAMIC_INDEX):
            raise VerifyException(
                f"{self.name}: {len(self.dynamic_extents)} sizes for the dynamic dimensions "
                f"of {type_}"
            )
        if list(self.body.block.arg_types) != [IndexType()] * len(shape):
            raise VerifyException(f"{self.name}: the body must take {len(shape)} indices")
        last = self.body.block.last_op
        if not isinstance(last, tensor.YieldOp) or last.operand_types[0] != type_.element_type:
            raise VerifyException(f"{self.name}: the body must yield one {type_.element_type}")


@irdl_op_definition
class ExpandShapeOp(tensor.ExpandShapeOp):
    """Split dimensions; a tensor of rank 0 becomes one of dimensions 1."""

    name = "tensor.expand_shape"

    src = operand_def(TensorType)
    dynamic_output_shape = var_operand_def(IndexType)
    reassociation = prop_def(ContiguousArrayOfIntArray())
    static_output_shape = prop_def(DenseArrayBase.constr(i64))
    result = result_def(TensorType)

    def verify_(self) -> None:
        source, result = self.src.type, self.result.type
        assert isinstance(source, TensorType) and isinstance(result, TensorType)
        if source.get_shape():
            super().verify_()
        elif set(result.get_shape()) - {1}:
            raise VerifyException(f"{self.name}: {source} does not expand to {result}")


TENSOR = extended(tensor.Tensor, BitcastOp, ExpandShapeOp, GenerateOp, RankOp)
