"""Functions of complex numbers by real functions of parts; the same ops on real numbers are core.

IREE 3.13 has no code for exponentials and sines whose parts are doubles, and engines lose the sign of zeros, by which
the sides of branch cuts are told apart: ``sqrt(-4 - 0j)`` is ``-2j``. W. Kahan, "Branch cuts for complex elementary
functions" (1987), says acos, asin, acosh and atanh by real functions of square roots.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten
prims = torch.ops.prims

Function = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


def _of_complex(overload: OpOverload) -> Callable[[Function], Function]:
    """Registers a function of real and imaginary part that gives both as what an op is on complex numbers."""

    def register(function: Function) -> Function:
        @decomposes(overload)
        def decomposition(z: Tensor) -> Tensor:
            if not z.is_complex():
                return NotImplemented
            return aten.complex(*function(prims.real(z), prims.imag(z)))

        return function

    return register


@_of_complex(aten.sqrt.default)
def _sqrt(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """``t = sqrt((|x| + |z|) / 2)`` and ``y / 2 t``, exchanged for negative ``x``.

    Scaled by a power of four, nothing of it overflows, and no small number is lost.
    """
    is_large = torch.maximum(torch.abs(x), torch.abs(y)) > 1
    scale = torch.where(is_large, 2.0**-4, 2.0**8).to(x.dtype)
    t = torch.sqrt((torch.abs(x) * scale + prims.hypot(x * scale, y * scale)) / 2)
    t = t * torch.where(is_large, 2.0**2, 2.0**-4).to(x.dtype)
    other = torch.abs(y) / (2 * t)
    other = torch.where(t == 0, torch.abs(y), other)
    is_right = x >= 0
    real = torch.where(is_right, t, other)
    imaginary = torch.copysign(torch.where(is_right, other, t), y)
    is_infinite = torch.isinf(y)
    is_nan = torch.isnan(x) & ~is_infinite
    return (
        torch.where(is_infinite, math.inf, torch.where(is_nan, x, real)),
        torch.where(is_infinite, y, torch.where(is_nan, x, imaginary)),
    )


@_of_complex(aten.exp.default)
def exp_of_parts(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """``exp(x) * (cos(y) + 1j * sin(y))``, where the size may be infinite and the angle no number."""
    size, has_angle = torch.exp(x), torch.isfinite(y)
    unturned = torch.where(torch.isinf(x), size, math.nan)
    none = torch.where(x == -math.inf, torch.where(y < 0, -0.0, 0.0).to(x.dtype), math.nan)
    imaginary = torch.where(has_angle, size * torch.sin(y), none)
    return (
        torch.where(has_angle, size * torch.cos(y), unturned),
        torch.where(y == 0, y, imaginary),
    )


@_of_complex(aten.sin.default)
def sin_of_parts(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """``sin(x) * cosh(y) + 1j * cos(x) * sinh(y)``, where both may be infinite or no number."""
    beyond = torch.where(y == 0, y, _only_infinite(y))
    return (
        torch.where(x == 0, x, torch.sin(x) * torch.cosh(y)),
        torch.where(torch.isfinite(x), torch.cos(x) * torch.sinh(y), beyond),
    )


@_of_complex(aten.cos.default)
def cos_of_parts(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """``cos(x) * cosh(y) - 1j * sin(x) * sinh(y)``, where both may be infinite or no number."""
    is_finite = torch.isfinite(x)
    sign = torch.where(torch.isnan(y), -1.0, torch.where(torch.isinf(y), torch.sign(y), y))
    imaginary = torch.where(x == 0, x * sign, torch.sin(x) * torch.sinh(y))
    return (
        torch.where(is_finite, torch.cos(x) * torch.cosh(y), _only_infinite(y)),
        torch.where(is_finite | (y != 0), -imaginary, 0.0),
    )


def _only_infinite(y: Tensor) -> Tensor:
    """Infinity where a number is infinite, else NaN."""
    return torch.where(torch.isinf(y), torch.full_like(y, math.inf), math.nan)


@decomposes(aten.rsqrt.default)
def _rsqrt(z: Tensor) -> Tensor:
    return torch.reciprocal(torch.sqrt(z)) if z.is_complex() else NotImplemented


@_of_complex(aten.log.default)
def _log(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """``log |z|``, from what is above 1 of its square near there, and the angle."""
    size = prims.hypot(x, y)
    larger = torch.maximum(torch.abs(x), torch.abs(y))
    smaller = torch.minimum(torch.abs(x), torch.abs(y))
    above = (larger - 1) * (larger + 1) + smaller * smaller
    is_near = (size > 0.5) & (size < 2)
    near = torch.log1p(torch.where(is_near, above, 0)) / 2
    return torch.where(is_near, near, torch.log(size)), torch.atan2(y, x)


def _of_base(base: float) -> Function:
    def function(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        size, angle = _log(x, y)
        return size / math.log(base), angle / math.log(base)

    return function


_of_complex(aten.log2.default)(_of_base(2))
_of_complex(aten.log10.default)(_of_base(10))


@_of_complex(aten.log1p.default)
def _log1p(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """``log1p(x (x + 2) + y**2) / 2`` near zero, and the angle of ``1 + z``."""
    is_near = prims.hypot(x, y) < 0.5
    square = torch.where(is_near, x * (x + 2) + y * y, 0)
    near = torch.where(square == 0, x, torch.log1p(square) / 2)
    far = torch.log(prims.hypot(x + 1, y))
    return torch.where(is_near, near, far), torch.atan2(y, x + 1)


def _roots(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The parts of the square roots of ``1 - z`` and ``1 + z``."""
    return *_sqrt(1 - x, -y), *_sqrt(1 + x, y)


