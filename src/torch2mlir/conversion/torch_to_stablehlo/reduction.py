"""Reductions in StableHLO: ``reduce`` from the neutral element, of pairs for positions, windows for running sums."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import neutral, si32, si64
from torch2mlir.conversion.lowering import ResultType, Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.torch.dims import Sizes

COMBINING: dict[str, type[Operation]] = {
    "add": hlo.AddOp,
    "and": hlo.AndOp,
    "max": hlo.MaxOp,
    "min": hlo.MinOp,
    "mul": hlo.MulOp,
    "or": hlo.OrOp,
}
"""The ops of two elements; the extremum of a NaN and another is NaN."""


class Reductions(StablehloLowering):
    """The words that combine the elements of a tensor with each other."""

    def combined(self, word: str, x: Tensor, over: Sequence[int], result: ResultType) -> Tensor:
        computed = result.dtype
        x = self.cast(x, computed)
        if over:
            kept = [size for axis, size in enumerate(x.sizes) if axis not in over]
            operands = [x, self.splat(neutral(word, computed), (), computed)]
            properties: dict[str, Attribute] = {"dimensions": hlo.i64_array(over)}
            body = self.combiner(COMBINING[word], computed)
            x = self.op(hlo.ReduceOp, operands, kept, computed, properties, [body])
        return self.reshape(x, result.sizes)

    def extremum(self, word: str, x: Tensor, axis: int, sizes: Sizes) -> list[Tensor]:
        """The extremum, the first place that has it or is NaN, and its element there, which may be the other zero.

        One reduction of pairs says the same, and engines do it element by element.
        """
        kept = x.sizes[:axis] + x.sizes[axis + 1 :]
        others = [i for i in range(x.rank) if i != axis]
        best = self.combined(word, x, [axis], ResultType(kept, x.dtype))
        has = self.compare("eq", x, self.broadcast_in_dim(best, x.sizes, others))
        if element_types.is_float(x.dtype):
            has = self.apply(hlo.OrOp, has, self.compare("ne", x, x))
        length = x.sizes[axis]
        counted = si32 if isinstance(length, int) and length < 1 << 31 else si64
        places = self.iota(x.sizes, axis, counted)
        last = (1 << (31 if counted == si32 else 63)) - 1
        place = self.combined(
            "min", self.select(has, places, last), [axis], ResultType(kept, counted)
        )
        chosen = self.compare("eq", places, self.broadcast_in_dim(place, x.sizes, others))
        alone = self.select(chosen, x, self.splat(neutral(word, x.dtype), x.sizes, x.dtype))
        value = self.combined(word, alone, [axis], ResultType(kept, x.dtype))
        return [self.reshape(each, sizes) for each in (value, self.cast(place, si64))]

    def running_sum(self, x: Tensor, axis: int) -> Tensor:
        """A window that reaches back to the start; XLA adds up a long one again and again, so its pairs come first."""
        length = x.sizes[axis]
        if not isinstance(length, int):
            return _masked_sums(self, x, axis)
        if length > _SHORT and x.is_static:
            return _sums_by_pairs(self, x, axis, length)
        window, padding = [1] * x.rank, [(0, 0)] * x.rank
        window[axis], padding[axis] = length, (length - 1, 0)
        properties = self.window_properties(window, padding=padding)
        return self.reduce_window(hlo.AddOp, x, 0, x.sizes, properties)


_SHORT = 16
"""Elements of which running sums are one window."""


def _sums_by_pairs(lower: StablehloLowering, x: Tensor, axis: int, length: int) -> Tensor:
    """The running sums of pairs, and those between them: twice as many additions as there are elements."""
    pairs, others = length // 2, (length - 1) // 2
    firsts = lower.section(x, axis, 0, pairs, 2)
    seconds = lower.section(x, axis, 1, pairs, 2)
    at_odd = lower.running_sum(lower.apply(hlo.AddOp, firsts, seconds), axis)
    before = lower.section(at_odd, axis, 0, others)
    between = lower.apply(hlo.AddOp, before, lower.section(x, axis, 2, others, 2))
    at_even = lower.concatenate([lower.section(x, axis, 0, 1), between], axis)
    return _in_turn(lower, at_even, at_odd, axis, length)


def _in_turn(lower: StablehloLowering, x: Tensor, y: Tensor, axis: int, length: int) -> Tensor:
    """The elements of ``x``, and behind each that of ``y``, which may have one less; ``length`` in all."""
    if length % 2:
        high = [0] * x.rank
        high[axis] = 1
        y = lower.pad(y, [0] * x.rank, high, 0)
    outer, inner = x.sizes[: axis + 1], x.sizes[axis + 1 :]
    apart = [lower.reshape(each, [*outer, 1, *inner]) for each in (x, y)]
    both = lower.concatenate(apart, axis + 1)
    joined = lower.reshape(both, [*x.sizes[:axis], length + length % 2, *inner])
    return lower.section(joined, axis, 0, length)


def _masked_sums(lower: StablehloLowering, x: Tensor, axis: int) -> Tensor:
    """Running sums along a dimension of unknown size, which cannot be a window's: over a triangle of copies."""
    rows = axis + 1
    sizes = (*x.sizes[:rows], x.sizes[axis], *x.sizes[rows:])
    copies = lower.broadcast_in_dim(x, sizes, [d for d in range(x.rank + 1) if d != axis])
    reached = lower.compare("le", lower.iota(sizes, rows, si64), lower.iota(sizes, axis, si64))
    return lower.reduce("add", lower.select(reached, copies, 0), [rows], x.dtype, x.sizes)
