"""Elementwise ops of two tensors in TOSA: arithmetic, comparison, logic."""

from __future__ import annotations

import math
from collections.abc import Callable

from xdsl.dialects.builtin import BoolAttr, i1
from xdsl.ir import Operation

from torch2mlir.conversion import promotion
from torch2mlir.conversion.lowering import Operand, Tensor
from torch2mlir.conversion.torch_to_tosa import transcendental
from torch2mlir.conversion.torch_to_tosa.casts import computed_dtype, truncate
from torch2mlir.conversion.torch_to_tosa.elementwise import float_dtype
from torch2mlir.conversion.torch_to_tosa.expressions import Expr
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering, lowers
from torch2mlir.dialects import tosa

BINARY: dict[tuple[str, ...], type[Operation]] = {
    ("aten.mul.Tensor", "aten.mul.Scalar"): tosa.MulOp,
    ("aten.maximum",): tosa.MaximumOp,
    ("aten.minimum",): tosa.MinimumOp,
}


def _binary(op_class: type[Operation]) -> Callable[..., Tensor]:
    def lower_binary(lower: TosaLowering, x: Operand, y: Operand) -> Tensor:
        dtype = lower.out.dtype
        return lower.elementwise(op_class, lower.operand(x, dtype), lower.operand(y, dtype))

    return lower_binary


for _names, _op in BINARY.items():
    lowers(*_names)(_binary(_op))


def _with_alpha(op_class: type[Operation]) -> Callable[..., Tensor]:
    def lower_sum(lower: TosaLowering, x: Operand, y: Operand, alpha: Operand) -> Tensor:
        dtype = lower.out.dtype
        second = lower.operand(y, dtype)
        if alpha != 1:
            second = lower.elementwise(tosa.MulOp, second, lower.operand(alpha, dtype))
        return lower.elementwise(op_class, lower.operand(x, dtype), second)

    return lower_sum


lowers("aten.add.Tensor", "aten.add.Scalar")(_with_alpha(tosa.AddOp))
lowers("aten.sub.Tensor", "aten.sub.Scalar")(_with_alpha(tosa.SubOp))


# comparison: name -> op, operands swapped, result negated

COMPARISON: dict[str, tuple[type[Operation], bool, bool]] = {
    "eq": (tosa.EqualOp, False, False),
    "ne": (tosa.EqualOp, False, True),
    "gt": (tosa.GreaterOp, False, False),
    "ge": (tosa.GreaterEqualOp, False, False),
    "lt": (tosa.GreaterOp, True, False),
    "le": (tosa.GreaterEqualOp, True, False),
}


def _comparison(op_class: type[Operation], swapped: bool, negated: bool) -> Callable[..., Tensor]:
    def lower_comparison(lower: TosaLowering, x: Operand, y: Operand) -> Tensor:
        dtype = lower.computed_dtype(x, y)
        operands = [lower.operand(x, dtype), lower.operand(y, dtype)]
        result = lower.compare(op_class, *(reversed(operands) if swapped else operands))
        return lower.elementwise(tosa.LogicalNotOp, result) if negated else result

    return lower_comparison


for _name, _how in COMPARISON.items():
    lowers(f"aten.{_name}.Tensor", f"aten.{_name}.Scalar")(_comparison(*_how))


# logic

BITWISE: dict[str, tuple[type[Operation], type[Operation]]] = {
    "and": (tosa.BitwiseAndOp, tosa.LogicalAndOp),
    "or": (tosa.BitwiseOrOp, tosa.LogicalOrOp),
    "xor": (tosa.BitwiseXorOp, tosa.LogicalXorOp),
}


def _bitwise(integer: type[Operation], boolean: type[Operation]) -> Callable[..., Tensor]:
    def lower_bitwise(lower: TosaLowering, x: Operand, y: Operand) -> Tensor:
        dtype = lower.out.dtype
        op_class = boolean if promotion.is_bool(dtype) else integer
        return lower.elementwise(op_class, lower.operand(x, dtype), lower.operand(y, dtype))

    return lower_bitwise


def _logical(op_class: type[Operation]) -> Callable[..., Tensor]:
    def lower_logical(lower: TosaLowering, x: Operand, y: Operand) -> Tensor:
        return lower.elementwise(op_class, lower.operand(x, i1), lower.operand(y, i1))

    return lower_logical


for _name, (_integer, _boolean) in BITWISE.items():
    lowers(f"aten.bitwise_{_name}.Tensor", f"aten.bitwise_{_name}.Scalar")(
        _bitwise(_integer, _boolean)
    )
    lowers(f"aten.logical_{_name}")(_logical(_boolean))


