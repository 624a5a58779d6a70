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
Parts = tuple[Any, ...]
"""Tensors of one shape whose elements belong together."""


def scan(a: Tensor, dim: int, combine: Combine) -> Tensor:
    """Each element combined with all before it along a dimension."""

    def combine_one(earlier: Parts, later: Parts) -> Parts:
        return (combine(*earlier, *later),)

    return scan_together((a,), dim, combine_one)[0]


def scan_together(parts: Parts, dim: int, combine: Combine) -> Parts:
    """Elements of several tensors of one shape, each combined with all before it along a dimension.

    The dimension is combined with itself moved by 1, 2, 4, .. places, which takes a logarithmic number of steps (Hillis
    and Steele): one after the other if the length is known, else in a loop. So later elements meet before what
    comes before them: ``combine`` must not overflow on the way to a number that does not.
    """
    length, shift = parts[0].shape[dim], 1
    if not isinstance(length, int):
        return _looped_scan(parts, dim, combine)
    while shift < length:
        earlier = tuple(aten.slice(a, dim, 0, length - shift) for a in parts)
        later = tuple(aten.slice(a, dim, shift, length) for a in parts)
        parts = tuple(
            torch.cat([aten.slice(a, dim, 0, shift), combined], dim)
            for a, combined in zip(parts, combine(earlier, later), strict=True)
        )
        shift *= 2
    return parts


def _looped_scan(parts: Any, dim: int, combine: Combine) -> Any:
    rank, length = parts[0].dim(), parts[0].shape[dim]

    def steps(shift: Any, *_: Any) -> Any:
        return as_long_as(shift < length)

    def step(_: Any, shift: Any, *parts: Any) -> tuple[Any, ...]:
        line = [1] * rank
        line[dim] = parts[0].shape[dim]
        before = torch.arange(parts[0].shape[dim]) - shift
        place = torch.clamp_min(before, 0)
        combined = combine(tuple(a.index_select(dim, place) for a in parts), parts)
        is_combined = (before >= 0).reshape(line)
        chosen = (torch.where(is_combined, c, a) for c, a in zip(combined, parts, strict=True))
        return shift * 2, *chosen

    return tuple(repeat(steps, step, torch.ones((), dtype=torch.int64), *parts)[1:])


def _scan_by_pairs(a: Any, dim: int, combine: Combine) -> Any:
    """As :func:`scan`, combining less than twice as often as there are elements, in more and smaller steps.

    Neighbours are combined, then all pairs before each, and last what is between them (Blelloch). It pays where
    combining takes longer than moving elements.
    """
    length = a.shape[dim]
    if not isinstance(length, int) or length <= 4:
        return scan(a, dim, combine)
    half = length // 2
    first, second = (aten.slice(a, dim, start, length, 2) for start in (0, 1))
    seconds = _scan_by_pairs(combine(aten.slice(first, dim, 0, half), second), dim, combine)
    between = combine(
        aten.slice(seconds, dim, 0, length - half - 1), aten.slice(first, dim, 1, length - half)
    )
    firsts = torch.cat([aten.slice(first, dim, 0, 1), between], dim)
    pairs = torch.stack([aten.slice(firsts, dim, 0, half), seconds], dim + 1)
    return torch.cat(
        [pairs.flatten(dim, dim + 1), aten.slice(firsts, dim, half, length - half)], dim
    )


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
    wide = torch.float32 if a.dtype in (torch.float16, torch.bfloat16) else a.dtype
    if a.dtype.is_floating_point:
        a = torch.where(a == 0, 0.0, a)  # the sum begins with -inf, and log(0 + exp(-0.0)) is 0.0
    return _scan_by_pairs(a.to(wide), dim % a.dim(), torch.logaddexp).to(a.dtype)


