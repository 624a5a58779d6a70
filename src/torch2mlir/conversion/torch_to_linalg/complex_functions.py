"""Functions of complex numbers that MLIR has no op for, or that IREE gets wrong at zero, on elements.

W. Kahan, "Branch cuts for complex elementary functions" (1987), says acos, asin, acosh and atanh by real functions of
square roots, and the others by these.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from torch2mlir.conversion.expressions import Expr

if TYPE_CHECKING:
    from torch2mlir.conversion.lowering import Scalar
    from torch2mlir.conversion.torch_to_linalg.scalars import Scalars
    from torch2mlir.conversion.torch_to_linalg.words import LinalgWords

Function = Callable[["LinalgWords", "Scalar"], "Scalar"]


def _real(words: LinalgWords, word: str, *values: Scalar) -> Scalar:
    """A word on real numbers, or its formula."""
    first, *others = (Expr(words, value) for value in values)
    result: Scalar = first.of(word, *others).value
    return result


def _roots(s: Scalars, z: Scalar) -> tuple[Scalar, Scalar]:
    """The square roots of ``1 - z`` and ``1 + z``."""
    one = s.constant(1, z.dtype)
    return s("sqrt", s("sub", one, z)), s("sqrt", s("add", one, z))


def acos(words: LinalgWords, z: Scalar) -> Scalar:
    """``2 atan(re a / re b) + i asinh(im(conj(b) a))`` with the roots ``a`` of ``1 - z`` and ``b`` of ``1 + z``."""
    s = words.scalars
    a, b = _roots(s, z)
    angle = s("mul", _real(words, "atan2", s.real(a), s.real(b)), 2)
    return s.create_complex(angle, _real(words, "asinh", _imaginary_part(s, b, a)), z.dtype)


def asin(words: LinalgWords, z: Scalar) -> Scalar:
    """``atan(re z / re(a b)) + i asinh(im(conj(a) b))``, the roots as in :func:`acos`."""
    s = words.scalars
    a, b = _roots(s, z)
    angle = _real(words, "atan2", s.real(z), s.real(s("mul", a, b)))
    return s.create_complex(angle, _real(words, "asinh", _imaginary_part(s, a, b)), z.dtype)


def acosh(words: LinalgWords, z: Scalar) -> Scalar:
    """``asinh(re(conj(a) b)) + 2 i atan(im a / re b)`` with the roots ``a`` of ``z - 1`` and ``b`` of ``z + 1``."""
    s = words.scalars
    a, b = s("sqrt", s("sub", z, 1)), s("sqrt", s("add", z, 1))
    (ar, ai), (br, bi) = s.parts(a), s.parts(b)
    size = _real(words, "asinh", s("add", s("mul", ar, br), s("mul", ai, bi)))
    return s.create_complex(size, s("mul", _real(words, "atan2", ai, br), 2), z.dtype)


def atanh(words: LinalgWords, z: Scalar) -> Scalar:
    """``log1p(4 x / ((1 - x)**2 + y**2)) / 4 + i atan(2 y / ((1 - x) (1 + x) - y**2)) / 2``."""
    s = words.scalars
    x, y = s.parts(z)
    below, above, square = s("sub", 1, x), s("add", x, 1), s("mul", y, y)
    distance = s("add", s("mul", below, below), square)
    size = s("mul", _real(words, "log1p", s("div", s("mul", x, 4), distance)), 0.25)
    angle = _real(words, "atan2", s("mul", y, 2), s("sub", s("mul", below, above), square))
    return s.create_complex(size, s("mul", angle, 0.5), z.dtype)


def sinh(words: LinalgWords, z: Scalar) -> Scalar:
    """``sinh(x) cos(y) + i cosh(x) sin(y)``."""
    s = words.scalars
    x, y = s.parts(z)
    real = s("mul", _real(words, "sinh", x), s("cos", y))
    return s.create_complex(real, s("mul", _real(words, "cosh", x), s("sin", y)), z.dtype)


def cosh(words: LinalgWords, z: Scalar) -> Scalar:
    """``cosh(x) cos(y) + i sinh(x) sin(y)``."""
    s = words.scalars
    x, y = s.parts(z)
    real = s("mul", _real(words, "cosh", x), s("cos", y))
    return s.create_complex(real, s("mul", _real(words, "sinh", x), s("sin", y)), z.dtype)


def rotated(code: Function) -> Function:
    """``-i f(i z)``: the inverse function of a hyperbolic one from that of a circular one, and the other way round."""

    def build(words: LinalgWords, z: Scalar) -> Scalar:
        s = words.scalars
        x, y = s.parts(z)
        result = code(words, s.create_complex(s("neg", y), x, z.dtype))
        real, imaginary = s.parts(result)
        return s.create_complex(imaginary, s("neg", real), z.dtype)

    return build


def log(words: LinalgWords, z: Scalar, base: float = math.e) -> Scalar:
    """``log |z| + i atan2(y, x)``, each divided by the logarithm of the base."""
    s = words.scalars
    x, y = s.parts(z)
    parts = s("log", s.magnitude(z)), _real(words, "atan2", y, x)
    if base != math.e:
        parts = s("div", parts[0], math.log(base)), s("div", parts[1], math.log(base))
    return s.create_complex(*parts, z.dtype)


FUNCTIONS: dict[str, Function] = {
    "acos": acos,
    "acosh": acosh,
    "asin": asin,
    "asinh": rotated(asin),
    "atan": rotated(atanh),
    "atanh": atanh,
    "cosh": cosh,
    "log": log,
    "log10": partial(log, base=10),
    "log2": partial(log, base=2),
    "sinh": sinh,
}
"""Functions of complex numbers that are a formula."""


def _imaginary_part(s: Scalars, a: Scalar, b: Scalar) -> Scalar:
    """The imaginary part of ``conj(a) b``."""
    (ar, ai), (br, bi) = s.parts(a), s.parts(b)
    return s("sub", s("mul", ar, bi), s("mul", ai, br))
