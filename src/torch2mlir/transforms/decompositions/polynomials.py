"""Orthogonal polynomials: Chebyshev's four by their trigonometric forms, the others by recurrence.

https://dlmf.nist.gov/18.5 and https://dlmf.nist.gov/18.9. Degrees are cut to whole numbers; a negative degree gives 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.types import Number

from torch2mlir.transforms.decompositions.expansions import iterate, on_floats
from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten

Polynomial = Callable[[Any, Any], Any]
LARGEST_HERMITE = {torch.float32: 128, torch.float64: 512}
"""The largest degrees of Hermite's polynomials; PyTorch gives NaN above."""
LARGEST_BY_RECURRENCE = 8
"""Of a Chebyshev polynomial whose degree is a number; above, the trigonometric form is shorter."""


def _sign(n: Tensor | Number) -> Tensor | Number:
    """``(-1)**n``."""
    odd = n - 2 * torch.floor(n / 2) if torch.is_tensor(n) else n % 2
    return 1 - 2 * odd


def _chebyshev(
    angular: Polynomial, above: Polynomial, below: Polynomial, one: Polynomial
) -> Polynomial:
    """A polynomial by its forms between -1 and 1, above and below, and at the ends.

    Args:
        angular: of ``acos(x)`` and the degree.
        above: of ``acosh(x)`` and the degree, where ``x > 1``.
        below: of ``acosh(-x)`` and the degree, where ``x < -1``, up to the sign ``(-1)**n``.
        one: of ``x``, which is 1 or -1, and the degree.
    """

    def polynomial(x: Tensor, n: Tensor | Number) -> Tensor:
        n = torch.trunc(n) if torch.is_tensor(n) else float(n)
        size = x.abs()
        inside = angular(torch.acos(torch.where(size < 1, x, 0.0)), n)
        hyperbolic = torch.acosh(torch.where(size > 1, size, 2.0))
        outside = torch.where(x > 0, above(hyperbolic, n), _sign(n) * below(hyperbolic, n))
        result = torch.where(size < 1, inside, torch.where(size == 1, one(x, n), outside))
        result = torch.where(torch.isnan(x), x, result)
        if not torch.is_tensor(n):
            return result
        return torch.where(n < 0, 0.0, torch.where(n == 0, 1.0, result))

    return polynomial


def _at_ends(at_one: Polynomial, at_minus_one: Polynomial) -> Polynomial:
    """``at_minus_one`` is up to the sign ``(-1)**n``."""
    return lambda x, n: torch.where(x > 0, at_one(x, n), _sign(n) * at_minus_one(x, n))


def _unity(x: Tensor, n: Tensor | Number) -> Tensor:
    return torch.ones_like(x)


def _linear(factor: int) -> Polynomial:
    return lambda x, n: torch.zeros_like(x) + (factor * n + 1)


_T = _chebyshev(
    lambda angle, n: torch.cos(n * angle),
    lambda t, n: torch.cosh(n * t),
    lambda t, n: torch.cosh(n * t),
    _at_ends(_unity, _unity),
)
_U = _chebyshev(
    lambda angle, n: torch.sin((n + 1) * angle) / torch.sin(angle),
    lambda t, n: torch.sinh((n + 1) * t) / torch.sinh(t),
    lambda t, n: torch.sinh((n + 1) * t) / torch.sinh(t),
    _at_ends(_linear(1), _linear(1)),
)
_V = _chebyshev(
    lambda angle, n: torch.cos((n + 0.5) * angle) / torch.cos(angle / 2),
    lambda t, n: torch.cosh((n + 0.5) * t) / torch.cosh(t / 2),
    lambda t, n: torch.sinh((n + 0.5) * t) / torch.sinh(t / 2),
    _at_ends(_unity, _linear(2)),
)
_W = _chebyshev(
    lambda angle, n: torch.sin((n + 0.5) * angle) / torch.sin(angle / 2),
    lambda t, n: torch.sinh((n + 0.5) * t) / torch.sinh(t / 2),
    lambda t, n: torch.cosh((n + 0.5) * t) / torch.cosh(t / 2),
    _at_ends(_linear(2), _unity),
)


