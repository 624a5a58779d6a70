"""Block-scaled (microscaling) tensors: data and one scale for each block of the last axis."""

from typing import ClassVar

from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure

from torch2mlir.dialects.tosa.attributes import BlockSizeAttr
from torch2mlir.dialects.tosa.base import (
    SHAPE,
    TENSOR,
    TosaOp,
    require_rank,
    require_same_shape,
    require_shape_rank,
)


@irdl_op_definition
class CastToBlockScaledOp(TosaOp):
    """Split a float tensor into narrow data and block scales."""

    name = "tosa.cast_to_block_scaled"

    input_data = operand_def(TENSOR)
    block_size = prop_def(BlockSizeAttr)
    output_data = result_def(TENSOR)
    output_scale = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        require_same_shape(self, input_data=self.input_data, output_data=self.output_data)


@irdl_op_definition
class CastFromBlockScaledOp(TosaOp):
    """Multiply narrow data by its block scales."""

    name = "tosa.cast_from_block_scaled"

    input_data = operand_def(TENSOR)
    input_scale = operand_def(TENSOR)
    block_size = prop_def(BlockSizeAttr)
    output_data = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        require_same_shape(self, input_data=self.input_data, output_data=self.output_data)


@irdl_op_definition
class MatMulTBlockScaledOp(TosaOp):
    """a [N, H, C] times b [N, W, C] transposed, both block-scaled along C."""

    name = "tosa.matmul_t_block_scaled"

    a_data = operand_def(TENSOR)
    a_scale = operand_def(TENSOR)
    b_data = operand_def(TENSOR)
    b_scale = operand_def(TENSOR)
    block_size = prop_def(BlockSizeAttr)
    output_data = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        for name in ("a_data", "a_scale", "b_data", "b_scale", "output_data"):
            require_rank(self, name, getattr(self, name), 3)


@irdl_op_definition
class Conv2DBlockScaledOp(TosaOp):
    """conv2d of block-scaled input and weight; pad, stride, dilation are shape operands."""

    name = "tosa.conv2d_block_scaled"

    input_data = operand_def(TENSOR)
    input_scale = operand_def(TENSOR)
    weight_data = operand_def(TENSOR)
    weight_scale = operand_def(TENSOR)
    bias = operand_def(TENSOR)
    pad = operand_def(SHAPE)
    stride = operand_def(SHAPE)
    dilation = operand_def(SHAPE)
    block_size = prop_def(BlockSizeAttr)
    output = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        for name in ("input_data", "input_scale", "weight_data", "weight_scale", "output"):
            require_rank(self, name, getattr(self, name), 4)
        require_rank(self, "bias", self.bias, 1)
        require_shape_rank(self, "pad", self.pad, 4, "top, bottom, left, right")
        require_shape_rank(self, "stride", self.stride, 2, "y, x")
        require_shape_rank(self, "dilation", self.dilation, 2, "y, x")


@irdl_op_definition
class ReshapeBlockScaledOp(TosaOp):
    """Reshape data and its scales together."""

    name = "tosa.reshape_block_scaled"
    BARE_ENUMS: ClassVar[bool] = False

    input = var_operand_def(TENSOR)
    new_value_shape = operand_def(SHAPE)
    block_size = prop_def(BlockSizeAttr)
    output = var_result_def(TENSOR)
    traits = traits_def(Pure())


@irdl_op_definition
class RowGatherBlockScaledOp(TosaOp):
    """row_gather of data and its scales together."""

    name = "tosa.row_gather_block_scaled"
    BARE_ENUMS: ClassVar[bool] = False

    values = var_operand_def(TENSOR)
    indices = operand_def(TENSOR)
    row_count = operand_def(TENSOR)
    block_size = prop_def(BlockSizeAttr)
    output = var_result_def(TENSOR)
    traits = traits_def(Pure())
