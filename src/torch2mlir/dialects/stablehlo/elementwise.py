"""StableHLO ops that compute element by element, and conversions of elements."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import ComplexType, IntegerAttr, i32
from xdsl.parser import Parser
from xdsl.traits import Commutative, Pure

from torch2mlir.dialects.assembly import Clause, Read
from torch2mlir.dialects.rows import Elementwise, RowOp
from torch2mlir.dialects.stablehlo import checks
from torch2mlir.dialects.stablehlo.kinds import SAME, StableHLO, syntax
from torch2mlir.dialects.tensor_rules import require, same_shape

ELEMENTWISE = (Pure(), Elementwise())


UNARY = {
    "operand: T float_or_complex[*s] {result_accuracy?: accuracy} -> result: T[*s]": """
        cbrt: Cubic root.
        cosine:
        ExpOp=exponential:
        Expm1Op=exponential_minus_one: ``exp(x) - 1``, exact near zero.
        log: Natural logarithm.
        Log1pOp=log_plus_one: ``log(1 + x)``, exact near zero.
        logistic: ``1 / (1 + exp(-x))``.
        rsqrt: Reciprocal of the square root.
        sine:
        sqrt:
        tan:
        tanh:
    """,
    "operand: T floats[*s] -> result: T[*s]": """
        ceil: Smallest integer not below.
        floor: Largest integer not above.
        RoundOp=round_nearest_afz: Halves away from zero.
        round_nearest_even: Halves to the even one: PyTorch's ``round``.
    """,
    "operand: T integers[*s] -> result: T[*s]": """
        ClzOp=count_leading_zeros:
        PopulationCountOp=popcnt: Number of bits that are set.
    """,
    "operand: T numbers[*s] -> result: T[*s]": "NegOp=negate:",
    "operand: T logical[*s] -> result: T[*s]": "not: Logical or bitwise not.",
    "operand: T signed_numbers[*s] -> result: T[*s]": """
        sign: Of a complex number, the unit of its direction.
    """,
    "operand: floats[*s] -> result: i1[*s]": "is_finite: Neither infinite nor NaN.",
    "operand: [*s] -> result: [*s]": """
        convert: Each number in the result's element type.
        uniform_quantize: Float, or quantized, to quantized.
        uniform_dequantize: Quantized to float.
    """,
}
"""Signature -> ops of one operand and what they compute."""
BINARY = {
    "numbers": """
        DivOp=divide: Quotient; of integers, rounded toward zero.
        PowOp=power:
        RemOp=remainder: With the sign of `lhs`: PyTorch's ``fmod``.
        subtract:
    """,
    "float_or_complex": "atan2: Angle of the point (rhs, lhs).",
    "integers": """
        shift_left:
        shift_right_arithmetic: Keeps the sign.
        shift_right_logical: Fills with zeros.
    """,
}
"""Kind of the elements -> ops of two operands of one shape."""
COMMUTATIVE = {
    "any_elements": """
        add: Sum; logical or, on booleans.
        MaxOp=maximum: Larger of the two; NaN if one is.
        MinOp=minimum: Smaller of the two; NaN if one is.
        MulOp=multiply: Product; logical and, on booleans.
    """,
    "logical": """
        and: Logical or bitwise and.
        or: Logical or bitwise or.
        xor: Logical or bitwise exclusive or.
    """,
}
"""The same of operands that may change places."""

for _signature, _table in UNARY.items():
    StableHLO.rows(_table, _signature, SAME, traits=ELEMENTWISE)
for _ops, _traits in ((BINARY, ELEMENTWISE), (COMMUTATIVE, (*ELEMENTWISE, Commutative()))):
    for _kind, _table in _ops.items():
        _signature = f"lhs: T {_kind}[*s], rhs: T[*s] -> result: T[*s]"
        StableHLO.rows(_table, _signature, SAME, traits=_traits)


def _verify_part(op: RowOp) -> None:
    """The result holds parts of complex numbers, or real numbers as they are."""
    element: Any = checks.tensor_type(op.operand).element_type
    part = element.element_type if isinstance(element, ComplexType) else element
    checks.require_element_type(op.result, part, "result")


def _verify_bitcast(op: RowOp) -> None:
    rank, result_rank = (len(checks.shape_of(value)) for value in (op.operand, op.result))
    require(
        abs(rank - result_rank) <= 1, f"rank changes by at most one, got {rank} and {result_rank}"
    )
    common = min(rank, result_rank)
    lhs, rhs = (checks.shape_of(value)[:common] for value in (op.operand, op.result))
    require(same_shape(lhs, rhs), "leading dimensions must stay what they are")


def verify_complex(op: RowOp) -> None:
    """The result's elements have the operands' for their parts."""
    part_type: Any = checks.tensor_type(op.lhs).element_type
    checks.require_element_type(op.result, ComplexType(part_type), "result")


def _verify_select(op: RowOp) -> None:
    if checks.shape_of(op.pred):
        checks.require_shape(op.pred, checks.shape_of(op.on_true), "pred")


def _verify_clamp(op: RowOp) -> None:
    for bound, what in ((op.min, "min"), (op.max, "max")):
        if checks.shape_of(bound):
            checks.require_shape(bound, checks.shape_of(op.operand), what)


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

StableHLO.rows(
    """
    abs operand: signed_numbers[*s] -> result: [*s]
      Absolute value, or modulus.
    imag operand: float_or_complex[*s] -> result: [*s]
      Imaginary part.
    real operand: float_or_complex[*s] -> result: [*s]
      Real part.
    bitcast_convert operand -> result
      | functional |
      The same bits as another element type; a last dimension takes up a change of width.
    reduce_precision operand: T floats[*s] {exponent_bits: i32, mantissa_bits: i32} -> result: T[*s]
      Rounding to a float format of fewer bits, in the operand's own type.
    complex lhs: T floats[*s], rhs: T[*s] -> result: [*s]
      | complex |
      A complex number of its real and imaginary part.
    compare lhs: T[*s], rhs: T[*s] {comparison_direction: direction, compare_type?: order} -> result: i1[*s]
      | {comparison_direction}, {operands}{compare_type}{attributes} : {functional} |
      How the operands are related.
    select pred: booleans, on_true: T[*s], on_false: T[*s] -> result: T[*s]
      | select |
      `on_true` where the predicate, a scalar or of the same shape, holds, else `on_false`.
    clamp min: T, operand: T[*s], max: T -> result: T[*s]
      The operand held between `min` and `max`, each a scalar or of the same shape.
    """,
    syntax=SAME,
    traits=ELEMENTWISE,
    rules={
        **dict.fromkeys(("abs", "imag", "real"), _verify_part),
        "bitcast_convert": _verify_bitcast,
        "complex": verify_complex,
        "select": _verify_select,
        "clamp": _verify_clamp,
    },
    syntaxes={"reduce_precision": syntax("same", more={"format": FORMAT})},
)
