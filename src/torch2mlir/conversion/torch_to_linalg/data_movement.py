"""Ops that move elements without computing, in Linalg-on-Tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch2mlir.conversion.lowering import Number, Scalar, Tensor
from torch2mlir.conversion.torch_to_linalg.lowering import LinalgLowering, lowers
from torch2mlir.conversion.torch_to_linalg.scalars import INDEX, Scalars
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize


@lowers("aten.view", "aten.unsqueeze", "aten.squeeze.dims")
def view(lower: LinalgLowering, x: Tensor, *_: Any) -> Tensor:
    """The same elements under the sizes of the result."""
    return lower.reshape(x, lower.out.sizes)


@lowers("aten.permute")
def permute(lower: LinalgLowering, x: Tensor, permutation: Sequence[int]) -> Tensor:
    """``result.sizes[i] == x.sizes[permutation[i]]``."""
    return lower.transpose(x, [lower.dim(p, x.rank) for p in permutation])


@lowers("aten.expand")
def expand(lower: LinalgLowering, x: Tensor, *_: Any) -> Tensor:
    """Repeats along dimensions of size 1 and new leading ones."""
    return lower.broadcast_to(x, lower.out.sizes)


@lowers("aten.cat")
def cat(lower: LinalgLowering, xs: Sequence[Tensor], dim: int) -> Tensor:
    """Joins tensors along a dimension; rank-1 tensors without elements count for nothing."""
    out = lower.out
    parts = [lower.cast(x, out.dtype) for x in xs if x.sizes != (0,) or out.rank == 1]
    if not parts:
        return lower.empty(out.sizes, out.dtype)
    return lower.sized(lower.concatenate(parts, lower.dim(dim, out.rank)), out.sizes)


def reverse(lower: LinalgLowering, x: Tensor, over: Sequence[int]) -> Tensor:
    """The elements in opposite order along dimensions."""

    def build(s: Scalars) -> Scalar:
        places = [s.index(d) for d in range(x.rank)]
        for d in over:
            places[d] = s("sub", lower.number(dims.sub(x.sizes[d], 1), INDEX), places[d])
        return s.extract(x, places)

    return lower.compute(build, [], x.sizes, x.dtype)


@lowers("aten.flip")
def flip(lower: LinalgLowering, x: Tensor, over: Sequence[int]) -> Tensor:
    """The elements in opposite order along dimensions."""
    return reverse(lower, x, [lower.dim(d, x.rank) for d in over if x.rank])


@lowers("aten.repeat")
def repeat(lower: LinalgLowering, x: Tensor, repeats: Sequence[KnownSize]) -> Tensor:
    """The tensor ``repeats[i]`` times along dimension ``i``; more repeats than dimensions add leading ones."""
    sizes = [1] * (len(repeats) - x.rank) + list(x.sizes)
    x = lower.reshape(x, sizes)
    interleaved, places = list[KnownSize](), list[int | None]()
    for count, size in zip(repeats, sizes, strict=True):
        if size == 1:
            interleaved.append(count)
            places.append(None if count != 1 else len(interleaved) - 1)
        else:
            interleaved += [size] if count == 1 else [count, size]
            places.append(len(interleaved) - 1)
    if tuple(interleaved) == x.sizes:
        return x
    repeated = lower.compute(lambda s, e: e, [(x, places)], interleaved, x.dtype)
    return lower.reshape(repeated, lower.out.sizes)


@lowers("aten.constant_pad_nd")
def constant_pad_nd(
    lower: LinalgLowering, x: Tensor, padding: Sequence[KnownSize], value: Number
) -> Tensor:
    """Adds a constant around, the last dimension's amounts first; negative amounts cut."""
    low: list[KnownSize] = [0] * x.rank
    high: list[KnownSize] = [0] * x.rank
    for pair in range(len(padding) // 2):
        low[x.rank - 1 - pair], high[x.rank - 1 - pair] = padding[2 * pair : 2 * pair + 2]
    sizes = [
        dims.add(size, *(a for a in pair if _cuts(a)))
        for size, *pair in zip(x.sizes, low, high, strict=True)
    ]
    starts = [dims.mul(-1, a) if _cuts(a) else 0 for a in low]
    x = lower.slice(x, starts, sizes, [1] * x.rank)
    low, high = [[0 if _cuts(a) else a for a in amounts] for amounts in (low, high)]
    return lower.sized(lower.pad(x, low, high, value), lower.out.sizes)


def _cuts(amount: KnownSize) -> bool:
    return isinstance(amount, int) and amount < 0


@lowers("aten.slice.Tensor")
def slice_(
    lower: LinalgLowering,
    x: Tensor,
    dim: int,
    start: KnownSize | None,
    end: KnownSize | None,
    step: int,
) -> Tensor:
    """Every ``step``-th element from ``start`` on, as many as the result has; negative starts count from the end."""
    over = lower.dim(dim, x.rank)
    starts, steps = list[KnownSize]([0] * x.rank), [1] * x.rank
    starts[over] = from_front(start or 0, x.sizes[over])
    steps[over] = lower.static(step, "the step of a slice")
    return lower.slice(x, starts, lower.out.sizes, steps)


def from_front(position: KnownSize, size: KnownSize) -> KnownSize:
    """A position, possibly negative and counted from the end, counted from the front and not past the end."""
    if isinstance(position, int):
        counted = position if position >= 0 else dims.add(size, position)
        if isinstance(counted, int) and isinstance(size, int):
            return max(0, min(counted, size))
        return counted
    if _is_natural(position):
        return position
    if _is_natural(dims.mul(-1, position)):
        return dims.add(size, position)
    # a quotient of -1 where it is negative, of 0 where not
    return dims.sub(position, dims.mul(size, dims.floordiv(position, 1 << 40)))


def _is_natural(size: KnownSize) -> bool:
    """Whether no symbol is subtracted: sizes are not negative."""
    if isinstance(size, int):
        return size >= 0
    return size.op == "symbol" or all(_is_natural(operand) for operand in size.operands())


@lowers("aten.select.int")
def select(lower: LinalgLowering, x: Tensor, dim: int, index: KnownSize) -> Tensor:
    """One position of a dimension, which is dropped."""
    over = lower.dim(dim, x.rank)
    starts, sizes = list[KnownSize]([0] * x.rank), list(x.sizes)
    starts[over], sizes[over] = from_front(index, x.sizes[over]), 1
    return lower.extract_slice(x, starts, sizes, [1] * x.rank, lower.out.sizes)
