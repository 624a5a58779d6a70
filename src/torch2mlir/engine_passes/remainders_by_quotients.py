"""Remainders of f32 by quotients in f64: exact, and vectors, which the C library's ``fmod`` is not.

XLA on the CPU (jaxlib 0.10.2) and IREE 3.13 call ``fmodf`` for one element at a time, which finds a bit of the quotient
after the other: 10 to 24 times the time of eager mode. The quotient of two f32 in f64, if it is less than ``2**28``,
rounds down to the same integer as the true one: it is at least ``2**-24`` away from the next, unless it is that. Its
product with the divisor has 52 bits at most, and what the product leaves over is a multiple of the operands' last
places: nothing is rounded. Larger quotients are found in parts, from the highest on.

Numbers next to zero, which both engines compute with as zeros, are told by their bits.
"""

from __future__ import annotations

from functools import partial
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, f32, f64, i1
from xdsl.ir import Attribute, Operation, SSAValue

from torch2mlir.contract.element_types import si32, si64
from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.conversion.expressions import Expr
from torch2mlir.conversion.lowering import ResultType, Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering
from torch2mlir.dialects import arith_ext
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.tensors import element_of, shape_of
from torch2mlir.engine_passes.beside import Beside
from torch2mlir.engine_passes.in_place_of import as_tensor, replace
from torch2mlir.engine_passes.loop_nests import on_elements

_PART = 28
"""Bits of the quotient that are found at once."""
_PARTS = 10
"""The largest quotient of two f32 is below ``2**277``."""
_FEW = 256
"""Up to so many elements the function for one is as fast."""
_SMALLEST_NORMAL, _SMALLEST = 2.0**-126, 2.0**-149
_FRACTION = 52
"""Bits of an f64 below its exponent."""
_SIGN = -(1 << 31)


class RemaindersByQuotientsPass(PassForOps):
    """For IREE, in the bodies of loops: the parts one after the other, without a branch. See the module's docstring."""

    name = "remainders-by-quotients"
    looks_for = frozenset({arith_ext.RemfOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if isinstance(each, arith_ext.RemfOp)]:
            if each.operands[0].type == f32:
                before = Beside(each)
                before.replace(on_elements(before, _remainder, *each.operands))


class StablehloRemaindersByQuotientsPass(PassForOps):
    """For XLA: parts above the lowest in a loop, which seldom runs. See the module's docstring."""

    name = "stablehlo-remainders-by-quotients"
    looks_for = frozenset({hlo.RemOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if isinstance(each, hlo.RemOp)]:
            sizes = shape_of(each.results[0])
            is_static = DYNAMIC_INDEX not in sizes
            if element_of(each.results[0]) == f32 and is_static and prod(sizes) > _FEW:
                replace(each, partial(_in_tensors, op=each))


def _remainder(x: Expr, y: Expr) -> Expr:
    """C's ``fmod``, on elements."""
    size, divisor = _size(x), _size(y)
    inverse, rest = 1.0 / divisor, size
    for part in reversed(range(_PARTS)):
        power = 2.0 ** (_PART * part)
        rest = rest - (rest * (inverse * (1 / power))).of("floor") * (divisor * power)
    # a quotient by the inverse may be the next integer
    rest = (rest < 0.0).where(rest + divisor, rest)
    rest = (rest >= divisor).where(rest - divisor, rest)
    return _as_f32(rest, size, divisor, x)


def _in_tensors(lower: StablehloLowering, op: Operation) -> list[Tensor | None]:
    x, y = (Expr(lower.words, as_tensor(operand)) for operand in op.operands)
    size, divisor = _size(x), _size(y)
    rest = _without_high_parts(lower, size, divisor)
    rest = rest - (rest / divisor).of("floor") * divisor
    return [_as_f32(rest, size, divisor, x).value]


def _without_high_parts(lower: StablehloLowering, size: Expr, divisor: Expr) -> Expr:
    """What is less than ``2**28`` times the divisor: a loop takes off multiples of the divisor times a power of two."""
    like: Tensor = size.value

    def is_left(rest: SSAValue) -> list[SSAValue]:
        left = Expr(lower.words, Tensor(rest, like.sizes, f64))
        large = (left >= divisor * 2.0**_PART) & (left < float("inf")) & (divisor > 0.0)
        return [lower.combined("or", large.value, range(like.rank), ResultType((), i1)).value]

    def take_off(rest: SSAValue) -> list[SSAValue]:
        left = Expr(lower.words, Tensor(rest, like.sizes, f64))
        above = _exponent(left) - _exponent(divisor) - (_PART - 1)
        above = above.of("max", 0)
        multiple = _bits(_bits(divisor, si64) + above.of("shl", _FRACTION), f64)
        return [(left - (left / multiple).of("floor") * multiple).value.value]

    type = like.value.type
    regions = [lower.region([type], build) for build in (is_left, take_off)]
    loop = lower.emit(hlo.WhileOp, [like.value], [type], regions=regions)
    return Expr(lower.words, Tensor(loop.results[0], like.sizes, f64))


def _bits(x: Expr, dtype: Attribute) -> Expr:
    return Expr(x.words, x.words.bits(x.value, dtype))


def _exponent(x: Expr) -> Expr:
    """The exponent of an f64 that is not negative, as it is stored."""
    return _bits(x, si64).of("shr", _FRACTION)


def _size(x: Expr) -> Expr:
    """``|x|`` in f64; that of a number next to zero is the integer that its bits are, in units of the smallest."""
    bits = _bits(x, si32) & x.constant(~_SIGN, si32)
    return (bits < 1 << 23).where(bits.to(f64) * _SMALLEST, _bits(bits, f32).to(f64))


def _as_f32(rest: Expr, size: Expr, divisor: Expr, x: Expr) -> Expr:
    """What is left over with the sign of ``x``, ``x`` itself below the divisor, infinity included."""
    rest = (size < divisor).where(size, rest)
    is_next_to_zero = rest < _SMALLEST_NORMAL
    small = is_next_to_zero.where(rest * (1 / _SMALLEST), 0.0).to(si32)
    bits = is_next_to_zero.where(small, _bits(rest.to(f32), si32))
    return _bits(bits | (_bits(x, si32) & x.constant(_SIGN, si32)), f32)
