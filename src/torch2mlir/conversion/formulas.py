"""What words mean in other words, for targets that have none for them.

Formulas are chosen so that small arguments keep their relative precision, infinities come out right and zeros keep
their signs. Polynomials are those of the Cephes library, single precision (https://www.netlib.org/cephes/).
"""

from __future__ import annotations

import math

from xdsl.dialects.builtin import IntegerType, Signedness, f32, f64

from torch2mlir.conversion.expressions import Expr, Number, formula, polynomial

_ATAN = (8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1)
_ASIN = (4.2163199048e-2, 2.4181311049e-2, 4.5470025998e-2, 7.4953002686e-2, 1.6666752422e-1)
_LARGE = 2.0**24
"""From here on an f32 plus or minus 1 is itself, and every f32 is whole."""

# arithmetic


@formula("neg")
def neg(x: Expr) -> Expr:
    """``0 - x``: integers wrap around."""
    return x.constant(0) - x


@formula("reciprocal")
def reciprocal(x: Expr) -> Expr:
    """``1 / x``."""
    return 1 / x


@formula("div")
def div(x: Expr, y: Expr) -> Expr:
    """``x * (1 / y)``; the inverse of a number is a constant."""
    if isinstance(y.number, int | float):
        number = float(y.number)
        if y.dtype != f64 and abs(number) >= _TOO_LARGE:
            number = math.copysign(math.inf, number)
        if y.dtype != f64 and abs(number) > _HUGE:  # its inverse is subnormal
            return x * _SCALE * (1 / (number * _SCALE))
        return x * (1 / number if number else math.copysign(math.inf, number))
    scale = _of_huge(y)
    return x * scale * (y * scale).of("reciprocal")


def _of_huge(y: Expr) -> Expr:
    """What numbers are multiplied by whose inverse engines would take for zero, as they do subnormal ones; or 1.

    In f64 their inverses are far from zero; where a dialect has no tensors of f64, Python's numbers are of it.
    """
    if y.dtype == f64:
        return y.constant(1.0)
    return (abs(y) > _HUGE).where(y.constant(_SCALE), 1.0)


_HUGE, _SCALE = 2.0**125, 2.0**-4
_TOO_LARGE = 2.0**128 - 2.0**103
"""From here on numbers are infinite in f32."""


@formula("sqrt")
def sqrt(x: Expr) -> Expr:
    """The inverse of the inverse root: right for 0 and infinity."""
    return x.of("rsqrt").of("reciprocal")


@formula("rsqrt")
def rsqrt(x: Expr) -> Expr:
    """``1 / sqrt(x)``."""
    return x.of("sqrt").of("reciprocal")


@formula("trunc")
def trunc(x: Expr) -> Expr:
    """Rounded towards zero."""
    return (x < 0).where(x.of("ceil"), x.of("floor"))


@formula("sign")
def sign(x: Expr) -> Expr:
    """-1, 0 or 1; 0 for NaN, and a zero of either sign gives the positive one."""
    not_positive: Expr | Number = 0 if x.is_unsigned else (x < 0).where(x.constant(-1), 0)
    return (x > 0).where(x.constant(1), not_positive)


@formula("signbit")
def signbit(x: Expr) -> Expr:
    """Whether the sign is minus, that of zeros and, where bits can be read, of NaN included."""
    if x.is_unsigned:
        return x.is_false()
    if not x.is_float:
        return x < 0
    whole = IntegerType(x.bits, Signedness.SIGNED)
    if x.has("bits"):
        return Expr(x.words, x.words.bits(x.value, whole)) < 0
    return is_negative(x)


def is_negative(x: Expr) -> Expr:
    """Whether the sign is minus, that of zeros included, that of NaN not."""
    return (x < 0.0) | (x.equals(0.0) & (x.of("reciprocal") < 0.0))


@formula("copysign")
def copysign(x: Expr, y: Expr) -> Expr:
    """``|x|`` with the sign of ``y``."""
    return signbit(y).where(-abs(x), abs(x))


@formula("isnan")
def isnan(x: Expr) -> Expr:
    """``x != x``; integers never are."""
    return x.is_false() if x.is_integer else x.differs(x)


@formula("isinf")
def isinf(x: Expr) -> Expr:
    """Whether a number, or a part of it, is infinite; integers never are."""
    if x.is_integer:
        return x.is_false()
    first, *rest = (abs(part).equals(math.inf) for part in x.parts())
    return first | rest[0] if rest else first


# division