# shifts


@lowers("aten.bitwise_left_shift.Tensor", "aten.bitwise_left_shift.Tensor_Scalar")
def left_shift(lower: TosaLowering, x: Operand, count: Operand) -> Tensor:
    """``x << count``; 0 for counts outside of the element, which TOSA leaves undefined."""
    value, places, inside = _shifted(lower, x, count)
    shifted = value.of(tosa.LogicalLeftShiftOp, places)
    result = shifted if inside is None else inside.where(shifted, 0)
    return lower.cast(result.tensor, lower.out.dtype)


@lowers("aten.bitwise_right_shift.Tensor", "aten.bitwise_right_shift.Tensor_Scalar")
def right_shift(lower: TosaLowering, x: Operand, count: Operand) -> Tensor:
    """``x >> count`` with the sign coming in; nothing but the sign is left for counts outside of the element."""
    value, places, inside = _shifted(lower, x, count)
    if inside is not None:
        places = inside.where(places, promotion.bit_width(value.tensor.dtype) - 1)
    exact = {"round": BoolAttr.from_bool(False)}
    operands = [value.tensor, places.tensor]
    shifted = lower.elementwise(tosa.ArithmeticRightShiftOp, *operands, properties=exact)
    return lower.cast(shifted, lower.out.dtype)


def _shifted(lower: TosaLowering, x: Operand, count: Operand) -> tuple[Expr, Expr, Expr | None]:
    """The element and the count in the type the op computes in, and whether an element has so many bits, if unknown."""
    value, places = _operands(lower, x, count)
    bits = promotion.bit_width(lower.out.dtype)
    if isinstance(count, int) and 0 <= count < bits:
        return value, places, None
    inside = (places >= 0) & (places < bits)
    return value, inside.where(places, 0), inside


# division


@lowers("aten.div.Tensor", "aten.div.Scalar")
def div(lower: TosaLowering, x: Operand, y: Operand) -> Tensor:
    """``x * (1 / y)``, TOSA's only division of floats; the inverse of a number is a constant."""
    dtype = float_dtype(lower.out.dtype)
    x = lower.operand(x, dtype)
    if isinstance(y, int | float):
        inverse = lower.operand(_inverse(float(y)), dtype)
    else:
        inverse = lower.elementwise(tosa.ReciprocalOp, lower.operand(y, dtype))
    return lower.cast(lower.elementwise(tosa.MulOp, x, inverse), lower.out.dtype)


def _inverse(number: float) -> float:
    return 1 / number if number else math.copysign(math.inf, number)


@lowers("aten.div.Tensor_mode", "aten.div.Scalar_mode")
def div_mode(lower: TosaLowering, x: Operand, y: Operand, mode: str | None) -> Tensor:
    """The quotient, rounded towards zero (``trunc``) or down (``floor``)."""
    if mode is None:
        return div(lower, x, y)
    a, b = _operands(lower, x, y)
    if promotion.is_float(a.tensor.dtype):
        if mode == "trunc":
            result = Expr(lower, truncate(lower, _quotient(a, b).tensor))
        else:
            result = _float_floor(a, b, _remainder(a, b, y))
    else:
        result = a // b if mode == "trunc" else _integer_floor(a, b)
    return lower.cast(result.tensor, lower.out.dtype)


@lowers("aten.fmod.Tensor", "aten.fmod.Scalar")
def fmod(lower: TosaLowering, x: Operand, y: Operand) -> Tensor:
    """What division leaves over, with the sign of ``x``."""
    a, b = _operands(lower, x, y)
    if promotion.is_float(a.tensor.dtype):
        result = _remainder(a, b, y)
    else:
        result = a - a // b * b
    return lower.cast(result.tensor, lower.out.dtype)


@lowers("aten.remainder.Tensor", "aten.remainder.Scalar")
def remainder(lower: TosaLowering, x: Operand, y: Operand) -> Tensor:
    """What division leaves over, with the sign of ``y``."""
    a, b = _operands(lower, x, y)
    is_float = promotion.is_float(a.tensor.dtype)
    left = _remainder(a, b, y) if is_float else a - a // b * b
    result = _crosses_zero(left, b).where(left + b, left)
    return lower.cast(result.tensor, lower.out.dtype)


