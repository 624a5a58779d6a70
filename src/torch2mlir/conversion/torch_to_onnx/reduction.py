"""Reductions in ONNX. Where its operators leave open what a NaN does, the formula says it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import i1

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import highest, lowest, si64, widened
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_onnx.lowering import OnnxLowering, lowers
from torch2mlir.conversion.torch_to_onnx.words import ui8
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize


def kept_sizes(x: Tensor, over: Sequence[int]) -> list[KnownSize]:
    """The sizes with those that are reduced over as 1."""
    return [1 if axis in over else size for axis, size in enumerate(x.sizes)]


def reduce(
    lower: OnnxLowering,
    name: str,
    x: Tensor,
    over: Sequence[int],
    sizes: Sequence[KnownSize] | None = None,
) -> Tensor:
    """The elements along dimensions combined, under the result's sizes or under ``sizes``."""
    sizes = lower.out.sizes if sizes is None else sizes
    if not over:
        return lower.reshape(x, sizes)
    # OpenVINO fuses what follows a reduction that drops dimensions as if it had not
    kept, axes = kept_sizes(x, over), lower.vector(over)
    return lower.reshape(lower.node(name, x, axes, sizes=kept, dtype=x.dtype, keepdims=1), sizes)


@lowers("aten.sum.dim_IntList")
def sum_(lower: OnnxLowering, x: Tensor, over: Sequence[int], keepdim: bool, dtype: Any) -> Tensor:
    """The sum in the type of the result; half floats are added up in f32."""
    return lower.cast(_sum(lower, x, over), lower.out.dtype)


def _sum(lower: OnnxLowering, x: Tensor, over: Sequence[int]) -> Tensor:
    if element_types.is_float(lower.out.dtype):
        return reduce(lower, "ReduceSum", lower.cast(x, widened(lower.out.dtype)), over)
    return _integer_sum(lower, lower.cast(x, si64), over)


def _integer_sum(lower: OnnxLowering, x: Tensor, over: Sequence[int]) -> Tensor:
    """A product with ones: ONNX Runtime's ``ReduceSum`` of integers rounds to 53 bits and does not wrap around."""
    if not over:
        return lower.reshape(x, lower.out.sizes)
    line = _as_line(lower, x, over)
    ones = lower.splat(1, line.sizes[-1:], si64)
    total = lower.node("MatMul", line, ones, sizes=line.sizes[:-1], dtype=si64)
    return lower.reshape(total, lower.out.sizes)


def _as_line(lower: OnnxLowering, x: Tensor, over: Sequence[int]) -> Tensor:
    """The dimensions that are reduced over as one, the last."""
    kept = [axis for axis in range(x.rank) if axis not in over]
    turned = lower.transpose(x, [*kept, *over])
    length = dims.product([x.sizes[axis] for axis in over])
    return lower.reshape(turned, [*(x.sizes[axis] for axis in kept), length])


@lowers("aten.mean.dim")
def mean(lower: OnnxLowering, x: Tensor, over: Sequence[int], keepdim: bool, dtype: Any) -> Tensor:
    """The mean; NaN where there are no elements, of which ``ReduceMean`` is 0 in ONNX Runtime."""
    count = dims.product([x.sizes[d] for d in over])
    if isinstance(count, int) and count > 0:
        x = lower.cast(x, widened(lower.out.dtype))
        return lower.cast(reduce(lower, "ReduceMean", x, over), lower.out.dtype)
    return lower.cast(lower.apply("Div", _sum(lower, x, over), count), lower.out.dtype)


@lowers("aten.prod.dim_int")
def prod(lower: OnnxLowering, x: Tensor, dim: int, keepdim: bool, dtype: Any) -> Tensor:
    """The product along a dimension; of half floats in f32."""
    over = [dim] if x.rank else []
    if not element_types.is_float(lower.out.dtype):
        return lower.cast(_integer_product(lower, lower.cast(x, si64), over), lower.out.dtype)
    x = lower.cast(x, widened(lower.out.dtype))
    return lower.cast(reduce(lower, "ReduceProd", x, over), lower.out.dtype)


def _integer_product(lower: OnnxLowering, x: Tensor, over: Sequence[int]) -> Tensor:
    """One half of the elements times the other, as often as there are two: ``ReduceProd`` rounds to 53 bits."""
    if not over:
        return lower.reshape(x, lower.out.sizes)
    line = _as_line(lower, x, over)
    length = lower.static(line.sizes[-1], "the number of integers in a product")
    if length == 0:
        return lower.splat(1, lower.out.sizes, si64)
    outer, zeros = line.sizes[:-1], [0] * line.rank
    while length > 1:
        half = (length + 1) // 2
        rest = [*zeros[:-1], half]
        parts = (
            lower.slice(line, zeros, (*outer, half), [1] * line.rank),
            lower.slice(line, rest, (*outer, length - half), [1] * line.rank),
        )
        second = lower.pad(parts[1], zeros, [*zeros[:-1], 2 * half - length], 1)
        line, length = lower.apply("Mul", parts[0], second), half
    return lower.reshape(line, lower.out.sizes)


