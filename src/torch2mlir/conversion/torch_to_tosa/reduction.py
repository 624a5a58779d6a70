"""Reductions in TOSA: one axis at a time, reduced axes stay with size 1 until the end."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Attribute, Operation

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import widened
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_tosa.casts import computed_dtype, si8, si32
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering, lowers
from torch2mlir.dialects import tosa
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize


def _accumulated(dtype: Attribute) -> Attribute:
    """The type PyTorch sums elements in: f32 for half precision."""
    return widened(dtype) if element_types.is_float(dtype) else computed_dtype(dtype)


def _sum(lower: TosaLowering, x: Tensor, over: Sequence[int]) -> Tensor:
    summed = lower.cast(x, _accumulated(lower.out.dtype))
    return lower.reduce(tosa.ReduceSumOp, summed, over)


def _finished(lower: TosaLowering, x: Tensor) -> Tensor:
    """The op's result: its element type, reduced axes dropped if it has none."""
    return lower.reshape(lower.cast(x, lower.out.dtype), lower.out.sizes)


@lowers("aten.sum.dim_IntList")
def sum(lower: TosaLowering, x: Tensor, over: Sequence[int], *_: Any) -> Tensor:
    """The sum of elements converted to the result's type; half precision accumulates in f32."""
    return _finished(lower, _sum(lower, x, over))


@lowers("aten.mean.dim")
def mean(lower: TosaLowering, x: Tensor, over: Sequence[int], *_: Any) -> Tensor:
    """The sum times the inverse of the count."""
    total = _sum(lower, x, over)
    count = dims.product([x.sizes[axis] for axis in over])
    if count == 0:  # a product of two constants would be folded, and that of 0 and NaN to 0
        return lower.splat(math.nan, lower.out.sizes, lower.out.dtype)
    if isinstance(count, int):
        inverse = lower.splat(1 / count, (1,) * x.rank, total.dtype)
    else:
        inverse = lower.elementwise(tosa.ReciprocalOp, lower.splat(count, (), total.dtype))
    return _finished(lower, lower.elementwise(tosa.MulOp, total, inverse))


EXTREMUM: dict[str, type[Operation]] = {
    "aten.amax": tosa.ReduceMaxOp,
    "aten.amin": tosa.ReduceMinOp,
}


def _extremum(op_class: type[Operation]) -> Callable[..., Tensor]:
    def lower_extremum(lower: TosaLowering, x: Tensor, over: Sequence[int], *_: Any) -> Tensor:
        wide = lower.cast(x, computed_dtype(x.dtype))
        return _finished(lower, lower.reduce(op_class, wide, over))

    return lower_extremum


for _name, _op in EXTREMUM.items():
    lowers(_name)(_extremum(_op))

LOGICAL: dict[str, type[Operation]] = {
    "aten.any.dims": tosa.ReduceAnyOp,
    "aten.all.dims": tosa.ReduceAllOp,
}


def _logical(op_class: type[Operation]) -> Callable[..., Tensor]:
    def lower_logical(lower: TosaLowering, x: Tensor, over: Sequence[int], *_: Any) -> Tensor:
        return _finished(lower, lower.reduce(op_class, x, over))

    return lower_logical


for _name, _op in LOGICAL.items():
    lowers(_name)(_logical(_op))


# positions of extrema


def _position(lower: TosaLowering, x: Tensor, axis: int, largest: bool) -> Tensor:
    """The first index of the largest or smallest element along an axis, which disappears; NaN is beyond all others.

    The smallest is the largest of ``-x``, of integers the largest of ``~x``, which cannot overflow.
    """
    if element_types.is_float(x.dtype):
        source = x if largest else lower.elementwise(tosa.NegateOp, x)
    else:
        # i8 and i64 are the integers that tosa.argmax takes and that IREE compiles
        source = lower.cast(x, si8 if element_types.is_bool(x.dtype) else element_types.si64)
        source = source if largest else lower.elementwise(tosa.BitwiseNotOp, source)
    sizes = [size for i, size in enumerate(x.sizes) if i != axis]
    index = element_types.si64 if source.dtype == element_types.si64 else si32
    return lower.op(tosa.ArgMaxOp, [source], sizes, index, {"axis": IntegerAttr(axis, i32)})


def _arg(largest: bool) -> Callable[..., Tensor]:
    def lower_arg(lower: TosaLowering, x: Tensor, dim: int | None, *_: Any) -> Tensor:
        if dim is None or x.rank == 0:
            x, dim = lower.reshape(x, (dims.product(x.sizes),)), 0
        return _finished(lower, _position(lower, x, dim, largest))

    return lower_arg


