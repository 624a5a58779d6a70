"""The gamma function's family: log-gamma, its derivatives, Hurwitz' zeta, incomplete gamma functions."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.types import Number

from torch2mlir.transforms.decompositions.expansions import on_floats, polynomial
from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten
prims = torch.ops.prims

# Lanczos' approximation with g = 7 and nine terms, https://en.wikipedia.org/wiki/Lanczos_approximation
_LANCZOS_G = 7.0
_LANCZOS = (
    0.99999999999980993227684700473478,
    676.520368121885098567009190444019,
    -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,
    -176.61502916214059906584551354,
    12.507343278686904814458936853,
    -0.13857109526572011689554707,
    9.984369578019570859563e-6,
    1.50563273514931155834e-7,
)
_DIGAMMA = tuple(
    bernoulli / (2 * n)
    for n, bernoulli in (
        (7, 7 / 6),
        (6, -691 / 2730),
        (5, 5 / 66),
        (4, -1 / 30),
        (3, 1 / 42),
        (2, -1 / 30),
        (1, 1 / 6),
    )
)
"""``B(2n) / 2n``, https://dlmf.nist.gov/5.11.E2."""
_ZETA_STEPS = 9
_ZETA_CORRECTIONS = (
    12.0,
    -720.0,
    30240.0,
    -1209600.0,
    47900160.0,
    -1.8924375803183791606e9,
    7.47242496e10,
    -2.950130727918164224e12,
    1.1646782814350067249e14,
    -4.5979787224074726105e15,
    1.8152105401943546773e17,
    -7.1661652561756670113e18,
)
"""``(2n)! / B(2n)``, of Euler and Maclaurin's sum."""


@decomposes(prims.lgamma.default, aten.lgamma.default)
@on_floats
def _lgamma(x: Tensor) -> Tensor:
    """``log|gamma(x)|``: Lanczos above 1/2, Euler's reflection below; infinite at the poles."""
    reflected = x < 0.5
    z = torch.where(reflected, -x, x - 1)
    series: Any = _LANCZOS[0]
    for index, coefficient in enumerate(_LANCZOS[1:], 1):
        series = series + coefficient / (z + index)
    # log(z + g + 1/2), where small z keep their digits
    base = _LANCZOS_G + 0.5
    logarithm = torch.log1p(z / base) + math.log(base)
    exponent = (z + 0.5 - (z + base) / logarithm) * logarithm
    above = exponent + math.log(2 * math.pi) / 2 + torch.log(series)
    # the sine of pi x, from the distance to the next whole number
    fraction = x.abs() - torch.floor(x.abs())
    sine = torch.log(torch.sin(math.pi * torch.where(fraction > 0.5, 1 - fraction, fraction)))
    below = torch.where(torch.isinf(sine), -sine, math.log(math.pi) - sine - above)
    result = torch.where(reflected, below, above)
    return torch.where(torch.isinf(x), math.inf, result)


@decomposes(prims.digamma.default, aten.digamma.default)
@on_floats
def _digamma(x: Tensor) -> Tensor:
    """``psi(x)``: ten steps of the recurrence and the asymptotic series; reflected for negative ``x``.

    https://dlmf.nist.gov/5.5 and https://dlmf.nist.gov/5.11. Infinite at 0, undefined at negative whole numbers.
    """
    negative = x < 0
    z = torch.where(negative, 1 - x, x)
    steps: Any = 1 / z
    for step in range(1, 10):
        steps = steps + 1 / (z + step)
    y = z + 10
    square = 1 / (y * y)
    positive = torch.log(y) - 0.5 / y - square * polynomial(square, _DIGAMMA) - steps
    positive = torch.where(torch.isinf(z), z, positive)
    fraction = x - torch.round(x)
    below = positive - math.pi / torch.tan(math.pi * fraction)
    below = torch.where(fraction == 0, math.nan, below)
    return torch.where(x == 0, -1 / x, torch.where(negative, below, positive))


@decomposes(aten.polygamma.default)
def _polygamma(n: int, x: Tensor) -> Tensor:
    """The ``n``-th derivative of ``psi``."""
    if n == 0:
        return torch.digamma(x)
    if n == 1:
        return _trigamma(x)
    return _higher_polygamma(x, n)