def nan_mask(lower: OnnxLowering, x: Tensor) -> Tensor:
    """1 where an element is NaN, else 0."""
    return lower.cast(lower.apply("IsNaN", x, dtype=i1), ui8)


def _register_extremum(name: str, op: str) -> None:
    @lowers(name)
    def extremum(lower: OnnxLowering, x: Tensor, over: Sequence[int], keepdim: bool) -> Tensor:
        return extremum_of(lower, op, x, over)


def extremum_of(
    lower: OnnxLowering,
    op: str,
    x: Tensor,
    over: Sequence[int],
    sizes: Sequence[KnownSize] | None = None,
) -> Tensor:
    """``ReduceMax`` or ``ReduceMin``, NaN where an element is: ONNX says nothing of that."""
    if element_types.is_bool(x.dtype):
        return lower.cast(reduce(lower, op, lower.cast(x, ui8), over, sizes), i1)
    if not element_types.is_float(x.dtype) or not over:
        return reduce(lower, op, x, over, sizes)
    neutral = (lowest if op == "ReduceMax" else highest)(x.dtype)
    undefined = lower.apply("IsNaN", x, dtype=i1)
    found = reduce(lower, op, lower.select(undefined, neutral, x), over, sizes)
    any_nan = reduce(lower, "ReduceMax", lower.cast(undefined, ui8), over, sizes)
    return lower.select(lower.cast(any_nan, i1), math.nan, found)


_register_extremum("aten.amax", "ReduceMax")
_register_extremum("aten.amin", "ReduceMin")


def _register_truth(name: str, op: str, neutral: bool) -> None:
    @lowers(name)
    def truth(lower: OnnxLowering, x: Tensor, over: Sequence[int], keepdim: bool) -> Tensor:
        if 0 in [x.sizes[d] for d in over]:
            return lower.splat(neutral, lower.out.sizes, lower.out.dtype)
        bits = lower.cast(lower.cast(x, i1), ui8)
        return lower.cast(lower.cast(reduce(lower, op, bits, over), i1), lower.out.dtype)


_register_truth("aten.any.dims", "ReduceMax", False)
_register_truth("aten.all.dims", "ReduceMin", True)

# where the extremum is


def _place(lower: OnnxLowering, op: str, x: Tensor, axis: int) -> Tensor:
    """The first position of the extremum along a dimension, which stays with size 1; a NaN is more extreme."""
    sizes = kept_sizes(x, [axis])
    if not element_types.is_float(x.dtype):
        x = lower.cast(x, ui8) if element_types.is_bool(x.dtype) else x
        return lower.node(op, x, sizes=sizes, dtype=si64, axis=axis, keepdims=1)
    undefined = nan_mask(lower, x)
    place = lower.node(op, x, sizes=sizes, dtype=si64, axis=axis, keepdims=1)
    first_nan = lower.node("ArgMax", undefined, sizes=sizes, dtype=si64, axis=axis, keepdims=1)
    axes = lower.vector([axis])
    any_nan = lower.node("ReduceMax", undefined, axes, sizes=sizes, dtype=ui8, keepdims=1)
    return lower.select(lower.cast(any_nan, i1), first_nan, place)


def _register_positions(op: str, of_dim: str, position: str) -> None:
    @lowers(of_dim)
    def with_positions(lower: OnnxLowering, x: Tensor, dim: int, keepdim: bool) -> list[Tensor]:
        if x.rank == 0:
            return [x, lower.splat(0, (), si64)]
        axis = dim
        place = _place(lower, op, x, axis)
        value = lower.node("GatherElements", x, place, sizes=place.sizes, dtype=x.dtype, axis=axis)
        return [lower.reshape(each, lower.out.sizes) for each in (value, place)]

    @lowers(position)
    def position_only(lower: OnnxLowering, x: Tensor, dim: int | None, keepdim: bool) -> Tensor:
        if x.rank == 0:
            return lower.splat(0, (), si64)
        if dim is None:
            x, dim = lower.reshape(x, [dims.product(x.sizes)]), 0
        return lower.reshape(_place(lower, op, x, dim), lower.out.sizes)


_register_positions("ArgMax", "aten.max.dim", "aten.argmax")
_register_positions("ArgMin", "aten.min.dim", "aten.argmin")

# scans


@lowers("aten.cumsum")
def cumsum(lower: OnnxLowering, x: Tensor, dim: int, dtype: Any) -> Tensor:
    """Running sums; half floats are added up in f32."""
    out = lower.out
    x = lower.cast(x, widened(out.dtype))
    if x.rank == 0:
        return lower.cast(x, out.dtype)
    axis = lower.splat(dim, (), si64)
    result = lower.node("CumSum", x, axis, sizes=x.sizes, dtype=x.dtype)
    return lower.cast(result, out.dtype)