def crosses_zero(rest: Expr, divisor: Expr) -> Expr:
    """Whether a remainder is not zero and has not the sign of the divisor."""
    return rest.differs(0) & ((rest < 0) ^ (divisor < 0))


@formula("remainder")
def remainder(x: Expr, y: Expr) -> Expr:
    """``x - floor(x / y) * y``: of the sign of ``y``, exact."""
    rest = x.of("rem", y)
    return rest if x.is_unsigned else crosses_zero(rest, y).where(rest + y, rest)


@formula("div_floor")
def div_floor(x: Expr, y: Expr) -> Expr:
    """``floor(x / y)``; on floats Python's ``//``, as PyTorch: from the exact remainder."""
    quotient = x / y
    if x.is_unsigned:
        return quotient
    rest = x.of("rem", y)
    if not x.is_float:
        return crosses_zero(rest, y).where(quotient - 1, quotient)
    whole = (x - rest) / y
    whole = crosses_zero(rest, y).where(whole - 1.0, whole)
    floor = whole.of("floor")
    nearest = (whole - floor > 0.5).where(floor + 1.0, floor)
    result = nearest.equals(0.0).where(nearest.of("copysign", quotient), nearest)
    as_it_is = y.equals(0.0)
    if not x.has("rem"):  # its formula gives up on large quotients, which are whole
        as_it_is = as_it_is | (abs(quotient) > _LARGE) & (abs(quotient) < math.inf)
    return as_it_is.where(quotient, result)


@formula("div_trunc")
def div_trunc(x: Expr, y: Expr) -> Expr:
    """``trunc`` of the quotient as it is rounded."""
    if not x.is_float:
        return x / y
    return (x / y if x.has("div") else exact_quotient(x, y)).of("trunc")


@formula("exact_quotient")
def exact_quotient(x: Expr, y: Expr) -> Expr:
    """``x / y`` rounded once: the product with the inverse, corrected by what it leaves over."""
    scale = _of_huge(y)
    x, y = x * scale, y * scale
    inverse = y.of("reciprocal")
    raw = x * inverse
    (upper, lower), (high, low) = _halves(abs(y)), _halves(abs(raw))
    product = abs(raw) * abs(y)
    error = ((high * upper - product) + high * lower + low * upper) + low * lower
    exact = abs(raw) + ((abs(x) - product) - error) * abs(inverse)
    exact = (exact.equals(exact) & (abs(raw) < math.inf)).where(exact, abs(raw))
    return is_negative(raw).where(-exact, exact)


@formula("exact_root")
def exact_root(x: Expr) -> Expr:
    """``sqrt(x)`` rounded once, by one step of Newton's from the root that a target has."""
    root = x.of("sqrt")
    high, low = _halves(root)
    product = root * root
    error = ((high * high - product) + high * low * 2.0) + low * low
    exact = root + ((x - product) - error) * (root * 2.0).of("reciprocal")
    return (exact.equals(exact) & (root < math.inf)).where(exact, root)


@formula("exact_power")
def exact_power(x: Expr, y: Expr) -> Expr:
    """``x ** y`` by products, which are exact, where both are integers and the result is one that a float holds."""
    if y.number == 0.5 and not x.has("sqrt"):
        return x.of("exact_root")
    raw = x.of("any_power", y)
    if not raw.is_float or raw.dtype not in (f32, f64):
        return raw
    product, square, rest = x.constant(1.0), x, abs(y)
    for _ in range(_BITS):
        half = (rest * 0.5).of("floor")
        product = (rest - half * 2.0 > 0.5).where(product * square, product)
        square, rest = square * square, half
    are_whole = x.equals(x.of("floor")) & y.equals(y.of("floor")) & (abs(y) < 2.0**_BITS)
    # powers of ten have as many bits more as they have zeros
    is_exact = (abs(product) <= 2.0**24) | abs(x).equals(2.0)
    is_exact = is_exact | (abs(x).equals(10.0) & (abs(y) < 10.5))
    return (are_whole & is_exact).where((y < 0.0).where(1.0 / product, product), raw)


_BITS = 5
"""Of exponents; larger ones leave the floats that are integers."""


@formula("exact_log2")
def exact_log2(x: Expr) -> Expr:
    """The logarithm of a power of two is an integer."""
    return _whole_if_close(x.of("log2"))


@formula("exact_log10")
def exact_log10(x: Expr) -> Expr:
    """The logarithm of a power of ten is an integer."""
    return _whole_if_close(x.of("log10"))


def _whole_if_close(x: Expr) -> Expr:
    """Integers in place of floats that are two units in the last place away, as logarithms may be."""
    nearest = (x + 0.5).of("floor")
    slack = 2.0**-51 if x.dtype == f64 else 2.0**-22
    return (abs(x - nearest) <= abs(nearest) * slack).where(nearest, x)


