"""Compile-time shapes: constants of type `!tosa.shape<N>` and arithmetic on them."""

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IndexType, TensorType
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.rows import Row, RowOp
from torch2mlir.dialects.tosa.attributes import ShapeType
from torch2mlir.dialects.tosa.checks import (
    axis_of,
    every,
    require_shape_rank,
    shape_ranks,
    single_elements,
)
from torch2mlir.dialects.tosa.kinds import SYNTAX, TOSA


def const_shape(sizes: Sequence[int]) -> RowOp:
    """The constant shape with the given sizes."""
    type_ = TensorType(IndexType(), [len(sizes)])
    return TOSA["ConstShapeOp"].create(
        result_types=[ShapeType(len(sizes))],
        properties={"values": DenseIntOrFPElementsAttr.from_list(type_, sizes)},
    )


def _verify_const_shape(op: RowOp) -> None:
    assert isinstance(op.output.type, ShapeType)
    wanted = TensorType(IndexType(), [op.output.type.rank.data])
    if op.values.get_type() != wanted:
        raise VerifyException(
            f"{op.name}: values must be a {wanted} for {op.output.type}, got {op.values.get_type()}"
        )


def _verify_concat_shape(op: RowOp) -> None:
    total = sum(value.type.rank.data for value in op.input if isinstance(value.type, ShapeType))
    require_shape_rank(op, "result", op.output, total, "the sum of the operands' ranks")


def _verify_elementwise(op: RowOp) -> None:
    rank = op.output.type.rank.data
    for name, _ in op.get_irdl_definition().operands:
        require_shape_rank(op, name, getattr(op, name), rank, "the rank of the result")


def unary(name: str, doc: str) -> Row:
    """Elementwise on one shape."""
    return Row(name, "input: shape -> output: shape", SYNTAX, _verify_elementwise, doc)


def binary(name: str, doc: str) -> Row:
    """Elementwise on two shapes of one rank."""
    signature = "input1: shape, input2: shape -> output: shape"
    return Row(name, signature, SYNTAX, _verify_elementwise, doc)


TOSA.add(
    {
        "ConstShapeOp": Row(
            "const_shape",
            "{values: elements} -> output: shape",
            SYNTAX,
            _verify_const_shape,
            "A constant list of sizes.",
            (Pure(), ConstantLike()),
        ),
        "AddShapeOp": binary("add_shape", "x + y."),
        "SubShapeOp": binary("sub_shape", "x - y."),
        "MulShapeOp": binary("mul_shape", "x * y."),
        "DivCeilShapeOp": binary("div_ceil_shape", "x / y, rounded up."),
        "DivFloorShapeOp": binary("div_floor_shape", "x / y, rounded down."),
        "ModShapeOp": binary("mod_shape", "x modulo y."),
        "MaxShapeOp": binary("max_shape", "The larger of x and y."),
        "MinShapeOp": binary("min_shape", "The smaller of x and y."),
        "Exp2ShapeOp": unary("exp2_shape", "2 to the power x."),
        "Log2CeilShapeOp": unary("log2_ceil_shape", "log2(x), rounded up."),
        "Log2FloorShapeOp": unary("log2_floor_shape", "log2(x), rounded down."),
        "ConcatShapeOp": Row(
            "concat_shape",
            "input*: shape -> output: shape",
            SYNTAX,
            _verify_concat_shape,
            "The sizes of several shapes in a row.",
        ),
        "SliceShapeOp": Row(
            "slice_shape",
            "input: shape, start, size -> output: shape",
            SYNTAX,
            single_elements("start", "size"),
            "`size` sizes of a shape from position `start`; both are tensor<1xi32>.",
        ),
        "DimOp": Row(
            "dim",
            "input1 {axis: i32} -> output: shape",
            SYNTAX,
            every(lambda op: axis_of(op, op.axis, op.input1), shape_ranks(result=(1, "one size"))),
            "The size of one dimension of a tensor.",
        ),
        "AssertEqualShapeOp": Row(
            "assert_equal_shape",
            "input1: shape, input2: shape {allow_broadcast: bool}",
            SYNTAX,
            doc="Fail unless two shapes are equal, or broadcast if `allow_broadcast`.",
            traits=(),
        ),
    }
)
