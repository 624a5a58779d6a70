"""``reduce-angles``: sines, cosines and tangents of angles far from zero.

IREE 3.13, with MLIR's polynomials, reduces the angle in f32 by one constant: the error of ``sin(x)`` is 3e-8 times
``x``, which is 1e-5 at 500 and 0.3 at 1e7; near multiples of pi it is 1e-7, however small the result. Here the nearest
multiple is taken off in f64, by a constant in two parts, and the sine of what is left, between -pi/2 and pi/2, is its
series. Beyond 2**53, where f64 has no neighbouring multiples, the result is NaN. Functions of f64 are the C library's
and stay.
"""

from __future__ import annotations

import math as numbers
from collections.abc import Callable

from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    TensorType,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.conversion.torch_to_linalg.scalars import default_properties
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects import tosa
from torch2mlir.engine_passes.beside import Beside
from torch2mlir.engine_passes.loop_nests import over_elements

OpClass = type[Operation]

_SINES = (math.SinOp, tosa.SinOp, hlo.SineOp)
_COSINES = (math.CosOp, tosa.CosOp, hlo.CosineOp)
_TANGENTS = (math.TanOp, hlo.TanOp)
_OF_TENSORS = (tosa.SinOp, tosa.CosOp, hlo.SineOp, hlo.CosineOp, hlo.TanOp)
_PI = (numbers.pi, 1.2246467991473532e-16)
"""Pi, and what f64 leaves of it."""
_NARROW = (Float16Type, BFloat16Type, Float32Type)
_FARTHEST = 2.0**53
_SERIES = tuple((-1) ** n / numbers.factorial(2 * n + 1) for n in range(9))
"""Of ``sin(x) / x`` in ``x**2``: the next term is 1e-13 at pi/2."""
_LESS, _NOT_EQUAL = 4, 13


class ReduceAnglesPass(PassForOps):
    """See the module's docstring."""

    name = "reduce-angles"
    looks_for = frozenset(op.name for op in (*_SINES, *_COSINES, *_TANGENTS))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(op.walk()):
            reduced = _reduction(each)
            if reduced is None or not isinstance(_element(each.operands[0]), _NARROW):
                continue
            if isinstance(each, _OF_TENSORS):
                over_elements(each, reduced)
            else:
                before = Beside(each)
                before.replace(reduced(before, each.operands[0]))


def _reduction(op: Operation) -> Callable[[Beside, SSAValue], SSAValue] | None:
    """What writes a function of an angle."""
    if isinstance(op, _SINES):
        return _sine
    if isinstance(op, _COSINES):
        return _cosine
    return _tangent if isinstance(op, _TANGENTS) else None


def _sine(before: Beside, x: SSAValue) -> SSAValue:
    return _reduced(before, x, is_cosine=False)


def _cosine(before: Beside, x: SSAValue) -> SSAValue:
    return _reduced(before, x, is_cosine=True)


def _tangent(before: Beside, x: SSAValue) -> SSAValue:
    operands = [_sine(before, x), _cosine(before, x)]
    return before.value(arith.DivfOp, operands, x.type, default_properties(arith.DivfOp))


def _reduced(before: Beside, x: SSAValue, is_cosine: bool) -> SSAValue:
    """``(-1)**k * sin(x - k * pi)``; a cosine is half a turn behind: ``-(-1)**j * sin(x - (j + 1/2) * pi)``."""

    def number(value: float) -> SSAValue:
        return before.constant(FloatAttr(value, f64))

    def f(op: OpClass, *operands: SSAValue, type: Attribute = f64) -> SSAValue:
        return before.value(op, operands, type, default_properties(op))

    def compare(predicate: int, one: SSAValue, other: SSAValue) -> SSAValue:
        properties = {**default_properties(arith.CmpfOp), "predicate": IntegerAttr(predicate, i64)}
        return before.value(arith.CmpfOp, [one, other], i1, properties)

    wide = f(arith.ExtFOp, x)
    turns = f(arith.MulfOp, wide, number(1 / numbers.pi))
    half = number(0.5)
    if is_cosine:
        whole = f(math.RoundEvenOp, f(arith.SubfOp, turns, half))
        taken = f(arith.AddfOp, whole, half)
    else:
        whole = taken = f(math.RoundEvenOp, turns)
    back = f(arith.NegfOp, taken)
    left = wide
    for part in _PI:
        left = f(math.FmaOp, back, number(part), left)
    is_near = compare(_LESS, f(math.AbsFOp, wide), number(_FARTHEST))
    left = f(arith.SelectOp, is_near, left, number(numbers.nan))
    square, sum = f(arith.MulfOp, left, left), number(_SERIES[-1])
    for term in reversed(_SERIES[:-1]):
        sum = f(math.FmaOp, sum, square, number(term))
    sine = f(arith.TruncFOp, f(arith.MulfOp, left, sum), type=x.type)
    pairs = f(arith.MulfOp, whole, half)
    is_odd = compare(_NOT_EQUAL, f(math.FloorOp, pairs), pairs)
    turned = f(arith.NegfOp, sine, type=x.type)
    first, second = (sine, turned) if is_cosine else (turned, sine)
    return f(arith.SelectOp, is_odd, first, second, type=x.type)


def _element(x: SSAValue) -> Attribute:
    return x.type.element_type if isinstance(x.type, TensorType) else x.type