_STEP = 20
"""Bits of the quotient that a step of the long division finds: with slack, less than a float's fraction has."""
_STEPS = 4
"""Quotients from ``2**80`` on leave NaN, as PyTorch's own vectorized kernel does from ``2**128`` on."""


@formula("rem")
def rem(x: Expr, y: Expr) -> Expr:
    """What ``x / y`` rounded towards zero leaves over, with the sign of ``x``: exact, as C's ``fmod``.

    Long division: the divisor times falling powers of two is taken off as often as it fits, by products without
    rounding (Dekker, 1971). By a power of two one step is exact.
    """
    if not x.is_float:
        return x - x / y * y
    rest, size = abs(x), abs(y)
    if isinstance(y.number, int | float) and _is_power_of_two(float(y.number)):
        rest = rest - (rest * (1 / abs(y.number))).of("floor") * abs(y.number)
    else:
        scale = _of_huge(size)
        rest, size = rest * scale, size * scale
        inverse, halves = size.of("reciprocal"), _halves(size)
        for step in reversed(range(_STEPS)):
            rest = _taken_off(rest, inverse, size, halves, 2.0 ** (_STEP * step))
        rest = (rest < 0.0).where(rest + size, rest)
        rest = (scale < 1.0).where(rest * 16.0, rest)
        rest = (abs(x) < abs(y)).where(abs(x), rest)
        rest = (abs(x) * inverse > 2.0 ** (_STEP * _STEPS)).where(math.nan, rest)
    return is_negative(x).where(-rest, rest)


def _is_power_of_two(number: float) -> bool:
    return math.isfinite(number) and math.frexp(abs(number))[0] == 0.5 and abs(number) > 2.0**-100


def _taken_off(
    rest: Expr, inverse: Expr, size: Expr, halves: tuple[Expr, Expr], power: float
) -> Expr:
    """``rest`` without the nearest multiple of ``size * power``, so that what is left has no more bits than size."""
    count = (rest * (inverse * (1 / power)) + 0.5).of("floor")
    high = (count * (1 / 2048) + 0.5).of("floor") * 2048.0
    low = count - high
    whole, upper, lower = (part * power for part in (size, *halves))
    product = count * whole
    error = ((high * upper - product) + high * lower + low * upper) + low * lower
    return count.equals(0.0).where(rest, (rest - product) - error)


def _halves(x: Expr) -> tuple[Expr, Expr]:
    """The upper and the lower twelve bits of floats that are not negative (Veltkamp, 1968)."""
    large = x > 1.0
    scaled = large.where(x * 2.0**-14, x * 2.0**14)
    stretched = scaled * 4097.0
    upper = stretched - (stretched - scaled)
    lower = scaled - upper
    return (
        large.where(upper * 2.0**14, upper * 2.0**-14),
        large.where(lower * 2.0**14, lower * 2.0**-14),
    )


# powers


@formula("any_power")
def power(x: Expr, y: Expr) -> Expr:
    """C's ``pow``, integers wrapping around."""
    if isinstance(y.number, int | float) and (known := _known_power(x, y.number)) is not None:
        return known
    if x.number == 1:  # also of NaN and infinities, whose logarithms are not 0
        return y.constant(1)
    if x.is_integer:
        return x.of("power_of_integers", y)
    never_negative = isinstance(x.number, int | float) and x.number > 0
    if x.has("power") or never_negative or not x.is_float:
        return x.of("power" if x.has("power") else "power_of_positive", y)
    return _signed_power(x, y)


def _known_power(x: Expr, exponent: float) -> Expr | None:
    """Small constant exponents: roots and products."""
    if exponent == 0:
        return x.constant(1)
    if math.isnan(exponent):
        return x.equals(1).where(x.constant(1), math.nan)
    if exponent == 1:
        return x
    if abs(exponent) == 0.5 and not x.is_integer:
        return x.of("sqrt" if exponent > 0 else "rsqrt")
    if exponent == 3 and x.has("cube"):
        return x.of("cube")
    largest = 3 if x.has("power") else math.inf if x.is_integer else 64
    is_whole = abs(exponent) <= largest and exponent == int(exponent)
    if not is_whole or (x.is_integer and exponent < 0):
        return None
    result = _product_power(x, abs(int(exponent)))
    return result if exponent > 0 else result.of("reciprocal")