def _operands(lower: TosaLowering, x: Operand, y: Operand) -> tuple[Expr, Expr]:
    """Both operands in the type the op computes in."""
    dtype = lower.out.dtype
    computed = float_dtype(dtype) if promotion.is_float(dtype) else computed_dtype(dtype)
    given = [lower.operand(lower.operand(o, dtype), computed) for o in (x, y)]
    return Expr(lower, given[0]), Expr(lower, given[1])


def _crosses_zero(left: Expr, divisor: Expr) -> Expr:
    """Whether a remainder that is not 0 has the other sign than the divisor."""
    return (~left.equals(0)) & (left < 0).differs(divisor < 0)


def _integer_floor(a: Expr, b: Expr) -> Expr:
    quotient = a // b
    left = a - quotient * b
    return _crosses_zero(left, b).where(quotient - 1, quotient)


# exact remainders

_STEP = 20
"""Bits of the quotient that a step of the long division finds: with slack, less than a float's fraction has."""
_STEPS = 4
"""Quotients from ``2**80`` on leave NaN, as PyTorch's own vectorized kernel does from ``2**128`` on."""


def _remainder(a: Expr, b: Expr, divisor: Operand) -> Expr:
    """What ``a / b`` rounded towards zero leaves over, with the sign of ``a``: exact, as C's ``fmod``.

    TOSA has no word for it. Long division: the divisor times falling powers of two is taken off as often as it
    fits, by products without rounding (Dekker, 1971). By a power of two one step is exact.
    """
    rest, size = abs(a), abs(b)
    if isinstance(divisor, int | float) and _is_power_of_two(float(divisor)):
        rest = rest - (rest * (1 / abs(divisor))).floor() * abs(divisor)
    else:
        inverse, halves = size.reciprocal(), _halves(size)
        for step in reversed(range(_STEPS)):
            rest = _taken_off(rest, inverse, size, halves, _STEP * step)
        rest = (abs(a) < size).where(abs(a), (rest < 0.0).where(rest + size, rest))
        rest = (abs(a) * inverse > 2.0 ** (_STEP * _STEPS)).where(math.nan, rest)
    return transcendental.is_negative(a).where(-rest, rest)


def _is_power_of_two(number: float) -> bool:
    return math.isfinite(number) and math.frexp(abs(number))[0] == 0.5 and abs(number) > 2.0**-100


def _taken_off(
    rest: Expr, inverse: Expr, size: Expr, halves: tuple[Expr, Expr], power: int
) -> Expr:
    """``rest`` without the nearest multiple of ``size * 2**power``, so that what is left has no more bits than size."""
    count = (rest * inverse * 2.0**-power + 0.5).floor()
    high = (count * (1 / 2048) + 0.5).floor() * 2048.0
    low = count - high
    whole, upper, lower = (part * 2.0**power for part in (size, *halves))
    product = count * whole
    error = ((high * upper - product) + high * lower + low * upper) + low * lower
    return count.equals(0.0).where(rest, (rest - product) - error)


def _halves(x: Expr) -> tuple[Expr, Expr]:
    """The upper and the lower twelve bits of floats that are not negative (Veltkamp, 1968)."""
    large = x > 1.0
    scaled = large.where(x * 2.0**-14, x * 2.0**14)
    stretched = scaled * 4097.0
    upper = stretched - (stretched - scaled)
    parts = upper, scaled - upper
    return tuple(large.where(part * 2.0**14, part * 2.0**-14) for part in parts)  # type: ignore[return-value]


def _float_floor(a: Expr, b: Expr, rest: Expr) -> Expr:
    """Python's ``//`` from the exact remainder, as PyTorch computes it; a zero has the quotient's sign."""
    quotient = a / b
    whole = (a - rest) / b
    whole = _crosses_zero(rest, b).where(whole - 1.0, whole)
    floor = whole.floor()
    nearest = (whole - floor > 0.5).where(floor + 1.0, floor)
    zero = abs(nearest)
    signed = transcendental.is_negative(quotient).where(-zero, zero)
    result = nearest.equals(0.0).where(signed, nearest)
    # from here on every float is whole
    return (b.equals(0.0) | (abs(quotient) > 2.0**24) & (abs(quotient) < math.inf)).where(
        quotient, result
    )


def _quotient(a: Expr, b: Expr) -> Expr:
    """``a / b`` rounded once: the product with the inverse, corrected by what it leaves over."""
    inverse = b.reciprocal()
    raw = a * inverse
    (upper, lower), (high, low) = _halves(abs(b)), _halves(abs(raw))
    product = abs(raw) * abs(b)
    error = ((high * upper - product) + high * lower + low * upper) + low * lower
    correction = ((abs(a) - product) - error) * abs(inverse)
    exact = abs(raw) + correction
    exact = (exact.equals(exact) & (abs(raw) < math.inf)).where(exact, abs(raw))
    return transcendental.is_negative(raw).where(-exact, exact)


