"""CHLO's special functions, element by element, and the binary ops that broadcast as numpy does."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Attribute

from torch2mlir.dialects.chlo.kinds import CHLO
from torch2mlir.dialects.rows import Row, RowOp
from torch2mlir.dialects.stablehlo import checks
from torch2mlir.dialects.stablehlo.checks import Kinds, shape_of
from torch2mlir.dialects.stablehlo.elementwise import ResultType, boolean, pointwise, same
from torch2mlir.dialects.stablehlo.kinds import FUNCTIONAL, syntax

ARROW = syntax("arrow")
"""CHLO's ``type, type -> type``, without parentheses."""


def function(
    name: str, kinds: Kinds = checks.FLOATS, doc: str = "", operands: str = "operand"
) -> Row:
    """A function of tensors of one shape."""
    return pointwise(name, kinds, doc, operands=operands, written=ARROW)


def test(name: str, doc: str) -> Row:
    """A test of a real number."""
    return pointwise(name, checks.FLOATS, doc, boolean, written=ARROW)


NUMBERS = checks.FLOAT_OR_COMPLEX

CHLO.add(
    {
        "AcosOp": function("acos", NUMBERS),
        "AcoshOp": function("acosh", NUMBERS),
        "AsinOp": function("asin", NUMBERS),
        "AsinhOp": function("asinh", NUMBERS),
        "AtanOp": function("atan", NUMBERS),
        "AtanhOp": function("atanh", NUMBERS),
        "BesselI1eOp": function(
            "bessel_i1e", doc="Exponentially scaled modified Bessel function of order 1."
        ),
        "CoshOp": function("cosh", NUMBERS),
        "DigammaOp": function("digamma", doc="Derivative of ``lgamma``."),
        "ErfOp": function("erf"),
        "ErfInvOp": function("erf_inv"),
        "ErfcOp": function("erfc", doc="Complement of the error function."),
        "LgammaOp": function(
            "lgamma", doc="Logarithm of the absolute value of the gamma function."
        ),
        "SinhOp": function("sinh", NUMBERS),
        "SquareOp": function("square", NUMBERS),
        "TanOp": function("tan", NUMBERS),
        "AsinAcosKernelOp": function(
            "_asin_acos_kernel",
            NUMBERS,
            "What ``asin`` and ``acos`` of complex numbers have in common.",
        ),
        "ConjOp": function("conj", NUMBERS, "Complex conjugate."),
        "IsInfOp": test("is_inf", "Infinite, of either sign."),
        "IsNegInfOp": test("is_neg_inf", "Negative infinity."),
        "IsPosInfOp": test("is_pos_inf", "Positive infinity."),
        "NextAfterOp": function(
            "next_after", doc="Next representable number after `x` toward `y`.", operands="x, y"
        ),
        "PolygammaOp": function(
            "polygamma", doc="Derivative of order `n` of ``digamma``.", operands="n, x"
        ),
        "ZetaOp": function("zeta", doc="Hurwitz zeta function.", operands="x, q"),
        "MulhiOp": function(
            "mulhi", checks.INTEGERS, "Upper half of the bits of an integer product.", "lhs, rhs"
        ),
    }
)

# --- with broadcasting ---------------------------------------------------------------------------


def broadcasting(
    op: str, kinds: Kinds = checks.ANY, of: ResultType = same, properties: str = ""
) -> Row:
    """A binary op of StableHLO or CHLO whose operands are broadcast to each other as numpy does.

    `broadcast_dimensions` says where the dimensions of the operand of lower rank go, if not last.
    """

    def rule(op: RowOp) -> None:
        checks.require_kind(op.lhs, kinds)
        element_type = checks.tensor_type(op.lhs).element_type
        checks.require_element_type(op.rhs, element_type, "rhs")
        checks.require_element_type(op.result, of(element_type), "result")
        rank = max(len(shape_of(op.lhs)), len(shape_of(op.rhs)))
        checks.require_length(shape_of(op.result), rank, "result shape")

    signature = f"lhs, rhs {{broadcast_dimensions?: i64s{properties}}} -> result"
    return Row(f"broadcast_{op}", signature, FUNCTIONAL, rule, f"``{op}`` with broadcasting.")


def _complex(element_type: Any) -> Attribute:
    return ComplexType(element_type)


CHLO.add(
    {
        "BroadcastAddOp": broadcasting("add"),
        "BroadcastAndOp": broadcasting("and", checks.LOGICAL),
        "BroadcastAtan2Op": broadcasting("atan2", checks.FLOAT_OR_COMPLEX),
        "BroadcastDivOp": broadcasting("divide", checks.NUMBERS),
        "BroadcastMaxOp": broadcasting("maximum"),
        "BroadcastMinOp": broadcasting("minimum"),
        "BroadcastMulOp": broadcasting("multiply"),
        "BroadcastNextAfterOp": broadcasting("next_after", checks.FLOATS),
        "BroadcastOrOp": broadcasting("or", checks.LOGICAL),
        "BroadcastPolygammaOp": broadcasting("polygamma", checks.FLOATS),
        "BroadcastPowOp": broadcasting("power", checks.NUMBERS),
        "BroadcastRemOp": broadcasting("remainder", checks.NUMBERS),
        "BroadcastShiftLeftOp": broadcasting("shift_left", checks.INTEGERS),
        "BroadcastShiftRightArithmeticOp": broadcasting("shift_right_arithmetic", checks.INTEGERS),
        "BroadcastShiftRightLogicalOp": broadcasting("shift_right_logical", checks.INTEGERS),
        "BroadcastSubOp": broadcasting("subtract", checks.NUMBERS),
        "BroadcastXorOp": broadcasting("xor", checks.LOGICAL),
        "BroadcastZetaOp": broadcasting("zeta", checks.FLOATS),
        "BroadcastComplexOp": broadcasting("complex", checks.FLOATS, _complex),
        "BroadcastCompareOp": broadcasting(
            "compare",
            of=boolean,
            properties=", comparison_direction: direction, compare_type?: order",
        ),
    }
)
CHLO.rows(
    """
    broadcast_select pred: predicates, on_true: T, on_false: T -> result: T
      | functional |
      ``select`` with broadcasting of all three operands.
    """
)