def root_as_power(x: Expr, exponent: Expr) -> Expr:
    """C's ``pow`` by 0.5 or -0.5, which of -0.0 and -inf is no root."""
    root, of_infinity = ("sqrt", math.inf) if exponent.number == 0.5 else ("rsqrt", 0.0)
    return x.equals(-math.inf).where(of_infinity, abs(x.of(root)))


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


def _signed_power(x: Expr, y: Expr) -> Expr:
    """``|x| ** y`` with the sign of an odd whole power: engines compute it by logarithms, for positive numbers.

    1 for ``y == 0`` and for ``|x| == 1``, whatever the other is; NaN for a broken power of a finite negative number.
    """
    size, half = abs(x), y * 0.5
    whole = y.of("floor").equals(y)
    odd = whole & half.of("floor").differs(half)
    power = size.equals(1.0).where(1.0, size.of("power_of_positive", y))
    power = y.equals(0.0).where(1.0, power)
    signed = odd.where(power.of("copysign", x), power)
    undefined = (x < 0.0) & size.differs(math.inf) & ~whole
    return undefined.where(math.nan, signed)


@formula("power_of_integers")
def power_of_integers(x: Expr, y: Expr) -> Expr:
    """By squaring; a negative exponent leaves 1 of 1, -1 or 1 of -1, and 0 of others."""
    one = x.constant(1)
    result, factor = one, x
    for bit in range(y.bits - (not y.is_unsigned)):
        if bit > 0:
            factor = _square_of_integer(factor)
        result = (y & y.constant(1 << bit)).equals(0).where(result, result * factor)
    if y.is_unsigned:
        return result
    odd = (y & y.constant(1)).differs(0)
    inverse = x.equals(-1).where(odd.where(x, one), x.equals(1).where(one, 0))
    return (y < 0).where(inverse, result)


def _square_of_integer(x: Expr) -> Expr:
    """Of a number that is known, a number: 63 squares of one are more constants than IREE computes in a dispatch."""
    if isinstance(x.number, int):
        return x.constant(x.number * x.number % (1 << x.bits))
    return x * x


# exponentials and logarithms


@formula("sigmoid")
def sigmoid(x: Expr) -> Expr:
    """``1 / (1 + exp(-x))``."""
    return 1 / ((-x).of("exp") + 1)


@formula("expm1")
def expm1(x: Expr) -> Expr:
    """``tanh(x / 2) * (e**x + 1)``, an identity without cancellation."""
    return (x * 0.5).of("tanh") * (x.of("exp") + 1.0)


@formula("log1p")
def log1p(x: Expr) -> Expr:
    """``log(u) * x / (u - 1)`` with ``u = 1 + x`` as rounded, which cancels the rounding (Kahan).

    ``x`` itself where ``u`` is 1, ``log(u)`` where ``u`` is ``x``, infinity included.
    """
    u = x + 1.0
    excess = u - 1.0
    logarithm = u.of("log")
    corrected = logarithm * (x / excess)
    return excess.equals(0.0).where(x, u.equals(x).where(logarithm, corrected))


@formula("log2")
def log2(x: Expr) -> Expr:
    """``log(x) / log(2)``."""
    return x.of("log") / math.log(2)


@formula("log10")
def log10(x: Expr) -> Expr:
    """``log(x) / log(10)``."""
    return x.of("log") / math.log(10)


# hyperbolic functions


@formula("cosh")
def cosh(x: Expr) -> Expr:
    """``(e**|x| + e**-|x|) / 2`` with ``e**|x|`` as a square, which overflows no sooner than the result."""
    root = (abs(x) * 0.5).of("exp")
    inverse = root.of("reciprocal")
    return root * 0.5 * root + inverse * 0.5 * inverse


@formula("sinh")
def sinh(x: Expr) -> Expr:
    """``tanh(x / 2) * (cosh(x) + 1)``, an identity without cancellation."""
    return (x * 0.5).of("tanh") * (x.of("cosh") + 1.0)


@formula("asinh")
def asinh(x: Expr) -> Expr:
    """``log1p(|x| + x**2 / (1 + sqrt(x**2 + 1)))`` with the sign of ``x``; ``log(2 |x|)`` for large ones."""
    size = abs(x)
    large = size > _LARGE
    square = size * size
    small = (size + square / ((square + 1.0).of("sqrt") + 1.0)).of("log1p")
    return large.where(size.of("log") + math.log(2), small).of("copysign", x)


@formula("acosh")
def acosh(x: Expr) -> Expr:
    """``log1p(t + sqrt(2 t + t**2))`` with ``t = x - 1``; ``log(2 x)`` where the square is too large, NaN below 1."""
    above = (x < 1.0).where(math.nan, x - 1.0)
    small = (above + (above * 2.0 + above * above).of("sqrt")).of("log1p")
    return (x > _LARGE).where(x.of("log") + math.log(2), small)


