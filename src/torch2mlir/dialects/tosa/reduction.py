"""Reductions along one axis: the reduced dimension stays with size 1, argmax and argmin drop it."""

from xdsl.dialects.builtin import IntegerType

from torch2mlir.dialects.rows import RowOp
from torch2mlir.dialects.tensor_rules import require, same_shape
from torch2mlir.dialects.tosa.checks import axis_of, shape_of
from torch2mlir.dialects.tosa.kinds import SYNTAX, TOSA


def _verify_reduction(op: RowOp) -> None:
    axis = axis_of(op, op.axis, op.input)
    _verify_shapes(op, axis, (1,), f"reducing axis {axis} of {op.input.type} cannot give")


def _verify_position(op: RowOp) -> None:
    axis = axis_of(op, op.axis, op.input)
    require(
        isinstance(op.output.type.element_type, IntegerType),
        f"{op.name}: result must hold integers, got {op.output.type}",
    )
    _verify_shapes(op, axis, (), f"{op.input.type} without axis {axis} is not")


def _verify_shapes(op: RowOp, axis: int, left: tuple[int, ...], message: str) -> None:
    source, result = shape_of(op.input), shape_of(op.output)
    if source is None or result is None:
        return
    wanted = (*source[:axis], *left, *source[axis + 1 :])
    require(same_shape(wanted, result), f"{op.name}: {message} {op.output.type}")


# An operation that compares has an opinion on NaN.
TOSA.rows(
    """
    reduce_all: Logical and of booleans.
    reduce_any: Logical or of booleans.
    reduce_max input: T {axis: i32, nan_mode?: nan_mode} -> output: T
      The largest value.
    reduce_min input: T {axis: i32, nan_mode?: nan_mode} -> output: T
      The smallest value.
    reduce_product: The product.
    reduce_sum: The sum.
    """,
    "input: T {axis: i32} -> output: T",
    SYNTAX,
    _verify_reduction,
)
TOSA.rows(
    """
    ArgMaxOp=argmax: Index of the largest value along `axis`, the first of equals.
    ArgMinOp=argmin: Index of the smallest value, the first of equals. Newer than torch-mlir-opt 20261001.
    """,
    "input {axis: i32, nan_mode?: nan_mode} -> output",
    SYNTAX,
    _verify_position,
)
