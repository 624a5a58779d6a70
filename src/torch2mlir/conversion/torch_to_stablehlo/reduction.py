"""Reductions in StableHLO: ``reduce`` from the neutral element, of pairs for positions, windows for running sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Operation, Region, SSAValue

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import highest, lowest, si64, widened
from torch2mlir.conversion.lowering import Number, Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import (
    StablehloLowering,
    lowers,
)
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.torch import dims

Neutral = Callable[[Attribute], Number]


@lowers("aten.sum.dim_IntList")
def sum_(
    lower: StablehloLowering, x: Tensor, over: Sequence[int], keepdim: bool, dtype: Any
) -> Tensor:
    """The sum in the type of the result; half floats are added up in f32."""
    return lower.cast(_sum(lower, x, over), lower.out.dtype)


def _sum(lower: StablehloLowering, x: Tensor, over: Sequence[int]) -> Tensor:
    return lower.reduce(hlo.AddOp, x, over, 0, widened(lower.out.dtype))


@lowers("aten.mean.dim")
def mean(
    lower: StablehloLowering, x: Tensor, over: Sequence[int], keepdim: bool, dtype: Any
) -> Tensor:
    """The sum divided by the number of elements; NaN if there are none."""
    count = dims.product([x.sizes[d] for d in over])
    average = lower.apply(hlo.DivOp, _sum(lower, x, over), count)
    return lower.cast(average, lower.out.dtype)


@lowers("aten.prod.dim_int")
def prod(lower: StablehloLowering, x: Tensor, dim: int, keepdim: bool, dtype: Any) -> Tensor:
    """The product along a dimension; of half floats in f32."""
    over = [dim] if x.rank else []
    computed = widened(lower.out.dtype)
    product = lower.reduce(hlo.MulOp, x, over, 1, computed)
    return lower.cast(product, lower.out.dtype)


def _register_extremum(name: str, op_class: type[Operation], neutral: Neutral) -> None:
    @lowers(name)
    def extremum(lower: StablehloLowering, x: Tensor, over: Sequence[int], keepdim: bool) -> Tensor:
        return lower.reduce(op_class, x, over, neutral(x.dtype), x.dtype)


# NaN where an element is, as stablehlo.maximum
_register_extremum("aten.amax", hlo.MaxOp, lowest)
_register_extremum("aten.amin", hlo.MinOp, highest)


def _register_truth(name: str, op_class: type[Operation], neutral: bool) -> None:
    @lowers(name)
    def truth(lower: StablehloLowering, x: Tensor, over: Sequence[int], keepdim: bool) -> Tensor:
        result = lower.reduce(op_class, x, over, neutral, i1)
        return lower.cast(result, lower.out.dtype)


_register_truth("aten.any.dims", hlo.OrOp, False)
_register_truth("aten.all.dims", hlo.AndOp, True)

# where the extremum is


def extremum_body(
    lower: StablehloLowering, dtype: Attribute, direction: str, of_nans: str = "LT"
) -> Region:
    """The body that chooses of two elements and their positions the more extreme one.

    NaN is more extreme than any number, and of equal elements the one in front is chosen, so the order of a
    reduction does not show. Of two NaNs it is the one whose position compares by ``of_nans``.
    """

    def build(a: SSAValue, i: SSAValue, b: SSAValue, j: SSAValue) -> list[SSAValue]:
        x, y = Tensor(a, (), dtype), Tensor(b, (), dtype)
        place, other = Tensor(i, (), si64), Tensor(j, (), si64)
        better, equal = lower.compare(direction, x, y), lower.compare("EQ", x, y)
        in_front = lower.apply(hlo.AndOp, equal, lower.compare("LT", place, other))
        wins = lower.apply(hlo.OrOp, better, in_front)
        if element_types.is_float(dtype):
            nan, other_nan = lower.compare("NE", x, x), lower.compare("NE", y, y)
            chosen = lower.apply(hlo.AndOp, nan, lower.compare(of_nans, place, other))
            only_nan = lower.compare("GT", nan, other_nan)
            wins = lower.apply(hlo.OrOp, wins, only_nan)
            both = lower.apply(hlo.AndOp, chosen, other_nan)
            wins = lower.apply(hlo.OrOp, wins, both)
        return [lower.select(wins, *pair).value for pair in ((x, y), (place, other))]

    types = [lower.tensor_type((), dtype), lower.tensor_type((), si64)]
    return lower.region([*types, *types], build)


def _extremum_along(lower: StablehloLowering, x: Tensor, axis: int, direction: str) -> list[Tensor]:
    """The extremum along a dimension, which is dropped, and its first position."""
    neutral = lowest if direction == "GT" else highest
    places = lower.iota(x.sizes, axis, si64)
    inits = [lower.splat(neutral(x.dtype), (), x.dtype), lower.splat(0, (), si64)]
    kept = x.sizes[:axis] + x.sizes[axis + 1 :]
    reduced = lower.emit(
        hlo.ReduceOp,
        [t.value for t in (x, places, *inits)],
        [lower.tensor_type(kept, x.dtype), lower.tensor_type(kept, si64)],
        {"dimensions": hlo.i64_array([axis])},
        [extremum_body(lower, x.dtype, direction)],
    )
    types = (x.dtype, si64)
    return [Tensor(r, kept, dtype) for r, dtype in zip(reduced.results, types, strict=True)]


def _register_positions(direction: str, of_dim: str, position: str) -> None:
    @lowers(of_dim)
    def with_positions(
        lower: StablehloLowering, x: Tensor, dim: int, keepdim: bool
    ) -> list[Tensor]:
        if x.rank == 0:
            return [x, lower.splat(0, (), si64)]
        found = _extremum_along(lower, x, dim, direction)
        return [lower.reshape(t, lower.out.sizes) for t in found]

    @lowers(position)
    def position_only(
        lower: StablehloLowering, x: Tensor, dim: int | None, keepdim: bool
    ) -> Tensor:
        if dim is None or x.rank == 0:
            x, dim = lower.reshape(x, [dims.product(x.sizes)]), 0
        place = _extremum_along(lower, x, dim, direction)[1]
        return lower.reshape(place, lower.out.sizes)


_register_positions("GT", "aten.max.dim", "aten.argmax")
_register_positions("LT", "aten.min.dim", "aten.argmin")

# scans


@lowers("aten.cumsum")
def cumsum(lower: StablehloLowering, x: Tensor, dim: int, dtype: Any) -> Tensor:
    """Running sums: a window that reaches back to the start; half floats are added up in f32."""
    out = lower.out
    if x.rank == 0 or 0 in x.sizes:
        return lower.cast(x, out.dtype)
    axis, computed = dim, widened(out.dtype)
    x = lower.cast(x, computed)
    length = x.sizes[axis]
    if not isinstance(length, int):
        return lower.cast(_masked_sums(lower, x, axis), out.dtype)
    window, padding = [1] * x.rank, [(0, 0)] * x.rank
    window[axis], padding[axis] = length, (length - 1, 0)
    properties = lower.window_properties(window, padding=padding)
    return lower.cast(lower.reduce_window(hlo.AddOp, x, 0, x.sizes, properties), out.dtype)


def _masked_sums(lower: StablehloLowering, x: Tensor, axis: int) -> Tensor:
    """Running sums along a dimension of unknown size, which cannot be a window's: over a triangle of copies."""
    rows = axis + 1
    sizes = (*x.sizes[:rows], x.sizes[axis], *x.sizes[rows:])
    copies = lower.broadcast_in_dim(x, sizes, [d for d in range(x.rank + 1) if d != axis])
    reached = lower.compare("LE", lower.iota(sizes, rows, si64), lower.iota(sizes, axis, si64))
    operands = [lower.select(reached, copies, 0), lower.splat(0, (), x.dtype)]
    properties: dict[str, Attribute] = {"dimensions": hlo.i64_array([rows])}
    body = lower.combiner(hlo.AddOp, x.dtype)
    return lower.op(hlo.ReduceOp, operands, x.sizes, x.dtype, properties, [body])
