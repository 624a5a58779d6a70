"""StableHLO ops that compute element by element, and conversions of elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import ComplexType, IntegerAttr, i1, i32
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.traits import Commutative, Pure

from torch2mlir.dialects.assembly import Clause, Read, Syntax
from torch2mlir.dialects.rows import Elementwise, Row, RowOp, Rule
from torch2mlir.dialects.stablehlo import checks
from torch2mlir.dialects.stablehlo.checks import Kinds
from torch2mlir.dialects.stablehlo.kinds import SAME, StableHLO, syntax
from torch2mlir.dialects.tensor_rules import require, same_shape

ELEMENTWISE = (Pure(), Elementwise())
ResultType = Callable[[Any], Attribute]
"""Element type of the result for that of the operand."""


def same(element_type: Attribute) -> Attribute:
    """The operand's own."""
    return element_type


def boolean(element_type: Attribute) -> Attribute:
    """Of a test."""
    return i1


def real_part(element_type: Attribute) -> Attribute:
    """Of a complex number its parts'; real numbers stay what they are."""
    return element_type.element_type if isinstance(element_type, ComplexType) else element_type


# --- one operand ---------------------------------------------------------------------------------


def pointwise(
    name: str,
    kinds: Kinds,
    doc: str = "",
    of: ResultType = same,
    operands: str = "operand",
    written: Syntax = SAME,
) -> Row:
    """A function of tensors of one shape, their element type of one of the kinds, and a result of the shape."""

    def rule(op: RowOp) -> None:
        checks.require_same_shapes(op)
        for operand in op.operands:
            checks.require_kind(operand, kinds)
        expected = of(checks.tensor_type(op.operands[0]).element_type)
        checks.require_element_type(op.result, expected, "result")

    return Row(name, f"{operands} -> result", written, rule, doc, ELEMENTWISE)


def function(name: str, doc: str = "") -> Row:
    """A transcendental function of real or complex numbers."""
    operands = "operand {result_accuracy?: accuracy}"
    return pointwise(name, checks.FLOAT_OR_COMPLEX, doc, operands=operands)


def conversion(name: str, doc: str) -> Row:
    """Another element type, the same shape."""
    return Row(name, "operand -> result", SAME, checks.require_same_shapes, doc, ELEMENTWISE)


def _verify_bitcast(op: RowOp) -> None:
    rank, result_rank = (len(checks.shape_of(value)) for value in (op.operand, op.result))
    require(
        abs(rank - result_rank) <= 1, f"rank changes by at most one, got {rank} and {result_rank}"
    )
    common = min(rank, result_rank)
    lhs, rhs = (checks.shape_of(value)[:common] for value in (op.operand, op.result))
    require(same_shape(lhs, rhs), "leading dimensions must stay what they are")


def _format_text(op: RowOp) -> str:
    return f"e{op.exponent_bits.value.data}m{op.mantissa_bits.value.data}"


def _parse_format(parser: Parser, read: Read) -> None:
    position = parser.pos
    exponent, found, mantissa = parser.parse_identifier().removeprefix("e").partition("m")
    if not (found and exponent.isdigit() and mantissa.isdigit()):
        parser.raise_error("expected format = e<bits>m<bits>", position)
    read.properties["exponent_bits"] = IntegerAttr(int(exponent), i32)
    read.properties["mantissa_bits"] = IntegerAttr(int(mantissa), i32)


FORMAT = Clause(("exponent_bits", "mantissa_bits"), _format_text, _parse_format)

StableHLO.add(
    {
        "AbsOp": pointwise("abs", checks.SIGNED_NUMBERS, "Absolute value, or modulus.", real_part),
        "CbrtOp": function("cbrt", "Cubic root."),
        "CeilOp": pointwise("ceil", checks.FLOATS, "Smallest integer not below."),
        "ClzOp": pointwise("count_leading_zeros", checks.INTEGERS),
        "CosineOp": function("cosine"),
        "ExpOp": function("exponential"),
        "Expm1Op": function("exponential_minus_one", "``exp(x) - 1``, exact near zero."),
        "FloorOp": pointwise("floor", checks.FLOATS, "Largest integer not above."),
        "ImagOp": pointwise("imag", checks.FLOAT_OR_COMPLEX, "Imaginary part.", real_part),
        "IsFiniteOp": pointwise("is_finite", checks.FLOATS, "Neither infinite nor NaN.", boolean),
        "LogOp": function("log", "Natural logarithm."),
        "Log1pOp": function("log_plus_one", "``log(1 + x)``, exact near zero."),
        "LogisticOp": function("logistic", "``1 / (1 + exp(-x))``."),
        "NegOp": pointwise("negate", checks.NUMBERS),
        "NotOp": pointwise("not", checks.LOGICAL, "Logical or bitwise not."),
        "PopulationCountOp": pointwise("popcnt", checks.INTEGERS, "Number of bits that are set."),
        "RealOp": pointwise("real", checks.FLOAT_OR_COMPLEX, "Real part.", real_part),
        "RoundOp": pointwise("round_nearest_afz", checks.FLOATS, "Halves away from zero."),
        "RoundNearestEvenOp": pointwise(
            "round_nearest_even", checks.FLOATS, "Halves to the even one: PyTorch's ``round``."
        ),
        "RsqrtOp": function("rsqrt", "Reciprocal of the square root."),
        "SignOp": pointwise(
            "sign", checks.SIGNED_NUMBERS, "Of a complex number, the unit of its direction."
        ),
        "SineOp": function("sine"),
        "SqrtOp": function("sqrt"),
        "TanOp": function("tan"),
        "TanhOp": function("tanh"),
        "ConvertOp": conversion("convert", "Each number in the result's element type."),
        "UniformQuantizeOp": conversion("uniform_quantize", "Float, or quantized, to quantized."),
        "UniformDequantizeOp": conversion("uniform_dequantize", "Quantized to float."),
    }
)

