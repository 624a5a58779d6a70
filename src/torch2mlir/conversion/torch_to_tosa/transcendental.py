"""Functions of floats as formulas over TOSA's own: exp, log, sin, cos, tanh, rsqrt, reciprocal.

Formulas are chosen so that small arguments keep their relative precision and infinities come out right. Polynomials are
those of the Cephes library, single precision (https://www.netlib.org/cephes/).
"""

from __future__ import annotations

import math

from torch2mlir.conversion.torch_to_tosa.expressions import Expr, polynomial

_ATAN = (8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1)
_ASIN = (4.2163199048e-2, 2.4181311049e-2, 4.5470025998e-2, 7.4953002686e-2, 1.6666752422e-1)
_LARGE = 2.0**24
"""From here on an f32 plus or minus 1 is itself."""


def expm1(x: Expr) -> Expr:
    """``tanh(x / 2) * (e**x + 1)``, an identity without cancellation."""
    return (x * 0.5).tanh() * (x.exp() + 1.0)


def log1p(x: Expr) -> Expr:
    """``log(u) * x / (u - 1)`` with ``u = 1 + x`` as rounded, which cancels the rounding (Kahan).

    ``x`` itself where ``u`` is 1, ``log(u)`` where ``u`` is ``x``, infinity included.
    """
    u = x + 1.0
    excess = u - 1.0
    logarithm = u.log()
    corrected = logarithm * (x / excess)
    return excess.equals(0.0).where(x, u.equals(x).where(logarithm, corrected))


def log2(x: Expr) -> Expr:
    """``log(x) / log(2)``."""
    return x.log() * (1 / math.log(2))


def log10(x: Expr) -> Expr:
    """``log(x) / log(10)``."""
    return x.log() * (1 / math.log(10))


def cosh(x: Expr) -> Expr:
    """``(e**|x| + e**-|x|) / 2`` with ``e**|x|`` as a square, which overflows no sooner than the result."""
    root = (abs(x) * 0.5).exp()
    inverse = root.reciprocal()
    return root * 0.5 * root + inverse * 0.5 * inverse


def sinh(x: Expr) -> Expr:
    """``tanh(x / 2) * (cosh(x) + 1)``, an identity without cancellation."""
    return (x * 0.5).tanh() * (cosh(x) + 1.0)


def tan(x: Expr) -> Expr:
    """``sin(x) / cos(x)``."""
    return x.sin() / x.cos()


def _atan_up_to_one(x: Expr) -> Expr:
    """The arc tangent of ``0 <= x <= 1``; above ``tan(pi/8)`` it is ``pi/4 + atan((x - 1) / (x + 1))``."""
    upper = x > math.tan(math.pi / 8)
    reduced = upper.where((x - 1.0) / (x + 1.0), x)
    square = reduced * reduced
    angle = polynomial(square, *_ATAN) * square * reduced + reduced
    return upper.where(angle + math.pi / 4, angle)


def _atan_of_quotient(numerator: Expr, denominator: Expr) -> Expr:
    """The arc tangent of a quotient of two numbers that are not negative, in ``[0, pi/2]``."""
    steep = numerator > denominator
    smaller, larger = numerator.minimum(denominator), numerator.maximum(denominator)
    equal = smaller.equals(larger) & (larger > 0.0)
    quotient = equal.where(1.0, larger.equals(0.0).where(0.0, smaller / larger))
    angle = _atan_up_to_one(quotient)
    return steep.where(math.pi / 2 - angle, angle)


def atan(x: Expr) -> Expr:
    """Odd; above 1, a right angle less the arc tangent of the reciprocal."""
    size = abs(x)
    steep = size > 1.0
    angle = _atan_up_to_one(steep.where(size.reciprocal(), size))
    return _with_sign(steep.where(math.pi / 2 - angle, angle), x)


def atan2(y: Expr, x: Expr) -> Expr:
    """The angle of the point ``(x, y)``; zeros count by their sign."""
    angle = _atan_of_quotient(abs(y), abs(x))
    full = is_negative(x).where(math.pi - angle, angle)
    return is_negative(y).where(-full, full)


def is_negative(x: Expr) -> Expr:
    """Whether the sign is minus, that of zero included."""
    return (x < 0.0) | (x.equals(0.0) & (x.reciprocal() < 0.0))


def _with_sign(magnitude: Expr, x: Expr) -> Expr:
    """An odd function's value from its value at ``|x|``."""
    return (x < 0.0).where(-magnitude, magnitude)


def _asin_up_to_half(x: Expr, square: Expr) -> Expr:
    return polynomial(square, *_ASIN) * square * x + x


def asin(x: Expr) -> Expr:
    """Odd; above a half, a right angle less twice the arc sine of the root of half the rest."""
    size = abs(x)
    upper = size > 0.5
    square = upper.where(0.5 - size * 0.5, size * size)
    angle = _asin_up_to_half(upper.where(square.sqrt(), size), square)
    return _with_sign(upper.where(math.pi / 2 - angle * 2.0, angle), x)


def acos(x: Expr) -> Expr:
    """``pi/2 - asin(x)`` up to 1/2, ``2 asin(sqrt((1 - |x|) / 2))`` above, ``pi`` minus that for negative ``x``."""
    size = abs(x)
    upper = size > 0.5
    square = upper.where(0.5 - size * 0.5, size * size)
    angle = _asin_up_to_half(upper.where(square.sqrt(), x), square)
    double = angle * 2.0
    return upper.where((x < 0.0).where(math.pi - double, double), math.pi / 2 - angle)


def asinh(x: Expr) -> Expr:
    """``log1p(|x| + x**2 / (1 + sqrt(x**2 + 1)))`` with the sign of ``x``; ``log(2 |x|)`` for large ones."""
    size = abs(x)
    large = size > _LARGE
    square = size * size
    small = log1p(size + square / ((square + 1.0).sqrt() + 1.0))
    return _with_sign(large.where(size.log() + math.log(2), small), x)


def acosh(x: Expr) -> Expr:
    """``log1p(t + sqrt(2 t + t**2))`` with ``t = x - 1``; ``log(2 x)`` where the square is too large."""
    above = x - 1.0
    small = log1p(above + (above * 2.0 + above * above).sqrt())
    return (x > _LARGE).where(x.log() + math.log(2), small)


def atanh(x: Expr) -> Expr:
    """``log1p(2 |x| / (1 - |x|)) / 2`` with the sign of ``x``."""
    size = abs(x)
    return _with_sign(log1p(size * 2.0 / (1.0 - size)) * 0.5, x)
