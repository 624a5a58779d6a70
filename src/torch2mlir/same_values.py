"""When a number or text is the one that a program was made for."""

from __future__ import annotations

from math import copysign
from typing import Any


def is_same(one: Any, other: Any) -> bool:
    """Whether code computes the same with two values: of one type and equal, where 0.0 is not -0.0 and NaN is NaN."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, complex):
        return is_same(one.real, other.real) and is_same(one.imag, other.imag)
    if not bool(one == other):
        return isinstance(one, float) and one != one and other != other
    return not isinstance(one, float) or copysign(1.0, one) == copysign(1.0, other)