# --- two and three operands ----------------------------------------------------------------------


def _operands_of(kinds: Kinds) -> Rule:
    """Two operands of one shape and element type, and a result of the same."""

    def rule(op: RowOp) -> None:
        checks.require_kind(op.lhs, kinds)
        checks.require_same_shapes(op)
        element_type = checks.tensor_type(op.lhs).element_type
        if checks.element_kind(element_type) is not None:
            checks.require_element_type(op.rhs, element_type, "rhs")
            checks.require_element_type(op.result, element_type, "result")

    return rule


def binary(name: str, kinds: Kinds = checks.ANY, doc: str = "") -> Row:
    """A function of two tensors."""
    return Row(name, "lhs, rhs -> result", SAME, _operands_of(kinds), doc, ELEMENTWISE)


def commutative(name: str, kinds: Kinds = checks.ANY, doc: str = "") -> Row:
    """A binary op whose operands may change places."""
    return binary(name, kinds, doc)._replace(traits=(*ELEMENTWISE, Commutative()))


def _verify_reduce_precision(op: RowOp) -> None:
    checks.require_kind(op.operand, checks.FLOATS)


def _verify_complex(op: RowOp) -> None:
    part_type: Any = checks.tensor_type(op.lhs).element_type
    checks.require_kind(op.lhs, checks.FLOATS)
    checks.require_element_type(op.result, ComplexType(part_type), "result")


def _verify_select(op: RowOp) -> None:
    if checks.shape_of(op.pred):
        checks.require_shape(op.pred, checks.shape_of(op.on_true), "pred")


def _verify_clamp(op: RowOp) -> None:
    for bound, what in ((op.min, "min"), (op.max, "max")):
        if checks.shape_of(bound):
            checks.require_shape(bound, checks.shape_of(op.operand), what)


StableHLO.add(
    {
        "AddOp": commutative("add", doc="Sum; logical or, on booleans."),
        "AndOp": commutative("and", checks.LOGICAL, "Logical or bitwise and."),
        "Atan2Op": binary("atan2", checks.FLOAT_OR_COMPLEX, "Angle of the point (rhs, lhs)."),
        "DivOp": binary("divide", checks.NUMBERS, "Quotient; of integers, rounded toward zero."),
        "MaxOp": commutative("maximum", doc="Larger of the two; NaN if one is."),
        "MinOp": commutative("minimum", doc="Smaller of the two; NaN if one is."),
        "MulOp": commutative("multiply", doc="Product; logical and, on booleans."),
        "OrOp": commutative("or", checks.LOGICAL, "Logical or bitwise or."),
        "PowOp": binary("power", checks.NUMBERS),
        "RemOp": binary("remainder", checks.NUMBERS, "With the sign of `lhs`: PyTorch's ``fmod``."),
        "ShiftLeftOp": binary("shift_left", checks.INTEGERS),
        "ShiftRightArithmeticOp": binary(
            "shift_right_arithmetic", checks.INTEGERS, "Keeps the sign."
        ),
        "ShiftRightLogicalOp": binary("shift_right_logical", checks.INTEGERS, "Fills with zeros."),
        "SubtractOp": binary("subtract", checks.NUMBERS),
        "XorOp": commutative("xor", checks.LOGICAL, "Logical or bitwise exclusive or."),
    }
)
StableHLO.rows(
    """
    bitcast_convert operand -> result
      | functional |
      The same bits as another element type; a last dimension takes up a change of width.
    reduce_precision operand: T[*s] {exponent_bits: i32, mantissa_bits: i32} -> result: T[*s]
      Rounding to a float format of fewer bits, in the operand's own type.
    complex lhs: T[*s], rhs: T[*s] -> result: [*s]
      | complex |
      A complex number of its real and imaginary part.
    compare lhs: T[*s], rhs: T[*s] {comparison_direction: direction, compare_type?: order} -> result: i1[*s]
      | {comparison_direction}, {operands}{compare_type}{attributes} : {functional} |
      How the operands are related.
    select pred: predicates, on_true: T[*s], on_false: T[*s] -> result: T[*s]
      | select |
      `on_true` where the predicate, a scalar or of the same shape, holds, else `on_false`.
    clamp min: T, operand: T[*s], max: T -> result: T[*s]
      | same |
      The operand held between `min` and `max`, each a scalar or of the same shape.
    """,
    traits=ELEMENTWISE,
    rules={
        "bitcast_convert": _verify_bitcast,
        "reduce_precision": _verify_reduce_precision,
        "complex": _verify_complex,
        "select": _verify_select,
        "clamp": _verify_clamp,
    },
    syntaxes={"reduce_precision": syntax("same", more={"format": FORMAT})},
)
