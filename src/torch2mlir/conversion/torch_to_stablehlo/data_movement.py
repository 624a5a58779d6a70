"""Reshaping, slicing, joining and padding in StableHLO."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch2mlir.conversion.lowering import Number, Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering, lowers
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import Dim, KnownSize


@lowers("aten.view", "aten.unsqueeze", "aten.squeeze.dims")
def reshape(lower: StablehloLowering, x: Tensor, *_: Any) -> Tensor:
    """The same elements under the result's sizes."""
    return lower.reshape(x, lower.out.sizes)


@lowers("aten.permute")
def permute(lower: StablehloLowering, x: Tensor, order: Sequence[int]) -> Tensor:
    """Dimension ``i`` of the result is ``order[i]`` of the operand."""
    return lower.transpose(x, [lower.dim(d, x.rank) for d in order])


@lowers("aten.expand")
def expand(lower: StablehloLowering, x: Tensor, sizes: Sequence[Any], implicit: bool) -> Tensor:
    """Sizes of 1, and new leading dimensions, are repeated."""
    return lower.broadcast_to(x, lower.out.sizes)


@lowers("aten.cat")
def cat(lower: StablehloLowering, xs: Sequence[Tensor], dim: int) -> Tensor:
    """Joined along a dimension; empty vectors may join anything."""
    rank = lower.out.rank
    parts = [lower.operand(x, lower.out.dtype) for x in xs if x.rank == rank and x.sizes != (0,)]
    if not parts:
        return lower.splat(0, lower.out.sizes, lower.out.dtype)
    return lower.concatenate(parts, lower.dim(dim, rank))


@lowers("aten.flip")
def flip(lower: StablehloLowering, x: Tensor, over: Sequence[int]) -> Tensor:
    """Reversed along dimensions."""
    if not over or not x.rank:
        return x
    axes = sorted(lower.dim(d, x.rank) for d in over)
    return lower.op(hlo.ReverseOp, [x], x.sizes, x.dtype, {"dimensions": hlo.i64_array(axes)})


@lowers("aten.slice.Tensor")
def slice_(
    lower: StablehloLowering, x: Tensor, dim: int, start: Any, end: Any, step: Any
) -> Tensor:
    """``x[start:end:step]`` along a dimension."""
    axis = lower.dim(dim, x.rank)
    starts: list[KnownSize] = [0] * x.rank
    starts[axis] = _from_start(lower, start, x.sizes[axis])
    steps = [1] * x.rank
    steps[axis] = lower.static(step, "the step of a slice")
    return lower.slice(x, starts, lower.out.sizes, steps)


def _from_start(lower: StablehloLowering, index: Any, size: KnownSize) -> KnownSize:
    """A slice's start counted from the front and clamped to the dimension."""
    if index is None:
        return 0
    if not isinstance(index, int | Dim):
        lower.fail("a start of a slice that depends on data")
    if isinstance(index, int) and index < 0:
        return dims.maximum(dims.add(size, index), 0)
    return dims.minimum(index, size) if isinstance(size, int) and isinstance(index, int) else index


@lowers("aten.select.int")
def select(lower: StablehloLowering, x: Tensor, dim: int, index: Any) -> Tensor:
    """One index of a dimension, which disappears."""
    axis = lower.dim(dim, x.rank)
    if not isinstance(index, int | Dim):
        lower.fail("an index that depends on data", hint="use torch.index_select with a tensor")
    start = dims.add(x.sizes[axis], index) if isinstance(index, int) and index < 0 else index
    starts: list[KnownSize] = [0] * x.rank
    starts[axis] = start
    sizes = [1 if i == axis else size for i, size in enumerate(x.sizes)]
    return lower.reshape(lower.slice(x, starts, sizes, [1] * x.rank), lower.out.sizes)


@lowers("aten.constant_pad_nd")
def constant_pad_nd(
    lower: StablehloLowering, x: Tensor, pad: Sequence[KnownSize], value: Number
) -> Tensor:
    """Pairs from the last dimension on; negative amounts cut."""
    low: list[KnownSize] = [0] * x.rank
    high: list[KnownSize] = [0] * x.rank
    for position in range(len(pad) // 2):
        low[-1 - position], high[-1 - position] = pad[2 * position], pad[2 * position + 1]
    if any(isinstance(amount, int) and amount < 0 for amount in (*low, *high)):
        cut = [-a if isinstance(a, int) and a < 0 else 0 for a in low]
        sizes = [
            dims.sub(size, -b if isinstance(b, int) and b < 0 else 0)
            for size, b in zip((dims.sub(s, c) for s, c in zip(x.sizes, cut)), high, strict=True)
        ]
        x = lower.slice(x, cut, sizes, [1] * x.rank)
        low = [0 if isinstance(a, int) and a < 0 else a for a in low]
        high = [0 if isinstance(a, int) and a < 0 else a for a in high]
    if all(amount == 0 for amount in (*low, *high)):
        return x
    return lower.pad(x, low, high, value)


@lowers("aten.repeat")
def repeat(lower: StablehloLowering, x: Tensor, repeats: Sequence[KnownSize]) -> Tensor:
    """Tiled: every dimension gets a repetition before it, which is then merged."""
    padded = (*[1] * (len(repeats) - x.rank), *x.sizes)
    interleaved: list[KnownSize] = []
    kept = list[int]()
    for count, size in zip(repeats, padded, strict=True):
        interleaved += [count, size]
        kept.append(len(interleaved) - 1)
    tiled = lower.broadcast_in_dim(lower.reshape(x, padded), interleaved, kept)
    return lower.reshape(tiled, lower.out.sizes)
