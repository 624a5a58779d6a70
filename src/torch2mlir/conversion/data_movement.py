"""Ops that move elements without computing, in the words that all dialects share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch2mlir.conversion.lowering import Lowering, Number, Tensor
from torch2mlir.conversion.registry import lowers_everywhere
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize, Sizes


@lowers_everywhere("aten.view", "aten.unsqueeze", "aten.squeeze.dims")
def view(lower: Lowering, x: Tensor, *_: object) -> Tensor:
    """The same elements under the sizes of the result."""
    return lower.reshape(x, lower.out.sizes)


@lowers_everywhere("aten.permute")
def permute(lower: Lowering, x: Tensor, permutation: Sequence[int]) -> Tensor:
    """``result.sizes[i] == x.sizes[permutation[i]]``."""
    return lower.transpose(x, permutation)


@lowers_everywhere("aten.expand")
def expand(lower: Lowering, x: Tensor, *_: object) -> Tensor:
    """Repeats along dimensions of size 1 and new leading ones."""
    return lower.broadcast_to(x, lower.out.sizes)


@lowers_everywhere("aten.cat")
def cat(lower: Lowering, xs: Sequence[Tensor], dim: int) -> Tensor:
    """Joins tensors along a dimension; rank-1 tensors without elements count for nothing."""
    out = lower.out
    parts = [x for x in xs if x.sizes != (0,)]
    if not parts:
        return lower.splat(0, out.sizes, out.dtype)
    return lower.sized(lower.concatenate(parts, dim), out.sizes)


@lowers_everywhere("aten.flip")
def flip(lower: Lowering, x: Tensor, over: Sequence[int]) -> Tensor:
    """The elements in opposite order along dimensions."""
    return lower.reverse(x, over)


@lowers_everywhere("aten.repeat")
def repeat(lower: Lowering, x: Tensor, repeats: Sizes) -> Tensor:
    """The tensor ``repeats[i]`` times along dimension ``i``; more repeats than dimensions add leading ones."""
    return lower.repeat(x, repeats)


@lowers_everywhere("aten.constant_pad_nd")
def constant_pad_nd(lower: Lowering, x: Tensor, padding: Sizes, value: Number) -> Tensor:
    """Adds a constant around, the last dimension's amounts first; negative amounts cut."""
    low: list[KnownSize] = [0] * x.rank
    high: list[KnownSize] = [0] * x.rank
    for pair in range(len(padding) // 2):
        low[x.rank - 1 - pair], high[x.rank - 1 - pair] = padding[2 * pair : 2 * pair + 2]
    sizes = [
        dims.add(size, *(amount for amount in pair if _cuts(amount)))
        for size, *pair in zip(x.sizes, low, high, strict=True)
    ]
    starts = [dims.mul(-1, amount) if _cuts(amount) else 0 for amount in low]
    x = lower.slice(x, starts, sizes, [1] * x.rank)
    low, high = [[0 if _cuts(a) else a for a in amounts] for amounts in (low, high)]
    return lower.sized(lower.pad(x, low, high, value), lower.out.sizes)


def _cuts(amount: KnownSize) -> bool:
    return isinstance(amount, int) and amount < 0


@lowers_everywhere("aten.slice.Tensor")
def slice_(lower: Lowering, x: Tensor, dim: int, start: KnownSize, end: Any, step: int) -> Tensor:
    """Every ``step``-th element from ``start`` on, as many as the result has."""
    return lower.section(x, dim, start, lower.out.sizes[dim], step)


@lowers_everywhere("aten.select.int")
def select(lower: Lowering, x: Tensor, dim: int, index: KnownSize) -> Tensor:
    """One position of a dimension, which is dropped."""
    return lower.reshape(lower.section(x, dim, index, 1), lower.out.sizes)
