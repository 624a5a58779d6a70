"""Ops that only move elements, in TOSA."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch2mlir.conversion.lowering import Number, Tensor
from torch2mlir.conversion.torch_to_tosa.dynamic_shapes import is_static
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering, lowers
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize


@lowers("aten.view", "aten.unsqueeze", "aten.squeeze.dims")
def reshape(lower: TosaLowering, x: Tensor, *_: Any) -> Tensor:
    """The same elements in the result's sizes."""
    return lower.reshape(x, lower.out.sizes)


@lowers("aten.permute")
def permute(lower: TosaLowering, x: Tensor, order: Sequence[int]) -> Tensor:
    """Dimensions in another order."""
    return lower.transpose(x, [lower.dim(d, x.rank) for d in order])


@lowers("aten.expand")
def expand(lower: TosaLowering, x: Tensor, *_: Any) -> Tensor:
    """Repeats dimensions of size 1."""
    return lower.broadcast_to(x, lower.out.sizes)


@lowers("aten.cat")
def cat(lower: TosaLowering, xs: Sequence[Tensor], dim: int) -> Tensor:
    """Joins tensors; PyTorch lets an empty one of rank 1 stand among others."""
    parts = [x for x in xs if x.rank == lower.out.rank]
    cast = [lower.cast(x, lower.out.dtype) for x in parts]
    return lower.concatenate(cast, lower.dim(dim, lower.out.rank))


@lowers("aten.flip")
def flip(lower: TosaLowering, x: Tensor, over: Sequence[int]) -> Tensor:
    """Reverses dimensions, one after the other."""
    for axis in lower.dims(over, x.rank) if over else ():
        x = lower.reverse(x, axis)
    return x


@lowers("aten.constant_pad_nd")
def constant_pad_nd(
    lower: TosaLowering, x: Tensor, amounts: Sequence[KnownSize], value: Number
) -> Tensor:
    """Pads from the last dimension on, ``(low, high)`` each; negative amounts cut off."""
    pairs = [(amounts[i], amounts[i + 1]) for i in range(0, len(amounts), 2)]
    pairs = [(0, 0)] * (x.rank - len(pairs)) + pairs[::-1]
    cut = [(_cut(low), _cut(high)) for low, high in pairs]
    sizes = [dims.sub(size, low + high) for size, (low, high) in zip(x.sizes, cut, strict=True)]
    x = lower.slice(x, [low for low, _ in cut], sizes, [1] * x.rank)
    low = [dims.add(amount, off) for (amount, _), (off, _) in zip(pairs, cut, strict=True)]
    high = [dims.add(amount, off) for (_, amount), (_, off) in zip(pairs, cut, strict=True)]
    return lower.pad(x, low, high, value)


def _cut(amount: KnownSize) -> int:
    """How much a negative amount cuts off."""
    return max(-amount, 0) if isinstance(amount, int) else 0


@lowers("aten.repeat")
def repeat(lower: TosaLowering, x: Tensor, counts: Sequence[KnownSize]) -> Tensor:
    """Repeats the whole tensor along each dimension, new ones in front."""
    x = lower.ranked(x, len(counts))
    if is_static(counts) and sum(not isinstance(size, int) for size in x.sizes) < 2:
        return lower.tile(x, counts)  # type: ignore[arg-type]
    split = [part for size in x.sizes for part in (1, size)]
    repeated = [part for pair in zip(counts, x.sizes, strict=True) for part in pair]
    return lower.reshape(lower.broadcast_to(lower.reshape(x, split), repeated), lower.out.sizes)


@lowers("aten.slice.Tensor")
def slice(
    lower: TosaLowering,
    x: Tensor,
    dim: int,
    start: KnownSize | None,
    end: KnownSize | None,
    step: int,
) -> Tensor:
    """``x[start:end:step]`` along one dimension; bounds outside are moved to the ends."""
    axis = lower.dim(dim, x.rank)
    starts, steps = [0] * x.rank, [1] * x.rank
    begin = clamped(0 if start is None else start, x.sizes[axis])
    steps[axis] = lower.static(step, "the step of a slice")
    return lower.slice(x, [*starts[:axis], begin, *starts[axis + 1 :]], lower.out.sizes, steps)


def clamped(start: KnownSize, size: KnownSize) -> KnownSize:
    """A start as Python's slices take it: negative ones count from the end, others stop there.

    Of an expression nobody knows its sign; programs that slice by one count from the front.
    """
    if isinstance(start, int) and start < 0:
        return dims.maximum(dims.add(start, size), 0)
    if start == 0:
        return 0
    return dims.minimum(start, size)


@lowers("aten.select.int")
def select(lower: TosaLowering, x: Tensor, dim: int, index: KnownSize) -> Tensor:
    """One index of a dimension, which disappears."""
    axis = lower.dim(dim, x.rank)
    negative = isinstance(index, int) and index < 0
    start = dims.add(index, x.sizes[axis]) if negative else index
    starts = [start if i == axis else 0 for i in range(x.rank)]
    sizes = [1 if i == axis else size for i, size in enumerate(x.sizes)]
    return lower.reshape(lower.slice(x, starts, sizes, [1] * x.rank), lower.out.sizes)
