"""Running results along a dimension that no dialect has a word for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from torch2mlir.transforms.decompositions.loops import as_long_as, repeat
from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten

Combine = Callable[[Any, Any], Any]
"""Of what comes earlier and what comes later."""


def scan(a: Tensor, dim: int, combine: Combine) -> Tensor:
    """Each element combined with all before it along a dimension.

    The dimension is combined with itself moved by 1, 2, 4, .. places, which takes a logarithmic number of steps (Hillis
    and Steele): one after the other if the length is known, else in a loop.
    """
    length, shift = a.shape[dim], 1
    if not isinstance(length, int):
        return _looped_scan(a, dim, combine)
    while shift < length:
        earlier = aten.slice(a, dim, 0, length - shift)
        later = aten.slice(a, dim, shift, length)
        a = torch.cat([aten.slice(a, dim, 0, shift), combine(earlier, later)], dim)
        shift *= 2
    return a


def _looped_scan(a: Any, dim: int, combine: Combine) -> Any:
    def steps(a: Any, shift: Any) -> Any:
        return as_long_as(shift < a.shape[dim])

    def step(_: Any, a: Any, shift: Any) -> tuple[Any, Any]:
        line = [1] * a.dim()
        line[dim] = a.shape[dim]
        before = torch.arange(a.shape[dim]) - shift
        earlier = a.index_select(dim, torch.clamp_min(before, 0))
        combined = combine(earlier, a)
        return torch.where((before >= 0).reshape(line), combined, a), shift * 2

    return repeat(steps, step, a, torch.ones((), dtype=torch.int64))[0]


def limits(dtype: torch.dtype) -> tuple[Any, Any]:
    """The lowest and the highest element."""
    if dtype is torch.bool:
        return False, True
    if dtype.is_floating_point:
        return -torch.inf, torch.inf
    return torch.iinfo(dtype).min, torch.iinfo(dtype).max


def running_maximum(a: Tensor, dim: int) -> Tensor:
    """The greatest element up to each one."""
    return scan(a, dim, torch.maximum)


def _last_of_best(of_integers: Combine, is_as_good: Combine) -> Callable[[Any, int], Any]:
    """The best element so far; of equal ones, which zeros of both signs are, the last."""

    def later_if_as_good(earlier: Any, later: Any) -> Any:
        return torch.where(is_as_good(later, earlier) | torch.isnan(later), later, earlier)

    def running(a: Any, dim: int) -> Any:
        return scan(a, dim, later_if_as_good if a.dtype.is_floating_point else of_integers)

    return running


def _counted(length: Any) -> torch.dtype:
    """What positions are compared in: 32 bits, half the time of 64, if the length is known to fit."""
    fits = isinstance(length, int) and length < 1 << 31
    return torch.int32 if fits else torch.int64


def _with_positions(extremum: Callable[[Any, int], Any]) -> Callable[[Any, int], tuple[Any, Any]]:
    def with_positions(a: Tensor, dim: int) -> tuple[Any, Any]:
        """The extremum so far and its last position, which is the last one that equalled it; NaN is beyond all."""
        if a.dim() == 0:
            return aten.alias(a), torch.zeros_like(a, dtype=torch.int64)
        best = extremum(a, dim)
        reached = a == best
        if a.dtype.is_floating_point:
            reached = reached | torch.isnan(a)
        line = [1] * a.dim()
        line[dim] = a.shape[dim]
        places = torch.arange(a.shape[dim], dtype=_counted(a.shape[dim])).reshape(line)
        return best, running_maximum(torch.where(reached, places, 0), dim).to(torch.int64)

    return with_positions


decomposes(aten.cummax.default)(_with_positions(_last_of_best(torch.maximum, torch.ge)))
decomposes(aten.cummin.default)(_with_positions(_last_of_best(torch.minimum, torch.le)))


@decomposes(aten.logcumsumexp.default)
def _logcumsumexp(a: Tensor, dim: int) -> Tensor:
    """``log(exp(a[0]) + .. + exp(a[i]))``."""
    if a.dim() == 0:
        return aten.alias(a)
    return scan(a, dim, torch.logaddexp)


@decomposes(aten.cumprod.default)
def _cumprod(a: Tensor, dim: int, *, dtype: torch.dtype | None = None) -> Tensor:
    """``a[0] * .. * a[i]``; integers are multiplied in i64, halves in f32."""
    if dtype is None:
        dtype = a.dtype if a.dtype.is_floating_point or a.dtype.is_complex else torch.int64
    if a.dim() == 0:
        return aten.alias(a.to(dtype))
    wide = torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype
    return scan(a.to(dtype).to(wide), dim, torch.mul).to(dtype)
