"""Elementwise operations: operands of equal rank, dimensions of size 1 broadcast."""

from xdsl.dialects.builtin import AnyFloat, i1, i8
from xdsl.traits import Commutative, Pure
from xdsl.utils.hints import isa

from torch2mlir.dialects.rows import Row, RowOp
from torch2mlir.dialects.tosa.checks import (
    broadcast,
    element_type,
    element_type_is,
    every,
    require,
    same_element_types,
    same_shapes,
    single_elements,
)
from torch2mlir.dialects.tosa.kinds import SYNTAX, TOSA

COMMUTATIVE = (Pure(), Commutative())
SAME = every(same_shapes("input1", "output"), same_element_types("input1", "output"))
BINARY = every(broadcast("input1", "input2"), same_element_types("input1", "input2", "output"))
COMPARISON = every(
    broadcast("input1", "input2"),
    same_element_types("input1", "input2"),
    element_type_is("result", i1, "have element type i1"),
)


def unary(name: str, doc: str) -> Row:
    """One tensor in, a tensor of the same type out."""
    return Row(name, "input1 -> output", SYNTAX, SAME, doc)


def binary(name: str, doc: str, properties: str = "") -> Row:
    """Two tensors of one element type."""
    return Row(name, f"input1, input2 {properties} -> output", SYNTAX, BINARY, doc)


def commutative(name: str, doc: str, properties: str = "") -> Row:
    """A binary operation whose operands may change places."""
    return binary(name, doc, properties)._replace(traits=COMMUTATIVE)


def comparison(name: str, doc: str) -> Row:
    """Two tensors of one element type in, booleans out."""
    return Row(name, "input1, input2 -> output", SYNTAX, COMPARISON, doc)


def _verify_clamp(op: RowOp) -> None:
    element = element_type(op.input)
    for name, bound in (("min_val", op.min_val), ("max_val", op.max_val)):
        # Quantized and signed element types take the bounds of their storage.
        if isa(element, AnyFloat):
            require(bound.type == element, f"{op.name}: {name} must be a {element}, got {bound}")
    low, high = op.min_val.value.data, op.max_val.value.data
    require(low <= high, f"{op.name}: min_val {low} is above max_val {high}")


# An operation that compares has an opinion on NaN.
NAN_MODE = "{nan_mode?: nan_mode}"

TOSA.add(
    {
        "AbsOp": unary("abs", "|x|."),
        "BitwiseNotOp": unary("bitwise_not", "~x on integers."),
        "CeilOp": unary("ceil", "Round up."),
        "ClzOp": unary("clz", "Number of leading zero bits."),
        "CosOp": unary("cos", "Cosine of an angle in radians."),
        "ErfOp": unary("erf", "Gauss error function."),
        "ExpOp": unary("exp", "e to the power x."),
        "FloorOp": unary("floor", "Round down."),
        "IdentityOp": unary("identity", "x itself."),
        "LogOp": unary("log", "Natural logarithm."),
        "LogicalNotOp": unary("logical_not", "not x on booleans."),
        "ReciprocalOp": unary("reciprocal", "1 / x."),
        "RsqrtOp": unary("rsqrt", "1 / sqrt(x)."),
        "SigmoidOp": unary("sigmoid", "1 / (1 + exp(-x))."),
        "SinOp": unary("sin", "Sine of an angle in radians."),
        "TanhOp": unary("tanh", "Hyperbolic tangent."),
        "AddOp": commutative("add", "x + y."),
        "SubOp": binary("sub", "x - y."),
        "PowOp": binary("pow", "x to the power y."),
        "IntDivOp": binary("intdiv", "Integer x / y, rounded towards zero."),
        "BitwiseAndOp": commutative("bitwise_and", "x & y on integers."),
        "BitwiseOrOp": commutative("bitwise_or", "x | y on integers."),
        "BitwiseXorOp": commutative("bitwise_xor", "x ^ y on integers."),
        "LogicalAndOp": commutative("logical_and", "x and y on booleans."),
        "LogicalOrOp": commutative("logical_or", "x or y on booleans."),
        "LogicalXorOp": commutative("logical_xor", "x != y on booleans."),
        "LogicalLeftShiftOp": binary("logical_left_shift", "x << y."),
        "LogicalRightShiftOp": binary("logical_right_shift", "x >> y, zeros shifted in."),
        "ArithmeticRightShiftOp": binary(
            "arithmetic_right_shift",
            "x >> y with sign; `round` adds the last bit shifted out.",
            "{round: bool}",
        ),
        "MaximumOp": commutative("maximum", "The larger of x and y.", NAN_MODE),
        "MinimumOp": commutative("minimum", "The smaller of x and y.", NAN_MODE),
        "EqualOp": comparison("equal", "x == y.")._replace(traits=COMMUTATIVE),
        "GreaterOp": comparison("greater", "x > y."),
        "GreaterEqualOp": comparison("greater_equal", "x >= y."),
        "NegateOp": Row(
            "negate",
            "input1, input1_zp, output_zp -> output",
            SYNTAX,
            every(
                same_shapes("input1", "output"),
                same_element_types("input1", "input1_zp", "output_zp", "output"),
                single_elements("input1_zp", "output_zp"),
            ),
            "-x, with a zero point of one element for operand and result.",
        ),
        "MulOp": Row(
            "mul",
            "input1, input2, shift -> output",
            SYNTAX,
            every(
                broadcast("input1", "input2"),
                same_element_types("input1", "input2"),
                single_elements("shift"),
                element_type_is("shift", i8, "be tensor<1xi8>"),
            ),
            "Product; `shift` (tensor<1xi8>) rescales i32 products and is 0 for everything else.",
            COMMUTATIVE,
        ),
        "ApplyScaleOp": Row(
            "apply_scale",
            "value: any, multiplier: any, shift: any {rounding_mode: rounding_mode} -> output: any",
            SYNTAX,
            doc="Fixed-point rescale of a value: (value * multiplier) >> shift, rounded.",
        ),
        "SelectOp": Row(
            "select",
            "input1, input2, input3 -> output",
            SYNTAX,
            every(
                broadcast("input1", "input2", "input3"),
                same_element_types("input2", "input3", "output"),
                element_type_is("input1", i1, "have element type i1"),
            ),
            "input2 where input1 (i1) holds, input3 elsewhere.",
        ),
        "ClampOp": Row(
            "clamp",
            "input {min_val: number, max_val: number, nan_mode?: nan_mode} -> output",
            SYNTAX,
            every(
                same_shapes("input", "output"), same_element_types("input", "output"), _verify_clamp
            ),
            "min(max(x, min_val), max_val); the bounds are of x's element type.",
        ),
        "TableOp": Row(
            "table",
            "input1, table -> output",
            SYNTAX,
            same_shapes("input1", "output"),
            "Look each i8 up in a table of 256 entries, each i16 in one of 513 with interpolation.",
        ),
    }
)
