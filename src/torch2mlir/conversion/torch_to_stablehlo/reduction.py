"""Reductions in StableHLO: ``reduce`` from the neutral element, of pairs for positions, windows for running sums."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, Region, SSAValue

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import neutral, si64
from torch2mlir.conversion.lowering import ResultType, Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.torch.dims import KnownSize

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

    def extremum(self, word: str, x: Tensor, axis: int, sizes: Sequence[KnownSize]) -> list[Tensor]:
        inits = [self.splat(neutral(word, x.dtype), (), x.dtype), self.splat(0, (), si64)]
        operands = [x, self.iota(x.sizes, axis, si64), *inits]
        kept, types = x.sizes[:axis] + x.sizes[axis + 1 :], (x.dtype, si64)
        reduced = self.emit(
            hlo.ReduceOp,
            [operand.value for operand in operands],
            [self.tensor_type(kept, dtype) for dtype in types],
            {"dimensions": hlo.i64_array([axis])},
            [extremum_body(self, x.dtype, "gt" if word == "max" else "lt")],
        )
        results = zip(reduced.results, types, strict=True)
        return [self.reshape(Tensor(r, kept, dtype), sizes) for r, dtype in results]

    def running_sum(self, x: Tensor, axis: int) -> Tensor:
        """A window that reaches back to the start."""
        length = x.sizes[axis]
        if not isinstance(length, int):
            return _masked_sums(self, x, axis)
        window, padding = [1] * x.rank, [(0, 0)] * x.rank
        window[axis], padding[axis] = length, (length - 1, 0)
        properties = self.window_properties(window, padding=padding)
        return self.reduce_window(hlo.AddOp, x, 0, x.sizes, properties)


def extremum_body(
    lower: StablehloLowering, dtype: Attribute, direction: str, of_nans: str = "lt"
) -> Region:
    """The body that chooses of two elements and their positions the more extreme one.

    NaN is more extreme than any number, and of equal elements the one in front is chosen, so the order of a
    reduction does not show. Of two NaNs it is the one whose position compares by ``of_nans``.
    """

    def build(a: SSAValue, i: SSAValue, b: SSAValue, j: SSAValue) -> list[SSAValue]:
        x, y = Tensor(a, (), dtype), Tensor(b, (), dtype)
        place, other = Tensor(i, (), si64), Tensor(j, (), si64)
        better, equal = lower.compare(direction, x, y), lower.compare("eq", x, y)
        in_front = lower.apply(hlo.AndOp, equal, lower.compare("lt", place, other))
        wins = lower.apply(hlo.OrOp, better, in_front)
        if element_types.is_float(dtype):
            nan, other_nan = lower.compare("ne", x, x), lower.compare("ne", y, y)
            chosen = lower.apply(hlo.AndOp, nan, lower.compare(of_nans, place, other))
            only_nan = lower.compare("gt", nan, other_nan)
            wins = lower.apply(hlo.OrOp, wins, only_nan)
            both = lower.apply(hlo.AndOp, chosen, other_nan)
            wins = lower.apply(hlo.OrOp, wins, both)
        return [lower.select(wins, *pair).value for pair in ((x, y), (place, other))]

    types = [lower.tensor_type((), dtype), lower.tensor_type((), si64)]
    return lower.region([*types, *types], build)


def _masked_sums(lower: StablehloLowering, x: Tensor, axis: int) -> Tensor:
    """Running sums along a dimension of unknown size, which cannot be a window's: over a triangle of copies."""
    rows = axis + 1
    sizes = (*x.sizes[:rows], x.sizes[axis], *x.sizes[rows:])
    copies = lower.broadcast_in_dim(x, sizes, [d for d in range(x.rank + 1) if d != axis])
    reached = lower.compare("le", lower.iota(sizes, rows, si64), lower.iota(sizes, axis, si64))
    return lower.reduce("add", lower.select(reached, copies, 0), [rows], x.dtype, x.sizes)