def _recurrence(
    first: Callable[[Any], Any],
    step: Callable[[Any, Any, Any, Any], Any],
    limits: Mapping[torch.dtype, int] | None = None,
) -> tuple[Polynomial, Polynomial]:
    """A family by its three-term recurrence, for degrees that are tensors and that are numbers.

    Args:
        first: the polynomial of degree 1.
        step: degree ``k + 1`` of ``x``, degrees ``k`` and ``k - 1``, and ``k``.
        limits: the largest degree by element type; NaN above.
    """

    def by_tensor(x: Any, n: Any) -> Any:
        x, n = torch.broadcast_tensors(x, torch.trunc(n))
        limit = math.inf if limits is None else limits[x.dtype]
        wanted = torch.where(n <= limit, n, 0.0)

        def unfinished(k: Any, x: Any, n: Any, *_: object) -> Any:
            return torch.any(n > k)

        def body(k: Any, x: Any, n: Any, before: Any, current: Any, result: Any) -> Sequence[Any]:
            following = step(x, current, before, k)
            k = k + 1
            return k, x, n, current, following, torch.where(n == k, following, result)

        degree, before, current = torch.ones([], dtype=x.dtype), torch.ones_like(x), first(x)
        result = torch.where(n == 1, current, before)
        result = iterate(unfinished, body, degree, x, wanted, before, current, result)[-1]
        result = torch.where(n > limit, math.nan, result)
        return torch.where(n >= 0, result, 0.0)

    def by_number(x: Tensor, n: int) -> Tensor:
        if n < 0:
            return torch.zeros_like(x)
        before, current = torch.ones_like(x), first(x)
        for k in range(1, n):
            before, current = current, step(x, current, before, k)
        return current if n else before

    return by_tensor, by_number


def _registered(name: str, by_tensor: Polynomial, by_number: Polynomial) -> None:
    """All overloads of a family, ``x`` and the degree being tensors or one of them a number."""
    packet = getattr(aten, f"special_{name}")
    decomposes(packet.default, packet.x_scalar)(on_floats(by_tensor))

    def of_number(x: Tensor, n: int) -> Tensor:
        return on_floats(lambda x: by_number(x, math.trunc(n)))(x)

    decomposes(packet.n_scalar)(of_number)


def _register_chebyshev(kind: str, closed: Polynomial, first: Callable[[Any], Any]) -> None:
    """Both intervals of a kind; a small degree that is a number goes by recurrence."""
    _, by_recurrence = _recurrence(first, lambda x, q, p, k: (x + x) * q - p)

    def by_number(x: Tensor, n: int) -> Tensor:
        return (closed if n > LARGEST_BY_RECURRENCE else by_recurrence)(x, n)

    _registered(f"chebyshev_polynomial_{kind}", closed, by_number)
    _registered(
        f"shifted_chebyshev_polynomial_{kind}",
        lambda x, n: closed(x + x - 1, n),
        lambda x, n: by_number(x + x - 1, n),
    )


_register_chebyshev("t", _T, lambda x: x)
_register_chebyshev("u", _U, lambda x: x + x)
_register_chebyshev("v", _V, lambda x: x + x - 1)
_register_chebyshev("w", _W, lambda x: x + x + 1)
_registered(
    "hermite_polynomial_h",
    *_recurrence(lambda x: x + x, lambda x, q, p, k: (x + x) * q - 2 * k * p, LARGEST_HERMITE),
)
_registered(
    "hermite_polynomial_he",
    *_recurrence(lambda x: x, lambda x, q, p, k: x * q - k * p, LARGEST_HERMITE),
)
_registered(
    "laguerre_polynomial_l",
    *_recurrence(lambda x: 1 - x, lambda x, q, p, k: ((2 * k + 1 - x) * q - k * p) / (k + 1)),
)
_registered(
    "legendre_polynomial_p",
    *_recurrence(lambda x: x, lambda x, q, p, k: ((2 * k + 1) * x * q - k * p) / (k + 1)),
)
