"""Reductions along one axis: the reduced dimension stays with size 1, argmax and argmin drop it."""

from xdsl.dialects.builtin import IntegerType

from torch2mlir.dialects.rows import Row, RowOp
from torch2mlir.dialects.tosa.checks import (
    axis_of,
    element_type,
    require,
    require_same_element_type,
    same_dim,
    shape_of,
)
from torch2mlir.dialects.tosa.kinds import SYNTAX, TOSA


def _verify_reduction(op: RowOp) -> None:
    axis = axis_of(op, op.axis, op.input)
    require_same_element_type(op, input=op.input, output=op.output)
    _verify_shapes(op, axis, (1,), f"reducing axis {axis} of {op.input.type} cannot give")


def _verify_position(op: RowOp) -> None:
    axis = axis_of(op, op.axis, op.input)
    require(
        isinstance(element_type(op.output), IntegerType),
        f"{op.name}: result must hold integers, got {op.output.type}",
    )
    _verify_shapes(op, axis, (), f"{op.input.type} without axis {axis} is not")


def _verify_shapes(op: RowOp, axis: int, left: tuple[int, ...], message: str) -> None:
    source, result = shape_of(op.input), shape_of(op.output)
    if source is None or result is None:
        return
    wanted = (*source[:axis], *left, *source[axis + 1 :])
    require(
        len(result) == len(wanted) and all(map(same_dim, wanted, result)),
        f"{op.name}: {message} {op.output.type}",
    )


def reduction(name: str, doc: str, nan_mode: str = "") -> Row:
    """Reduce `axis` to size 1."""
    return Row(name, f"input {{axis: i32{nan_mode}}} -> output", SYNTAX, _verify_reduction, doc)


def position(name: str, doc: str) -> Row:
    """The index of an extreme value along `axis`, which disappears from the shape."""
    return Row(name, f"input {{axis: i32{NAN_MODE}}} -> output", SYNTAX, _verify_position, doc)


# A reduction that compares has an opinion on NaN.
NAN_MODE = ", nan_mode?: nan_mode"

TOSA.add(
    {
        "ReduceAllOp": reduction("reduce_all", "Logical and of booleans."),
        "ReduceAnyOp": reduction("reduce_any", "Logical or of booleans."),
        "ReduceMaxOp": reduction("reduce_max", "The largest value.", NAN_MODE),
        "ReduceMinOp": reduction("reduce_min", "The smallest value.", NAN_MODE),
        "ReduceProductOp": reduction("reduce_product", "The product."),
        "ReduceSumOp": reduction("reduce_sum", "The sum."),
        "ArgMaxOp": position("argmax", "Index of the largest value, the first of equals."),
        "ArgMinOp": position(
            "argmin",
            "Index of the smallest value, the first of equals. Newer than torch-mlir-opt 20261001.",
        ),
    }
)
