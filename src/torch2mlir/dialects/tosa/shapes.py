"""Compile-time shapes: constants of type `!tosa.shape<N>` and arithmetic on them."""

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IndexType, TensorType
from xdsl.traits import ConstantLike, Pure

from torch2mlir.dialects.rows import RowOp
from torch2mlir.dialects.tensor_rules import require
from torch2mlir.dialects.tosa.attributes import ShapeType
from torch2mlir.dialects.tosa.checks import axis_of
from torch2mlir.dialects.tosa.kinds import SYNTAX, TOSA


def const_shape(sizes: Sequence[int]) -> RowOp:
    """The constant shape with the given sizes."""
    type_ = TensorType(IndexType(), [len(sizes)])
    return TOSA["ConstShapeOp"].create(
        result_types=[ShapeType(len(sizes))],
        properties={"values": DenseIntOrFPElementsAttr.from_list(type_, sizes)},
    )


def _verify_const_shape(op: RowOp) -> None:
    wanted, found = TensorType(IndexType(), [op.output.type.rank.data]), op.values.get_type()
    require(
        found == wanted,
        f"{op.name}: values must be a {wanted} for {op.output.type}, got {found}",
    )


def _verify_concat_shape(op: RowOp) -> None:
    total = sum(value.type.rank.data for value in op.input)
    require(
        op.output.type.rank.data == total,
        f"{op.name}: result must be !tosa.shape<{total}> (the sum of the operands' ranks), "
        f"got {op.output.type}",
    )


TOSA.rows(
    """
    const_shape {values: elements} -> output: shape
      A constant list of sizes.
    """,
    syntax=SYNTAX,
    rule=_verify_const_shape,
    traits=(Pure(), ConstantLike()),
)
TOSA.rows(
    """
    add_shape: x + y.
    sub_shape: x - y.
    mul_shape: x * y.
    div_ceil_shape: x / y, rounded up.
    div_floor_shape: x / y, rounded down.
    mod_shape: x modulo y.
    max_shape: The larger of x and y.
    min_shape: The smaller of x and y.
    exp2_shape input: shape[r] -> output: shape[r]
      2 to the power x.
    log2_ceil_shape input: shape[r] -> output: shape[r]
      log2(x), rounded up.
    log2_floor_shape input: shape[r] -> output: shape[r]
      log2(x), rounded down.
    concat_shape input*: shape -> output: shape
      The sizes of several shapes in a row.
    slice_shape input: shape, start: [1], size: [1] -> output: shape
      `size` sizes of a shape from position `start`; both are tensor<1xi32>.
    dim input1 {axis: i32} -> output: shape[1]
      The size of one dimension of a tensor.
    """,
    "input1: shape[r], input2: shape[r] -> output: shape[r]",
    SYNTAX,
    rules={
        "concat_shape": _verify_concat_shape,
        "dim": lambda op: axis_of(op, op.axis, op.input1),
    },
)
TOSA.rows(
    """
    assert_equal_shape input1: shape, input2: shape {allow_broadcast: bool}
      Fail unless two shapes are equal, or broadcast if `allow_broadcast`.
    """,
    syntax=SYNTAX,
    traits=(),
)