@_of_complex(aten.acos.default)
def _acos(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """``2 atan(re a / re b) + i asinh(im(conj(b) a))`` with the roots ``a`` of ``1 - z`` and ``b`` of ``1 + z``."""
    ar, ai, br, bi = _roots(x, y)
    return 2 * torch.atan2(ar, br), torch.asinh(br * ai - bi * ar)


@_of_complex(aten.asin.default)
def _asin(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """``atan(x / re(a b)) + i asinh(im(conj(a) b))``, the roots as in :func:`_acos`."""
    ar, ai, br, bi = _roots(x, y)
    return torch.atan2(x, ar * br - ai * bi), torch.asinh(ar * bi - ai * br)


@_of_complex(aten.acosh.default)
def _acosh(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """``asinh(re(conj(a) b)) + 2 i atan(im a / re b)`` with the roots ``a`` of ``z - 1`` and ``b`` of ``z + 1``."""
    (ar, ai), (br, bi) = _sqrt(x - 1, y), _sqrt(x + 1, y)
    return torch.asinh(ar * br + ai * bi), 2 * torch.atan2(ai, br)


@_of_complex(aten.atanh.default)
def _atanh(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """``log1p(4 x / ((1 - x)**2 + y**2)) / 4 + i atan(2 y / ((1 - x) (1 + x) - y**2)) / 2``."""
    below, square = 1 - x, y * y
    size = torch.log1p(4 * torch.abs(x) / (torch.where(x < 0, 1 + x, below) ** 2 + square)) / 4
    return torch.copysign(size, x), torch.atan2(2 * y, below * (1 + x) - square) / 2


@_of_complex(aten.cosh.default)
def _cosh(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """``cosh(x) cos(y) + i sinh(x) sin(y)``."""
    flat = torch.copysign(y, x) * torch.copysign(torch.ones_like(y), y)
    return torch.cosh(x) * torch.cos(y), torch.where(y == 0, flat, torch.sinh(x) * torch.sin(y))


@_of_complex(aten.sinh.default)
def _sinh(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """``sinh(x) cos(y) + i cosh(x) sin(y)``."""
    return torch.sinh(x) * torch.cos(y), torch.where(y == 0, y, torch.cosh(x) * torch.sin(y))


@_of_complex(aten.tanh.default)
def _tanh(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """``(1 - e**2 + 2 i e sin(2 y)) / (1 + e**2 + 2 e cos(2 y))`` with ``e = exp(-2 |x|)``, and the sign of ``x``."""
    twice = -2 * torch.abs(x)
    e, sine, cosine = torch.exp(twice), torch.sin(y), torch.cos(y)
    below = torch.expm1(twice)
    size = below * below + 4 * e * cosine * cosine
    real = torch.copysign(-torch.expm1(2 * twice) / size, x)
    return real, torch.where(y == 0, y, 4 * e * sine * cosine / size)


def _turned(function: Function) -> Function:
    """``-i f(i z)``: a circular function from the hyperbolic one, and the other way round."""

    def turned(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        real, imaginary = function(-y, x)
        return imaginary, -real

    return turned


_of_complex(aten.asinh.default)(_turned(_asin))
_of_complex(aten.atan.default)(_turned(_atanh))
_of_complex(aten.tan.default)(_turned(_tanh))


@decomposes(aten.pow.Tensor_Scalar, aten.pow.Tensor_Tensor, aten.pow.Scalar)
def _pow(base: Any, exponent: Any) -> Tensor:
    """``exp(exponent log(base))``, 0 of a base of 0; roots and products for exponents that PyTorch has kernels for."""
    dtype = torch.result_type(base, exponent)
    if not dtype.is_complex:
        return NotImplemented
    if not torch.is_tensor(exponent):
        base = base.to(dtype)
        if (known := _known_power(base, exponent)) is not None:
            return known
    (x, y), (real, imaginary) = _parts(base, dtype), _parts(exponent, dtype)
    if torch.is_tensor(base):
        size, angle = _log(x, y)
    else:
        size, angle = _log(torch.full_like(real, x), torch.full_like(real, y))
    x, y = real * size - imaginary * angle, real * angle + imaginary * size
    return aten.complex(*exp_of_parts(x, y))


def _parts(z: Any, dtype: torch.dtype) -> tuple[Any, Any]:
    """Of a tensor, or of a number."""
    if torch.is_tensor(z):
        z = z.to(dtype)
        return prims.real(z), prims.imag(z)
    return complex(z).real, complex(z).imag


def _known_power(base: Tensor, exponent: complex) -> Tensor | None:
    if exponent == 0:
        return torch.ones_like(base)
    if abs(exponent) == 0.5 and exponent.imag == 0:
        return torch.sqrt(base) if exponent.real > 0 else torch.rsqrt(base)
    if exponent == -1:
        return torch.reciprocal(base)
    if exponent == -2:
        return torch.reciprocal(base * base)
    products = {1: base, 2: base * base, 3: base * base * base}
    return products.get(exponent)  # type: ignore[call-overload]
