"""Running results along a dimension that no dialect has a word for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten

Combine = Callable[[Any, Any], Any]
"""Of what comes earlier and what comes later."""
Reduce = Callable[[Any], Any]
"""Combines all elements of the last dimension."""


def scan(a: Any, dim: int, combine: Combine, reduce: Reduce, neutral: Any) -> Any:
    """Each element combined with all before it along a dimension.

    A dimension of known length is combined with itself moved by 1, 2, 4, .. places, which takes a logarithmic number of
    steps (Hillis and Steele); of an unknown one a triangle is reduced, whose other half is neutral.
    """
    length, shift = a.shape[dim], 1
    if not isinstance(length, int):
        places = torch.arange(length)
        reached = places.unsqueeze(0) <= places.unsqueeze(1)
        rows = a.movedim(dim, -1).unsqueeze(-2)
        return reduce(torch.where(reached, rows, neutral)).movedim(-1, dim)
    while shift < length:
        earlier = aten.slice(a, dim, 0, length - shift)
        later = aten.slice(a, dim, shift, length)
        a = torch.cat([aten.slice(a, dim, 0, shift), combine(earlier, later)], dim)
        shift *= 2
    return a


def limits(dtype: torch.dtype) -> tuple[Any, Any]:
    """The lowest and the highest element."""
    if dtype is torch.bool:
        return False, True
    if dtype.is_floating_point:
        return -torch.inf, torch.inf
    return torch.iinfo(dtype).min, torch.iinfo(dtype).max


def _running_maximum(a: Any, dim: int) -> Any:
    return scan(a, dim, torch.maximum, lambda rows: torch.amax(rows, -1), limits(a.dtype)[0])


def _running_minimum(a: Any, dim: int) -> Any:
    return scan(a, dim, torch.minimum, lambda rows: torch.amin(rows, -1), limits(a.dtype)[1])


def _with_positions(extremum: Callable[[Any, int], Any]) -> Callable[[Any, int], tuple[Any, Any]]:
    def with_positions(a: Any, dim: int) -> tuple[Any, Any]:
        """The extremum so far and its last position, which is the last one that equalled it; NaN is beyond all."""
        if a.dim() == 0:
            return aten.alias(a), torch.zeros_like(a, dtype=torch.int64)
        best = extremum(a, dim)
        reached = a == best
        if a.dtype.is_floating_point:
            reached = reached | torch.isnan(a)
        line = [1] * a.dim()
        line[dim] = a.shape[dim]
        places = torch.arange(a.shape[dim]).reshape(line)
        return best, _running_maximum(torch.where(reached, places, 0), dim)

    return with_positions


decomposes(aten.cummax.default)(_with_positions(_running_maximum))
decomposes(aten.cummin.default)(_with_positions(_running_minimum))


@decomposes(aten.logcumsumexp.default)
def _logcumsumexp(a: Any, dim: int) -> Any:
    """``log(exp(a[0]) + .. + exp(a[i]))``."""
    if a.dim() == 0:
        return aten.alias(a)
    return scan(a, dim, torch.logaddexp, lambda rows: torch.logsumexp(rows, -1), -torch.inf)