# powers


@lowers("aten.pow.Tensor_Scalar", "aten.pow.Tensor_Tensor", "aten.pow.Scalar")
def power(lower: TosaLowering, base: Operand, exponent: Operand) -> Tensor:
    """``base ** exponent``; small constant exponents are products and roots."""
    dtype = lower.out.dtype
    if not promotion.is_float(dtype):
        return _integer_power(lower, base, exponent)
    computed = float_dtype(dtype)
    x = Expr(lower, lower.operand(base, computed))
    y = Expr(lower, lower.operand(exponent, computed))
    if isinstance(exponent, int | float) and (known := _simple_power(x, exponent)) is not None:
        result = known
    elif _never_negative(base, exponent) or promotion.bit_width(computed) == 64:
        result = x.of(tosa.PowOp, y)
    else:
        result = _signed_power(x, y)
    return lower.broadcast_to(lower.cast(result.tensor, dtype), lower.out.sizes)


def _simple_power(x: Expr, exponent: float) -> Expr | None:
    if exponent == 0:
        return Expr(x.lower, x.lower.operand(1, x.tensor.dtype))
    if abs(exponent) == 0.5:
        return x.sqrt() if exponent > 0 else x.rsqrt()
    if exponent != int(exponent) or abs(exponent) > 32:
        return None
    result = _product_power(x, abs(int(exponent)))
    return result if exponent > 0 else result.reciprocal()


def _never_negative(base: Operand, exponent: Operand) -> bool:
    """Whether a power is that of a positive number, or of a fraction, which negative numbers do not have."""
    if isinstance(base, int | float):
        return base > 0
    return isinstance(exponent, float) and exponent != math.floor(exponent)


def _signed_power(x: Expr, y: Expr) -> Expr:
    """``|x| ** y``, which is all ``tosa.pow`` promises, with the sign of an odd whole power.

    1 for ``y == 0`` and for ``|x| == 1``, whatever the other is; NaN for a broken power of a finite negative number.
    """
    size, half = abs(x), y * 0.5
    whole, even = y.floor().equals(y), half.floor().equals(half)
    negative = transcendental.is_negative(x)
    power = size.equals(1.0).where(1.0, size.of(tosa.PowOp, y))
    signed = (negative & whole & ~even).where(-power, power)
    defined = ~(x < 0.0) | whole | size.equals(math.inf)
    return y.equals(0.0).where(1.0, defined.where(signed, math.nan))


def _product_power(x: Expr, exponent: int) -> Expr:
    """By squaring; ``exponent > 0``."""
    result: Expr | None = None
    while True:
        if exponent & 1:
            result = x if result is None else result * x
        exponent >>= 1
        if not exponent and result is not None:
            return result
        x = x * x


def _integer_power(lower: TosaLowering, base: Operand, exponent: Operand) -> Tensor:
    """By squaring, wrapping around; a negative exponent leaves 1 of 1, -1 or 1 of -1, and 0 of others."""
    a, n = _operands(lower, base, exponent)
    if isinstance(exponent, int):
        if exponent < 0:
            lower.fail("integers to a negative constant power are not defined in PyTorch either")
        if exponent == 0:
            return lower.splat(1, lower.out.sizes, lower.out.dtype)
        return lower.cast(_product_power(a, exponent).tensor, lower.out.dtype)
    width = promotion.bit_width(n.tensor.dtype)
    one = Expr(lower, lower.operand(1, a.tensor.dtype))
    result, factor = one, a
    for bit in range(width - 1):
        odd = n.of(tosa.BitwiseAndOp, 1 << bit).equals(0)
        result = odd.where(result, result * factor)
        factor = factor * factor
    odd = ~n.of(tosa.BitwiseAndOp, 1).equals(0)
    negative = a.equals(1).where(1, a.equals(-1).where(odd.where(a, one), 0 * a))
    return lower.cast((n < 0).where(negative, result).tensor, lower.out.dtype)


@lowers("aten.atan2")
def atan2(lower: TosaLowering, y: Tensor, x: Tensor) -> Tensor:
    """The angle of the point ``(x, y)``."""
    computed = float_dtype(lower.out.dtype)
    angle = transcendental.atan2(
        Expr(lower, lower.operand(y, computed)), Expr(lower, lower.operand(x, computed))
    )
    return lower.cast(angle.tensor, lower.out.dtype)
