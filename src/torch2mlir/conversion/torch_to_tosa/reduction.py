"""Reductions in TOSA: one axis at a time, reduced axes stay with size 1 until the end."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Operation

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import neutral, si32, si64
from torch2mlir.conversion.lowering import ResultType, Tensor
from torch2mlir.conversion.torch_to_tosa.casts import computed_dtype, si8
from torch2mlir.conversion.torch_to_tosa.layouts import channels_last_permutation
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering
from torch2mlir.dialects import tosa
from torch2mlir.dialects.torch.dims import Sizes

COMBINING: dict[str, type[Operation]] = {
    "add": tosa.ReduceSumOp,
    "and": tosa.ReduceAllOp,
    "max": tosa.ReduceMaxOp,
    "min": tosa.ReduceMinOp,
    "mul": tosa.ReduceProductOp,
    "or": tosa.ReduceAnyOp,
}


class Reductions(TosaLowering):
    """The words that combine the elements of a tensor with each other."""

    def combined(self, word: str, x: Tensor, over: Sequence[int], result: ResultType) -> Tensor:
        computed = result.dtype
        wide = computed if word in ("or", "and") else computed_dtype(computed)
        found = _along(self, word, self.cast(self.cast(x, computed), wide), over)
        return self.reshape(self.cast(found, computed), result.sizes)

    def extremum(self, word: str, x: Tensor, axis: int, sizes: Sizes) -> list[Tensor]:
        place = self.cast(_position(self, x, axis, word == "max"), si64)
        return [self.reduce(word, x, [axis], x.dtype, sizes), self.reshape(place, sizes)]

    def running_sum(self, x: Tensor, axis: int) -> Tensor:
        wide = self.cast(x, computed_dtype(x.dtype))
        scan = _doubling_sums if isinstance(x.sizes[axis], int) else _masked_sums
        return self.cast(scan(self, wide, axis), x.dtype)


def _along(lower: TosaLowering, word: str, x: Tensor, over: Sequence[int]) -> Tensor:
    """Axis by axis; they stay with size 1. What exists with channels last is reduced so."""
    last = lower.known_channels_last(x)
    if last is not None:
        places = [channels_last_permutation(x.rank).index(axis) for axis in over]
        return lower.channels_first(_axis_by_axis(lower, word, last, places))
    return _axis_by_axis(lower, word, x, over)


def _axis_by_axis(lower: TosaLowering, word: str, x: Tensor, over: Sequence[int]) -> Tensor:
    if any(x.sizes[axis] == 0 for axis in over):
        if word in ("max", "min"):
            lower.fail("there is no largest or smallest of no elements")
        sizes = [1 if i in over else size for i, size in enumerate(x.sizes)]
        return lower.splat(neutral(word, x.dtype), sizes, x.dtype)
    for axis in over:
        if word == "mul" and not element_types.is_float(x.dtype):
            x = _product(lower, x, axis)
            continue
        sizes = [1 if i == axis else size for i, size in enumerate(x.sizes)]
        x = lower.op(COMBINING[word], [x], sizes, x.dtype, {"axis": IntegerAttr(axis, i32)})
    return x


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


def _product(lower: TosaLowering, x: Tensor, axis: int) -> Tensor:
    """The product of integers, which ``tosa.reduce_product`` does not take, as a tree of products."""
    size = lower.static(x.sizes[axis], "the size of a dimension of integers to multiply")
    while size > 1:
        half = size // 2
        halves = [lower.section(x, axis, start, half) for start in (0, half)]
        rest = lower.section(x, axis, 2 * half, size - 2 * half)
        pairs = lower.elementwise(tosa.MulOp, *halves)
        x = lower.concatenate([pairs, rest], axis) if size % 2 else pairs
        size -= half
    return x


def _doubling_sums(lower: TosaLowering, x: Tensor, axis: int) -> Tensor:
    """Adds the tensor shifted by 1, 2, 4, ..: a logarithmic number of steps (Hillis and Steele)."""
    size = lower.static(x.sizes[axis], "the length of a running sum")
    shift = 1
    while shift < size:
        low = [shift if i == axis else 0 for i in range(x.rank)]
        kept = lower.section(x, axis, 0, size - shift)
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
    earlier = lower.compare("ge", rows, columns)
    source = lower.reshape(x, (*x.sizes[:axis], 1, *x.sizes[axis:]))
    chosen = lower.select(earlier, source, lower.splat(0, (1,) * source.rank, x.dtype))
    return lower.reduce("add", chosen, [axis + 1], x.dtype, x.sizes)
