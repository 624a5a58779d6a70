"""Running results along a dimension that no dialect has a word for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten

State = tuple[Any, ...]
"""Tensors that are scanned together."""


def _doubled(combine: Callable[[State, State], State], state: State, dim: int) -> State:
    """Combines with the elements 1, 2, 4, .. places before: a logarithmic number of steps (Hillis and Steele)."""
    length, shift = state[0].shape[dim], 1
    while shift < length:
        front = [aten.slice(t, dim, 0, shift) for t in state]
        earlier = tuple(aten.slice(t, dim, 0, length - shift) for t in state)
        later = tuple(aten.slice(t, dim, shift, length) for t in state)
        combined = combine(earlier, later)
        state = tuple(torch.cat(pair, dim) for pair in zip(front, combined, strict=True))
        shift *= 2
    return state


def _triangle(length: Any) -> Any:
    """``[i, j]``: whether element ``j`` counts for place ``i``."""
    places = torch.arange(length)
    return places.unsqueeze(0) <= places.unsqueeze(1)


def _rows(a: Any, dim: int) -> Any:
    """The scanned dimension last, and a copy of it for each place."""
    return a.movedim(dim, -1).unsqueeze(-2)


def _running_extremum(
    a: Any, dim: int, beyond: Callable[[Any, Any], Any], extremum: Callable[..., Any], worst: Any
) -> Any:
    """The extremum so far and its last position; NaN is beyond all numbers."""
    if a.dim() == 0:
        return aten.alias(a), torch.zeros_like(a, dtype=torch.int64)
    length = a.shape[dim]
    if isinstance(length, int):
        line = [length if d == dim % a.dim() else 1 for d in range(a.dim())]
        places = torch.arange(length).reshape(line).expand(a.shape)

        def combine(earlier: State, later: State) -> State:
            wins = beyond(later[0], earlier[0])
            if a.dtype.is_floating_point:
                wins = wins | torch.isnan(later[0])
            pairs = zip(later, earlier, strict=True)
            return tuple(torch.where(wins, new, old) for new, old in pairs)

        return _doubled(combine, (a, places), dim)
    reached, rows = _triangle(length), _rows(a, dim)
    best = extremum(torch.where(reached, rows, worst), [-1], True)
    same = rows == best
    if a.dtype.is_floating_point:
        same = same | (torch.isnan(rows) & torch.isnan(best))
    position = torch.amax(torch.where(reached & same, torch.arange(length), 0), -1)
    return best.squeeze(-1).movedim(-1, dim), position.movedim(-1, dim)


def limits(dtype: torch.dtype) -> tuple[Any, Any]:
    """The lowest and the highest element."""
    if dtype is torch.bool:
        return False, True
    if dtype.is_floating_point:
        return -torch.inf, torch.inf
    return torch.iinfo(dtype).min, torch.iinfo(dtype).max


@decomposes(aten.cummax.default)
def _cummax(a: Any, dim: int) -> Any:
    return _running_extremum(a, dim, torch.ge, torch.amax, limits(a.dtype)[0])


@decomposes(aten.cummin.default)
def _cummin(a: Any, dim: int) -> Any:
    return _running_extremum(a, dim, torch.le, torch.amin, limits(a.dtype)[1])


@decomposes(aten.logcumsumexp.default)
def _logcumsumexp(a: Any, dim: int) -> Any:
    """``log(exp(a[0]) + .. + exp(a[i]))``."""
    if a.dim() == 0:
        return aten.alias(a)
    if isinstance(a.shape[dim], int):
        combine = lambda earlier, later: (torch.logaddexp(earlier[0], later[0]),)  # noqa: E731
        return _doubled(combine, (a,), dim)[0]
    rows = torch.where(_triangle(a.shape[dim]), _rows(a, dim), -torch.inf)
    return torch.logsumexp(rows, -1).movedim(-1, dim)
