"""Ops that move elements without computing, in ONNX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch2mlir.conversion.lowering import Number, Tensor
from torch2mlir.conversion.promotion import si64
from torch2mlir.conversion.torch_to_onnx.lowering import OnnxLowering, is_natural, lowers
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize


@lowers("aten.view", "aten.unsqueeze", "aten.squeeze.dims")
def view(lower: OnnxLowering, x: Tensor, *_: Any) -> Tensor:
    """The same elements under the sizes of the result."""
    return lower.reshape(x, lower.out.sizes)


@lowers("aten.permute")
def permute(lower: OnnxLowering, x: Tensor, permutation: Sequence[int]) -> Tensor:
    """``result.sizes[i] == x.sizes[permutation[i]]``."""
    return lower.transpose(x, [lower.dim(p, x.rank) for p in permutation])


@lowers("aten.expand")
def expand(lower: OnnxLowering, x: Tensor, *_: Any) -> Tensor:
    """Repeats along dimensions of size 1 and new leading ones."""
    return lower.broadcast_to(x, lower.out.sizes)


@lowers("aten.cat")
def cat(lower: OnnxLowering, xs: Sequence[Tensor], dim: int) -> Tensor:
    """Joins tensors along a dimension; rank-1 tensors without elements count for nothing."""
    out = lower.out
    parts = [lower.cast(x, out.dtype) for x in xs if x.sizes != (0,)]
    if not parts:
        return lower.splat(0, out.sizes, out.dtype)
    return lower.concatenate(parts, lower.dim(dim, out.rank))


@lowers("aten.flip")
def flip(lower: OnnxLowering, x: Tensor, over: Sequence[int]) -> Tensor:
    """The elements in opposite order along dimensions: a slice of step -1, from the end to before the start."""
    axes = sorted(lower.dim(d, x.rank) for d in over if x.rank)
    if not axes:
        return x
    ones = [-1] * len(axes)
    bounds = (ones, [-(2**62)] * len(axes), axes, ones)
    return lower.node("Slice", x, *map(lower.vector, bounds), sizes=x.sizes, dtype=x.dtype)


@lowers("aten.repeat")
def repeat(lower: OnnxLowering, x: Tensor, repeats: Sequence[KnownSize]) -> Tensor:
    """The tensor ``repeats[i]`` times along dimension ``i``; more repeats than dimensions add leading ones."""
    x = lower.reshape(x, [1] * (len(repeats) - x.rank) + list(x.sizes))
    if all(count == 1 for count in repeats):
        return x
    return lower.node("Tile", x, lower.shape(repeats), sizes=lower.out.sizes, dtype=x.dtype)


@lowers("aten.constant_pad_nd")
def constant_pad_nd(
    lower: OnnxLowering, x: Tensor, padding: Sequence[KnownSize], value: Number
) -> Tensor:
    """Adds a constant around, the last dimension's amounts first; negative amounts cut."""
    low: list[KnownSize] = [0] * x.rank
    high: list[KnownSize] = [0] * x.rank
    for pair in range(len(padding) // 2):
        low[-1 - pair], high[-1 - pair] = padding[2 * pair : 2 * pair + 2]
    return lower.pad(x, low, high, value)


@lowers("aten.slice.Tensor")
def slice_(
    lower: OnnxLowering,
    x: Tensor,
    dim: int,
    start: KnownSize | None,
    end: Any,
    step: int,
) -> Tensor:
    """Every ``step``-th element from ``start`` on, as many as the result has; negative starts count from the end."""
    axis = lower.dim(dim, x.rank)
    starts, steps = list[KnownSize]([0] * x.rank), [1] * x.rank
    starts[axis] = from_front(start or 0, x.sizes[axis])
    steps[axis] = lower.static(step, "the step of a slice")
    return lower.slice(x, starts, lower.out.sizes, steps)


def from_front(position: KnownSize, size: KnownSize) -> KnownSize:
    """A position, possibly negative and counted from the end, counted from the front and not past the end."""
    if isinstance(position, int):
        counted = position if position >= 0 else dims.add(size, position)
        if isinstance(counted, int) and isinstance(size, int):
            return max(0, min(counted, size))
        return counted
    if is_natural(position):
        return position
    if is_natural(dims.mul(-1, position)):
        return dims.add(size, position)
    # a quotient of -1 where it is negative, of 0 where not
    return dims.sub(position, dims.mul(size, dims.floordiv(position, 1 << 62)))


@lowers("aten.select.int")
def select(lower: OnnxLowering, x: Tensor, dim: int, index: KnownSize) -> Tensor:
    """One position of a dimension, which is dropped."""
    axis = lower.dim(dim, x.rank)
    place = lower.splat(from_front(index, x.sizes[axis]), (), si64)
    return lower.node("Gather", x, place, sizes=lower.out.sizes, dtype=x.dtype, axis=axis)