lowers("aten.argmax")(_arg(largest=True))
lowers("aten.argmin")(_arg(largest=False))


def _with_position(largest: bool) -> Callable[..., tuple[Tensor, Tensor]]:
    op_class = tosa.ReduceMaxOp if largest else tosa.ReduceMinOp

    def lower_extremum(lower: TosaLowering, x: Tensor, dim: int, *_: Any) -> tuple[Tensor, Tensor]:
        x = lower.ranked(x, max(x.rank, 1))
        axis = dim
        values = lower.reduce(op_class, lower.cast(x, computed_dtype(x.dtype)), [axis])
        position = lower.cast(_position(lower, x, axis, largest), element_types.si64)
        return _finished(lower, values), lower.reshape(position, lower.out.sizes)

    return lower_extremum


lowers("aten.max.dim")(_with_position(largest=True))
lowers("aten.min.dim")(_with_position(largest=False))


# products and running sums


@lowers("aten.prod.dim_int")
def prod(lower: TosaLowering, x: Tensor, dim: int, *_: Any) -> Tensor:
    """The product; integers, which ``tosa.reduce_product`` does not take, in :func:`product`."""
    dtype = _accumulated(lower.out.dtype)
    x = lower.cast(lower.ranked(lower.cast(x, lower.out.dtype), max(x.rank, 1)), dtype)
    return _finished(lower, product(lower, x, dim))


def product(lower: TosaLowering, x: Tensor, axis: int) -> Tensor:
    """The product along an axis, which stays with size 1; of integers as a tree of products."""
    if element_types.is_float(x.dtype):
        return lower.reduce(tosa.ReduceProductOp, x, [axis])
    size = lower.static(x.sizes[axis], "the size of a dimension of integers to multiply")
    if size == 0:
        ones = [1 if i == axis else have for i, have in enumerate(x.sizes)]
        return lower.splat(1, ones, x.dtype)
    while size > 1:
        half = size // 2
        halves = [_part(lower, x, axis, start, half) for start in (0, half)]
        rest = _part(lower, x, axis, 2 * half, size - 2 * half)
        pairs = lower.elementwise(tosa.MulOp, *halves)
        x = lower.concatenate([pairs, rest], axis) if size % 2 else pairs
        size -= half
    return x


def _part(lower: TosaLowering, x: Tensor, axis: int, start: int, size: KnownSize) -> Tensor:
    """A range of one axis."""
    starts = [start if i == axis else 0 for i in range(x.rank)]
    sizes = [size if i == axis else have for i, have in enumerate(x.sizes)]
    return lower.slice(x, starts, sizes, [1] * x.rank)


@lowers("aten.cumsum")
def cumsum(lower: TosaLowering, x: Tensor, dim: int, *_: Any) -> Tensor:
    """Sums of the elements up to each one."""
    dtype = _accumulated(lower.out.dtype)
    wide = lower.cast(lower.ranked(lower.cast(x, lower.out.dtype), max(x.rank, 1)), dtype)
    axis = dim
    scan = _doubling_sums if isinstance(wide.sizes[axis], int) else _masked_sums
    return _finished(lower, scan(lower, wide, axis))


def _doubling_sums(lower: TosaLowering, x: Tensor, axis: int) -> Tensor:
    """Adds the tensor shifted by 1, 2, 4, ..: a logarithmic number of steps (Hillis and Steele)."""
    size = lower.static(x.sizes[axis], "the length of a running sum")
    shift = 1
    while shift < size:
        low = [shift if i == axis else 0 for i in range(x.rank)]
        kept = _part(lower, x, axis, 0, size - shift)
        x = lower.elementwise(tosa.AddOp, x, lower.pad(kept, low, [0] * x.rank, 0))
        shift *= 2
    return x


def _masked_sums(lower: TosaLowering, x: Tensor, axis: int) -> Tensor:
    """Sums over a new axis of the elements that do not come later; for lengths known at run time.

    It takes the square of the length, but a loop by doubling is what IREE refuses in models (it leaves a dispatch
    outside every execution region); what they add up, positions of tokens, is short.
    """
    length = x.sizes[axis]
    place = len(x.sizes) - axis
    rows = lower.iota((length, *[1] * place), 0, si32)
    columns = lower.iota((length, *[1] * (place - 1)), 0, si32)
    earlier = lower.compare(tosa.GreaterEqualOp, rows, columns)
    source = lower.reshape(x, (*x.sizes[:axis], 1, *x.sizes[axis:]))
    chosen = lower.select(earlier, source, lower.splat(0, (1,) * source.rank, x.dtype))
    return lower.reshape(lower.reduce(tosa.ReduceSumOp, chosen, [axis + 1]), x.sizes)