@decomposes(aten.cumprod.default)
def _cumprod(a: Tensor, dim: int, *, dtype: torch.dtype | None = None) -> Tensor:
    """``a[0] * .. * a[i]``; integers are multiplied in i64, halves in f32."""
    if dtype is None:
        dtype = a.dtype if a.dtype.is_floating_point or a.dtype.is_complex else torch.int64
    if a.dim() == 0:
        return aten.alias(a.to(dtype))
    if not dtype.is_floating_point:
        return scan(a.to(dtype), dim, torch.mul)
    wide = torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype
    return _running_product(a.to(dtype).to(wide), dim % a.dim()).to(dtype)


_BLOCK = 125
"""Of how many numbers in ``[sqrt(1/2), sqrt(2))`` the product times that of as many others is a normal float."""


def _running_product(a: Tensor, dim: int) -> Tensor:
    """Products of fractions and sums of powers of two, which elements that follow a zero cannot overflow.

    Eager mode multiplies f32 in f64 and one after the other: ``[0, 3e38, 3e38]`` stays 0, ``[1e30, 1e30, 1e-30]`` ends
    in ``1e30``. What leaves the range of that type on the way stays outside there, and comes back here.
    """
    fraction, power = _balanced(a)
    length = a.shape[dim]
    if isinstance(length, int):
        fraction, more = _products_by_blocks(fraction, dim, length)
        power = torch.cumsum(power, dim, dtype=torch.int32) + more
    else:
        fraction, power = scan_together((fraction, power), dim, _multiplied)
    return torch.ldexp(fraction, power)


def _products_by_blocks(fraction: Tensor, dim: int, length: int) -> tuple[Tensor, Any]:
    """Running products of balanced fractions: in blocks, times the product of the blocks before."""
    if length <= _BLOCK:
        return scan(fraction, dim, torch.mul), 0
    count = -(-length // _BLOCK)
    block = -(-length // count)
    missing = list(fraction.shape)
    missing[dim] = count * block - length
    padded = torch.cat([fraction, torch.ones(missing, dtype=fraction.dtype)], dim)
    inside = scan(padded.unflatten(dim, (count, block)), dim + 1, torch.mul)
    ends, of_ends = _balanced(inside.select(dim + 1, -1))
    before, of_before = _products_by_blocks(ends, dim, count)
    before, of_more = _balanced(before)
    power = of_more + torch.cumsum(of_ends, dim, dtype=torch.int32) + of_before

    def of_earlier(each: Tensor, first: int) -> Tensor:
        start = torch.full_like(each.narrow(dim, 0, 1), first)
        return torch.cat([start, each.narrow(dim, 0, count - 1)], dim).unsqueeze(dim + 1)

    product = of_earlier(before, 1) * inside
    powers = of_earlier(power, 0).expand_as(product)
    product, powers = (
        each.flatten(dim, dim + 1).narrow(dim, 0, length) for each in (product, powers)
    )
    return product, powers


def _balanced(a: Tensor) -> Parts:
    """Numbers as a fraction in ``[sqrt(1/2), sqrt(2))`` and a power of two; by products, for TOSA reads no bits."""
    power = torch.zeros_like(a, dtype=torch.int32)
    step = 512 if a.dtype is torch.float64 else 64
    while step >= 1:
        a, power = _shifted(a, power, step, 2.0**step, 2.0**-step)
        step //= 2
    return _shifted(a, power, 1, 2**0.5, 0.5**0.5)


def _multiplied(earlier: Parts, later: Parts) -> Parts:
    """The product of two numbers, each a :func:`_balanced` fraction and a power of two."""
    return _shifted(earlier[0] * later[0], earlier[1] + later[1], 1, 2**0.5, 0.5**0.5)


def _shifted(fraction: Tensor, power: Tensor, step: int, largest: float, least: float) -> Parts:
    """So many powers of two taken from fractions that are too large, or given to those that are too small."""
    size = fraction.abs()
    large, small = size >= largest, size < least
    shrunk, grown = fraction * 2.0**-step, fraction * 2.0**step
    fraction = torch.where(large, shrunk, torch.where(small, grown, fraction))
    return fraction, torch.where(large, power + step, torch.where(small, power - step, power))