@on_floats
def _trigamma(x: Any) -> Any:
    """PyTorch's own form: six steps of the recurrence, three terms of the series, reflected below 1/2."""
    reflected = x < 0.5
    z = torch.where(reflected, 1 - x, x)
    result: Any = 1 / (z * z)
    for step in range(1, 6):
        shifted = z + step
        result = result + 1 / (shifted * shifted)
    z = z + 6
    square = 1 / (z * z)
    series = square * (1 / 6 - square * (1 / 30 - square * (1 / 42)))
    result = result + (1 + 1 / (2 * z) + series) / z
    sine = torch.sin(math.pi * x)
    return torch.where(reflected, math.pi**2 / (sine * sine) - result, result)


def _higher_polygamma(x: Tensor, n: int) -> Tensor:
    """``(-1)**(n + 1) n! zeta(n + 1, x)``, https://dlmf.nist.gov/25.11.E12."""
    factor = (-1) ** (n + 1) * math.exp(math.lgamma(n + 1))
    return on_floats(lambda q: factor * _zeta_of_number(n + 1, q))(x)


def _zeta_of_number(s: int, q: Tensor) -> Tensor:
    """Hurwitz' zeta of a whole number above 1."""
    return _zeta_anywhere(s, q, -1.0 if s % 2 else 1.0)


@decomposes(prims.zeta.default, aten.special_zeta.default)
@on_floats
def _zeta(s: Tensor, q: Tensor) -> Tensor:
    """Hurwitz' zeta; infinite at ``s == 1`` and at ``q == 0, -1, ..``, undefined below 1 and for other roots."""
    odd = torch.floor(s / 2) * 2 != s
    result = _zeta_anywhere(s, q, torch.where(odd, -1.0, 1.0).to(s.dtype))
    undefined = (q < 0) & (torch.floor(q) != q) & (torch.floor(s) != s)
    result = torch.where(undefined | (s < 1), math.nan, result)
    return torch.where(s == 1, math.inf, result)


def _zeta_anywhere(s: Tensor | Number, q: Tensor, sign: Tensor | Number) -> Tensor:
    """From positive ``q`` by taking the terms on both sides of zero apart; ``sign`` is ``(-1)**s``.

    With ``r`` the fraction of a negative ``q``, the terms up to zero are those of ``zeta(s, 1 - r)`` without those of
    ``zeta(s, 1 - q)``, times ``(-1)**s``, and the terms above zero are ``zeta(s, r)``. At infinity it is 0, and NaN in
    PyTorch.
    """
    negative = q < 0
    fraction = torch.where(torch.isinf(q), 0.0, q - torch.floor(q))
    above = _zeta_positive(s, torch.where(negative, fraction, q))
    mirrored = torch.where(negative, 1 - q, 1.0)
    below = _zeta_positive(s, torch.where(negative, 1 - fraction, 1.0))
    behind = _zeta_positive(s, mirrored)
    below = below - torch.where(torch.isnan(behind), 0.0, behind)  # of a huge s
    result = torch.where(negative, above + sign * below, above)
    result = torch.where(q == math.inf, math.nan, result)
    return torch.where((q <= 0) & (fraction == 0), math.inf, result)


def _zeta_positive(s: Tensor | Number, q: Tensor) -> Tensor:
    """Terms, then Euler and Maclaurin's sum of the rest (Cephes, zeta)."""
    total = q**-s
    for step in range(1, _ZETA_STEPS):
        total = total + (q + step) ** -s
    w = q + _ZETA_STEPS
    last = w**-s
    rest = w ** (1 - s) / (s - 1) + last / 2  # last * w would be 0 where last is too small
    term = last * s / w
    square = 1 / (w * w)
    for index, divisor in enumerate(_ZETA_CORRECTIONS):
        rest = rest + term / divisor
        term = term * ((s + 2 * index + 1) * (s + 2 * index + 2)) * square
    negligible = last < torch.finfo(q.dtype).eps / 4 * total
    return torch.where(negligible, total + last, total + rest)
