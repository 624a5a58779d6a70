"""Sizes that come by way of a float, ``floor(0.5 * n)``, ``ceil(n / 3)``, as quotients of whole numbers.

``F.interpolate(x, scale_factor=1.5)`` has such sizes. Python computes them in f64, dimensions in whole numbers: what is
said here is what f64 gives for every size below 2**33, and of all else nothing is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize, is_size

_LARGEST = 2**20
"""Numbers up to this, times a size below 2**33, are exact in the 53 bits of f64."""
_SIMPLE = 1000
"""The largest denominator of a fraction that a number is taken for, ``0.7`` for 7 / 10."""


@dataclass(frozen=True)
class Quotient:
    """A float: ``numerator / denominator``, or what f64 has in its place.

    Attributes:
        numerator: a whole number.
        denominator: a whole number above 0.
        error: by which part of the quotient the number differs from it before f64 rounds.
        is_rounded: whether f64 has rounded it.
    """

    numerator: KnownSize
    denominator: KnownSize = 1
    error: Fraction = Fraction(0)
    is_rounded: bool = False

    @property
    def is_exact(self) -> bool:
        """Whether f64 has the very quotient."""
        return not self.error and not self.is_rounded

    def floor(self) -> KnownSize | None:
        """Rounded down; None where f64 may give another number."""
        return dims.floordiv(self.numerator, self.denominator) if self._meets(1) else None

    def ceil(self) -> KnownSize | None:
        """Rounded up; None where f64 may give another number."""
        above = dims.add(self.numerator, self.denominator, -1)
        return dims.floordiv(above, self.denominator) if self._meets(-1) else None

    def trunc(self) -> KnownSize | None:
        """Rounded toward zero; None where f64 may give another number."""
        if is_size(self.numerator):
            return self.floor()
        if not self._meets(0):
            return None
        parts = [
            dims.floordiv(dims.maximum(dims.mul(sign, self.numerator), 0), self.denominator)
            for sign in (1, -1)
        ]
        return dims.sub(*parts)

    def round(self) -> KnownSize | None:
        """The nearest whole number, of two the even one; None where f64 may give another number."""
        if self.error or not self._meets(0):
            return None
        twice = dims.mul(2, self.denominator)
        above = dims.add(dims.mul(2, self.numerator), self.denominator)
        nearest = dims.floordiv(above, twice)
        if isinstance(self.denominator, int) and self.denominator % 2:
            return nearest
        is_between = dims.sub(1, dims.minimum(dims.mod(above, twice), 1))
        return dims.sub(nearest, dims.mul(is_between, dims.mod(nearest, 2)))

    def _meets(self, sign: int) -> bool:
        """Whether a quotient that is whole is so in f64, or lies beyond it in the direction of ``sign``.

        It is if the error is at most half a step of f64, which is 2**-54 of a number or more. A quotient that is not
        whole is farther from a whole number than f64 can be wrong.
        """
        leads_away = self.error * sign > 0 and is_size(self.numerator)
        return abs(self.error) <= Fraction(1, 2**54) or leads_away


def constant(number: float) -> Quotient | None:
    """A number as the fraction that it was written for; None for one that is none of small numbers."""
    exact = Fraction(number)
    simple = exact if exact.denominator <= _LARGEST else exact.limit_denominator(_SIMPLE)
    if abs(simple.numerator) > _LARGEST or not simple or float(simple) != number:
        return None
    return Quotient(simple.numerator, simple.denominator, exact / simple - 1)


def divided(numerator: KnownSize, denominator: KnownSize) -> Quotient | None:
    """``numerator / denominator`` of whole numbers; None for a divisor that may be 0 or less."""
    if not is_size(dims.add(denominator, -1)):
        return None
    is_power_of_two = isinstance(denominator, int) and denominator & (denominator - 1) == 0
    return Quotient(numerator, denominator, is_rounded=not is_power_of_two)


def product(factors: Sequence[Quotient | None]) -> Quotient | None:
    """The product, if f64 rounds once at most."""
    known = [factor for factor in factors if factor is not None]
    inexact = [factor for factor in known if not factor.is_exact]
    if len(known) < len(factors) or _are_large(known):
        return None
    if inexact and (len(known) > 2 or len(inexact) > 1 or inexact[0].is_rounded):
        return None
    return Quotient(
        dims.mul(*(factor.numerator for factor in known)),
        dims.mul(*(factor.denominator for factor in known)),
        inexact[0].error if inexact else Fraction(0),
        bool(inexact),
    )


def total(terms: Sequence[Quotient | None]) -> Quotient | None:
    """The sum of terms that are exact."""
    known = [term for term in terms if term is not None and term.is_exact]
    if len(known) < len(terms) or _are_large(known):
        return None
    below = dims.mul(*(term.denominator for term in known))
    above = (dims.mul(t.numerator, dims.floordiv(below, t.denominator)) for t in known)
    return Quotient(dims.add(*above), below)


def _are_large(quotients: Sequence[Quotient]) -> bool:
    """Whether the numbers that sizes are multiplied with leave too few bits for the sizes."""
    parts = [part for each in quotients for part in (each.numerator, each.denominator)]
    return abs(prod(part for part in parts if isinstance(part, int))) > _LARGEST
