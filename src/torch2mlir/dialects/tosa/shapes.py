"""Compile-time shapes: constants of type `!tosa.shape<N>` and arithmetic on them."""

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import (
    I32,
    BoolAttr,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    TensorType,
)
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.tosa.attributes import ShapeType
from torch2mlir.dialects.tosa.base import (
    SHAPE,
    TENSOR,
    TosaOp,
    axis_of,
    require_shape_rank,
    require_single_element,
)


@irdl_op_definition
class ConstShapeOp(TosaOp):
    """A constant list of sizes."""

    name = "tosa.const_shape"

    values = prop_def(DenseIntOrFPElementsAttr)
    output = result_def(SHAPE)
    traits = traits_def(Pure(), ConstantLike())

    @classmethod
    def of(cls, sizes: Sequence[int]) -> "ConstShapeOp":
        """The constant shape with the given sizes."""
        type_ = TensorType(IndexType(), [len(sizes)])
        return cls.create(
            result_types=[ShapeType(len(sizes))],
            properties={"values": DenseIntOrFPElementsAttr.from_list(type_, sizes)},
        )

    def verify_(self) -> None:
        assert isinstance(self.output.type, ShapeType)
        wanted = TensorType(IndexType(), [self.output.type.rank.data])
        if self.values.get_type() != wanted:
            raise VerifyException(
                f"{self.name}: values must be a {wanted} for {self.output.type}, "
                f"got {self.values.get_type()}"
            )


class UnaryShapeOp(TosaOp, ABC):
    """Elementwise on one shape."""

    input = operand_def(SHAPE)
    output = result_def(SHAPE)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        assert isinstance(self.output.type, ShapeType)
        rank = self.output.type.rank.data
        require_shape_rank(self, "input", self.input, rank, "the rank of the result")


class BinaryShapeOp(TosaOp, ABC):
    """Elementwise on two shapes of one rank."""

    input1 = operand_def(SHAPE)
    input2 = operand_def(SHAPE)
    output = result_def(SHAPE)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        assert isinstance(self.output.type, ShapeType)
        rank = self.output.type.rank.data
        require_shape_rank(self, "input1", self.input1, rank, "the rank of the result")
        require_shape_rank(self, "input2", self.input2, rank, "the rank of the result")


@irdl_op_definition
class AddShapeOp(BinaryShapeOp):
    """x + y."""

    name = "tosa.add_shape"


@irdl_op_definition
class SubShapeOp(BinaryShapeOp):
    """x - y."""

    name = "tosa.sub_shape"


@irdl_op_definition
class MulShapeOp(BinaryShapeOp):
    """x * y."""

    name = "tosa.mul_shape"


@irdl_op_definition
class DivCeilShapeOp(BinaryShapeOp):
    """x / y, rounded up."""

    name = "tosa.div_ceil_shape"


@irdl_op_definition
class DivFloorShapeOp(BinaryShapeOp):
    """x / y, rounded down."""

    name = "tosa.div_floor_shape"


@irdl_op_definition
class ModShapeOp(BinaryShapeOp):
    """x modulo y."""

    name = "tosa.mod_shape"


@irdl_op_definition
class MaxShapeOp(BinaryShapeOp):
    """The larger of x and y."""

    name = "tosa.max_shape"


@irdl_op_definition
class MinShapeOp(BinaryShapeOp):
    """The smaller of x and y."""

    name = "tosa.min_shape"


@irdl_op_definition
class Exp2ShapeOp(UnaryShapeOp):
    """2 to the power x."""

    name = "tosa.exp2_shape"


@irdl_op_definition
class Log2CeilShapeOp(UnaryShapeOp):
    """log2(x), rounded up."""

    name = "tosa.log2_ceil_shape"


@irdl_op_definition
class Log2FloorShapeOp(UnaryShapeOp):
    """log2(x), rounded down."""

    name = "tosa.log2_floor_shape"


@irdl_op_definition
class ConcatShapeOp(TosaOp):
    """The sizes of several shapes in a row."""

    name = "tosa.concat_shape"

    input = var_operand_def(SHAPE)
    output = result_def(SHAPE)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        total = sum(
            value.type.rank.data for value in self.input if isinstance(value.type, ShapeType)
        )
        require_shape_rank(self, "result", self.output, total, "the sum of the operands' ranks")


@irdl_op_definition
class SliceShapeOp(TosaOp):
    """`size` sizes of a shape from position `start`; both are tensor<1xi32>."""

    name = "tosa.slice_shape"

    input = operand_def(SHAPE)
    start = operand_def(TENSOR)
    size = operand_def(TENSOR)
    output = result_def(SHAPE)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        require_single_element(self, start=self.start, size=self.size)


@irdl_op_definition
class DimOp(TosaOp):
    """The size of one dimension of a tensor."""

    name = "tosa.dim"

    input1 = operand_def(TENSOR)
    axis = prop_def(IntegerAttr[I32])
    output = result_def(SHAPE)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        axis_of(self, self.axis, self.input1)
        require_shape_rank(self, "result", self.output, 1, "one size")


@irdl_op_definition
class AssertEqualShapeOp(TosaOp):
    """Fail unless two shapes are equal, or broadcast if `allow_broadcast`."""

    name = "tosa.assert_equal_shape"

    input1 = operand_def(SHAPE)
    input2 = operand_def(SHAPE)
    allow_broadcast = prop_def(BoolAttr)