@formula("atanh")
def atanh(x: Expr) -> Expr:
    """``log1p(2 |x| / (1 - |x|)) / 2`` with the sign of ``x``."""
    size = abs(x)
    return ((size * 2.0 / (1.0 - size)).of("log1p") * 0.5).of("copysign", x)


# angles


@formula("tan")
def tan(x: Expr) -> Expr:
    """``sin(x) / cos(x)``."""
    return x.of("sin") / x.of("cos")


@formula("atan")
def atan(x: Expr) -> Expr:
    """Odd; above 1, a right angle less the arc tangent of the reciprocal."""
    size = abs(x)
    steep = size > 1.0
    angle = _atan_up_to_one(steep.where(size.of("reciprocal"), size))
    return steep.where(math.pi / 2 - angle, angle).of("copysign", x)


def _atan_up_to_one(x: Expr) -> Expr:
    """The arc tangent of ``0 <= x <= 1``; above ``tan(pi/8)`` it is ``pi/4 + atan((x - 1) / (x + 1))``."""
    upper = x > math.tan(math.pi / 8)
    reduced = upper.where((x - 1.0) / (x + 1.0), x)
    square = reduced * reduced
    angle = polynomial(square, *_ATAN) * square * reduced + reduced
    return upper.where(angle + math.pi / 4, angle)


@formula("atan2")
def atan2(y: Expr, x: Expr) -> Expr:
    """The angle of the point ``(x, y)``: from the arc tangent of a quotient up to 1; zeros count by their sign."""
    height, width = abs(y), abs(x)
    smaller, larger = height.of("min", width), height.of("max", width)
    equal = smaller.equals(larger) & (larger > 0.0)
    quotient = equal.where(1.0, larger.equals(0.0).where(0.0, smaller / larger))
    angle = quotient.of("atan") if quotient.has("atan") else _atan_up_to_one(quotient)
    angle = (height > width).where(math.pi / 2 - angle, angle)
    full = signbit(x).where(math.pi - angle, angle)
    return (y.equals(y) & x.equals(x)).where(signbit(y).where(-full, full), math.nan)


def _asin_up_to_half(x: Expr, square: Expr) -> Expr:
    return polynomial(square, *_ASIN) * square * x + x


@formula("asin")
def asin(x: Expr) -> Expr:
    """Odd; above a half, a right angle less twice the arc sine of the root of half the rest."""
    size = abs(x)
    upper = size > 0.5
    square = upper.where(0.5 - size * 0.5, size * size)
    angle = _asin_up_to_half(upper.where(square.of("sqrt"), size), square)
    return upper.where(math.pi / 2 - angle * 2.0, angle).of("copysign", x)


@formula("acos")
def acos(x: Expr) -> Expr:
    """``pi/2 - asin(x)`` up to 1/2, ``2 asin(sqrt((1 - |x|) / 2))`` above, ``pi`` minus that for negative ``x``."""
    size = abs(x)
    upper = size > 0.5
    square = upper.where(0.5 - size * 0.5, size * size)
    angle = _asin_up_to_half(upper.where(square.of("sqrt"), x), square)
    double = angle * 2.0
    return upper.where((x < 0.0).where(math.pi - double, double), math.pi / 2 - angle)


# shifts


def shift_left(x: Expr, count: Expr, bits: int) -> Expr:
    """``x << count``; 0 for counts outside of the ``bits`` of an element."""
    inside, places = _places(count, bits)
    shifted = x.of("shl", places)
    return shifted if inside is None else inside.where(shifted, 0)


def shift_right(x: Expr, count: Expr, bits: int) -> Expr:
    """``x >> count`` with the sign coming in; nothing but the sign is left for counts outside of the element."""
    if not x.is_unsigned:
        return x.of("shr", _places(count, bits, outside=x.bits - 1)[1])
    inside, places = _places(count, bits)
    shifted = x.of("shr", places)
    return shifted if inside is None else inside.where(shifted, 0)


def _places(count: Expr, bits: int, outside: int = 0) -> tuple[Expr | None, Expr]:
    """Whether an element has so many bits to shift by, None where that is known, and counts, ``outside`` if not."""
    if isinstance(count.number, int) and 0 <= count.number < bits:
        return None, count
    inside = count < bits
    if not count.is_unsigned:
        inside = inside & (count >= 0)
    return inside, inside.where(count, outside)
