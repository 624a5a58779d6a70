"""Writing elements to positions that tensors tell, in ONNX: one ``ScatterElements`` or ``ScatterND`` each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import neutral, si32, si64, widened
from torch2mlir.conversion.indexing import Positions
from torch2mlir.conversion.lowering import Operand, Tensor
from torch2mlir.conversion.torch_to_onnx.indexing import as_position
from torch2mlir.conversion.torch_to_onnx.lowering import OnnxLowering
from torch2mlir.conversion.torch_to_onnx.words import ui8
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize, Sizes


class Writes(OnnxLowering):
    """The words that write at positions; half floats are combined in f32."""

    def scatter(
        self, x: Tensor, axis: int, index: Tensor, source: Operand, word: str | None
    ) -> Tensor:
        dtype, computed, place = x.dtype, _combined_in(x, word), as_position(self, index)
        x = self.cast(x, computed)
        if isinstance(source, Tensor):
            updates = self.cast(source, computed)
        else:
            updates = self.splat(source, index.sizes, computed)

        def write(x: Tensor, updates: Tensor, word: str | None = word) -> Tensor:
            options = {"axis": axis, "reduction": word}
            operands = (x, place, updates)
            return self.node("ScatterElements", *operands, sizes=x.sizes, dtype=x.dtype, **options)

        if word in ("max", "min") and element_types.is_float(computed):
            return self.cast(_extremum(self, x, updates, write, word), dtype)
        return self.cast(write(x, updates), dtype)

    def put(self, x: Tensor, at: Positions, values: Tensor, word: str | None) -> Tensor:
        if word is None and _has_wide_rows(x, at):
            return _put_in_place(self, x, at, values)
        dtype, computed, to_front = x.dtype, _combined_in(x, word), [*at.axes, *at.others(x)]
        turned, order = self.transpose(self.cast(x, computed), to_front), at.indexed_order(x)
        in_front: tuple[KnownSize, ...] = (*at.sizes, *turned.sizes[len(at.axes) :])
        updates = self.broadcast_to(self.cast(values, computed), [in_front[d] for d in order])
        updates = self.transpose(updates, _inverse(order))
        if word is None:
            operands, sizes = (turned, at.columns(self), updates), turned.sizes
            result = self.node("ScatterND", *operands, sizes=sizes, dtype=computed)
        else:
            result = _combine_rows(self, turned, at, updates, word)
        return self.cast(self.transpose(result, _inverse(to_front)), dtype)


_WIDE = 8
"""Elements from which on writing a row takes less time than turning a tensor around and back."""


def _has_wide_rows(x: Tensor, at: Positions) -> bool:
    """Whether one dimension is indexed that is not the first, and what is behind it lies together in long rows."""
    width = dims.product(x.sizes[at.axes[-1] + 1 :])
    return len(at.axes) == 1 and at.axes[0] > 0 and isinstance(width, int) and width >= _WIDE


def _put_in_place(lower: OnnxLowering, x: Tensor, at: Positions, values: Tensor) -> Tensor:
    """A ``ScatterND`` of rows where they are: of the dimensions before the indexed one, at all positions."""
    before = x.sizes[: at.axes[0]]
    places = (*before, *at.sizes)
    columns = [lower.iota(places, dim, si64) for dim in range(len(before))]
    columns.append(lower.broadcast_to(lower.cast(at.indices[0], si64), places))
    index = lower.concatenate([lower.reshape(each, (*places, 1)) for each in columns], len(places))
    updates = lower.broadcast_to(lower.cast(values, x.dtype), at.indexed_sizes(x))
    return lower.node("ScatterND", x, index, updates, sizes=x.sizes, dtype=x.dtype)


def _combine_rows(
    lower: OnnxLowering, x: Tensor, at: Positions, updates: Tensor, word: str
) -> Tensor:
    """A ``ScatterElements`` of rows: ONNX Runtime's ``ScatterND`` loses updates of one place by several threads.

    Args:
        lower: emits.
        x: the indexed dimensions come first.
        at: where rows of it are.
        updates: the dimensions of the indices come first.
        word: how they are combined.
    """
    count = len(at.axes)
    rows, width = dims.product(x.sizes[:count]), dims.product(x.sizes[count:])
    number = dims.product(at.sizes)
    place = lower.reshape(_row(lower, x.sizes[:count], at), (number, 1))
    operands = (
        lower.reshape(x, (rows, width)),
        lower.broadcast_to(place, (number, width)),
        lower.reshape(updates, (number, width)),
    )
    options = {"axis": 0, "reduction": word}
    result = lower.node("ScatterElements", *operands, sizes=(rows, width), dtype=x.dtype, **options)
    return lower.reshape(result, x.sizes)


def _row(lower: OnnxLowering, sizes: Sizes, at: Positions) -> Tensor:
    """Which row, in the order of memory; one that is not there for a position that is outside of its dimension."""
    if len(sizes) == 1:
        return as_position(lower, at.indices[0])
    ones = (1,) * len(at.sizes)
    row, is_outside = lower.splat(0, ones, si64), lower.splat(False, ones, i1)
    for size, index in zip(sizes, at.indices, strict=True):
        length, place = lower.splat(size, ones, si64), lower.cast(index, si64)
        from_front = lower.apply("Add", place, length)
        place = lower.select(lower.compare("lt", place, 0), from_front, place)
        for wrong in (lower.compare("lt", place, 0), lower.compare("ge", place, length)):
            is_outside = lower.apply("Or", is_outside, wrong)
        row = lower.apply("Add", lower.apply("Mul", row, length), place)
    return lower.select(is_outside, lower.splat(dims.product(sizes), ones, si64), row)


def _extremum(
    lower: OnnxLowering, x: Tensor, updates: Tensor, write: Callable[..., Tensor], word: str
) -> Tensor:
    """An extremum that is NaN where an element is, of which ONNX says nothing: NaNs are written by themselves."""
    start = neutral(word, x.dtype)
    undefined = [lower.apply("IsNaN", each, dtype=i1) for each in (x, updates)]
    numbers = (
        lower.select(nan, start, each) for nan, each in zip(undefined, (x, updates), strict=True)
    )
    any_nan = write(*(lower.cast(each, si32) for each in undefined), "max")
    return lower.select(lower.cast(any_nan, i1), math.nan, write(*numbers))


def _combined_in(x: Tensor, word: str | None) -> Attribute:
    if word is None:
        return x.dtype
    return ui8 if element_types.is_bool(x.dtype) else widened(x.dtype)


def _inverse(permutation: Sequence[int]) -> list[int]:
    return sorted(range(len(permutation)), key=permutation.__getitem__)
