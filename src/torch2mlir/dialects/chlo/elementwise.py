"""CHLO's special functions, element by element, and the binary ops that broadcast as numpy does."""

from __future__ import annotations

from torch2mlir.dialects.chlo.kinds import CHLO
from torch2mlir.dialects.rows import RowOp
from torch2mlir.dialects.stablehlo import checks
from torch2mlir.dialects.stablehlo.checks import shape_of
from torch2mlir.dialects.stablehlo.elementwise import ELEMENTWISE, verify_complex
from torch2mlir.dialects.stablehlo.kinds import FUNCTIONAL, syntax

ARROW = syntax("arrow")
"""CHLO's ``type, type -> type``, without parentheses."""

FUNCTIONS = {
    "operand: T float_or_complex[*s] -> result: T[*s]": """
        acos:
        acosh:
        asin:
        asinh:
        atan:
        atanh:
        conj: Complex conjugate.
        cosh:
        sinh:
        square:
        tan:
        AsinAcosKernelOp=_asin_acos_kernel: What ``asin`` and ``acos`` of complex numbers have in common.
    """,
    "operand: T floats[*s] -> result: T[*s]": """
        bessel_i1e: Exponentially scaled modified Bessel function of order 1.
        digamma: Derivative of ``lgamma``.
        erf:
        erf_inv:
        erfc: Complement of the error function.
        lgamma: Logarithm of the absolute value of the gamma function.
    """,
    "operand: floats[*s] -> result: i1[*s]": """
        is_inf: Infinite, of either sign.
        is_neg_inf: Negative infinity.
        is_pos_inf: Positive infinity.
    """,
    "x: T floats[*s], y: T[*s] -> result: T[*s]": """
        next_after: Next representable number after `x` toward `y`.
    """,
    "n: T floats[*s], x: T[*s] -> result: T[*s]": """
        polygamma: Derivative of order `n` of ``digamma``.
    """,
    "x: T floats[*s], q: T[*s] -> result: T[*s]": "zeta: Hurwitz zeta function.",
    "lhs: T integers[*s], rhs: T[*s] -> result: T[*s]": """
        mulhi: Upper half of the bits of an integer product.
    """,
}
"""Signature -> ops and what they compute."""
for _signature, _table in FUNCTIONS.items():
    CHLO.rows(_table, _signature, ARROW, traits=ELEMENTWISE)

# --- with broadcasting ---------------------------------------------------------------------------


def _verify_rank(op: RowOp) -> None:
    rank = max(len(shape_of(op.lhs)), len(shape_of(op.rhs)))
    checks.require_length(shape_of(op.result), rank, "result shape")


_BROADCASTING = {
    "any_elements": "AddOp=add MaxOp=maximum MinOp=minimum MulOp=multiply",
    "float_or_complex": "Atan2Op=atan2",
    "floats": "NextAfterOp=next_after PolygammaOp=polygamma ZetaOp=zeta",
    "integers": (
        "ShiftLeftOp=shift_left ShiftRightArithmeticOp=shift_right_arithmetic"
        " ShiftRightLogicalOp=shift_right_logical"
    ),
    "logical": "AndOp=and OrOp=or XorOp=xor",
    "numbers": "DivOp=divide PowOp=power RemOp=remainder SubOp=subtract",
}
"""Kind of the elements -> ops of StableHLO and CHLO that are there with broadcasting too.

`broadcast_dimensions` says where the dimensions of the operand of lower rank go, if not last.
"""
for _kind, _ops in _BROADCASTING.items():
    for _class_name, _op in (each.split("=") for each in _ops.split()):
        CHLO.rows(
            f"Broadcast{_class_name}=broadcast_{_op}: ``{_op}`` with broadcasting.",
            f"lhs: T {_kind}, rhs: T {{broadcast_dimensions?: i64s}} -> result: T",
            FUNCTIONAL,
            _verify_rank,
        )
CHLO.rows(
    """
    broadcast_complex lhs: T floats, rhs: T {broadcast_dimensions?: i64s} -> result
      ``complex`` with broadcasting.
    broadcast_compare lhs: T, rhs: T {broadcast_dimensions?: i64s, comparison_direction: direction,
      compare_type?: order} -> result: booleans
      ``compare`` with broadcasting.
    broadcast_select pred: booleans, on_true: T, on_false: T -> result: T
      ``select`` with broadcasting of all three operands.
    """,
    syntax=FUNCTIONAL,
    rules={"broadcast_complex": verify_complex, "broadcast_compare": _verify_rank},
)
