"""Reductions in ONNX. Where its operators leave open what a NaN does, the formula says it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import i1

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import neutral, si64, widened
from torch2mlir.conversion import reduction
from torch2mlir.conversion.lowering import ResultType, Tensor
from torch2mlir.conversion.torch_to_onnx.lowering import OnnxLowering, lowers
from torch2mlir.conversion.torch_to_onnx.words import ui8
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize, Sizes

COMBINING = {
    "add": "ReduceSum",
    "and": "ReduceMin",
    "max": "ReduceMax",
    "min": "ReduceMin",
    "mul": "ReduceProd",
    "or": "ReduceMax",
}


class Reductions(OnnxLowering):
    """The words that combine the elements of a tensor with each other."""

    def combined(self, word: str, x: Tensor, over: Sequence[int], result: ResultType) -> Tensor:
        x = self.cast(x, result.dtype)
        return self.reshape(_along(self, word, x, over) if over else x, result.sizes)

    def extremum(self, word: str, x: Tensor, axis: int, sizes: Sizes) -> list[Tensor]:
        place = _place(self, "ArgMax" if word == "max" else "ArgMin", x, axis)
        value = self.node("GatherElements", x, place, sizes=place.sizes, dtype=x.dtype, axis=axis)
        return [self.reshape(each, sizes) for each in (value, place)]

    def running_sum(self, x: Tensor, axis: int) -> Tensor:
        return self.node("CumSum", x, self.splat(axis, (), si64), sizes=x.sizes, dtype=x.dtype)


def _along(lower: OnnxLowering, word: str, x: Tensor, over: Sequence[int]) -> Tensor:
    """Elements combined; the dimensions stay with size 1 or are left out."""
    if element_types.is_bool(x.dtype):
        if 0 in [x.sizes[d] for d in over]:
            return lower.splat(neutral(word, x.dtype), kept_sizes(x, over), i1)
        return lower.cast(_reduced(lower, COMBINING[word], lower.cast(x, ui8), over), i1)
    if not element_types.is_float(x.dtype) and word in ("add", "mul"):
        in_64_bits = _integer_sum if word == "add" else _integer_product
        return lower.cast(in_64_bits(lower, lower.cast(x, si64), over), x.dtype)
    if not element_types.is_float(x.dtype) or word in ("add", "mul"):
        return _reduced(lower, COMBINING[word], x, over)
    # which element is found beside a NaN does not matter
    found = _reduced(lower, COMBINING[word], x, over)
    undefined = lower.apply("IsNaN", x, dtype=i1)
    any_nan = _reduced(lower, "ReduceMax", lower.cast(undefined, ui8), over)
    return lower.select(lower.cast(any_nan, i1), math.nan, found)


def _reduced(lower: OnnxLowering, name: str, x: Tensor, over: Sequence[int]) -> Tensor:
    # OpenVINO fuses what follows a reduction that drops dimensions as if it had not
    kept, axes = kept_sizes(x, over), lower.vector(over)
    return lower.node(name, x, axes, sizes=kept, dtype=x.dtype, keepdims=1)


def kept_sizes(x: Tensor, over: Sequence[int]) -> list[KnownSize]:
    """The sizes with those that are reduced over as 1."""
    return [1 if axis in over else size for axis, size in enumerate(x.sizes)]


@lowers("aten.mean.dim")
def mean(lower: OnnxLowering, x: Tensor, over: Sequence[int], *_: object) -> Tensor:
    """``ReduceMean``, which is 0 of no elements in ONNX Runtime."""
    count, dtype = dims.product([x.sizes[d] for d in over]), lower.out.dtype
    if not isinstance(count, int) or count == 0 or not over:
        return reduction.mean(lower, x, over)
    average = _reduced(lower, "ReduceMean", lower.cast(x, widened(dtype)), over)
    return lower.cast(lower.reshape(average, lower.out.sizes), dtype)


def _integer_sum(lower: OnnxLowering, x: Tensor, over: Sequence[int]) -> Tensor:
    """A product with ones: ONNX Runtime's ``ReduceSum`` of integers rounds to 53 bits and does not wrap around."""
    line = _as_line(lower, x, over)
    ones = lower.splat(1, line.sizes[-1:], si64)
    return lower.node("MatMul", line, ones, sizes=line.sizes[:-1], dtype=si64)


def _as_line(lower: OnnxLowering, x: Tensor, over: Sequence[int]) -> Tensor:
    """The dimensions that are reduced over as one, the last."""
    kept = [axis for axis in range(x.rank) if axis not in over]
    turned = lower.transpose(x, [*kept, *over])
    length = dims.product([x.sizes[axis] for axis in over])
    return lower.reshape(turned, [*(x.sizes[axis] for axis in kept), length])


def _integer_product(lower: OnnxLowering, x: Tensor, over: Sequence[int]) -> Tensor:
    """One half of the elements times the other, as often as there are two: ``ReduceProd`` rounds to 53 bits."""
    line = _as_line(lower, x, over)
    length = lower.static(line.sizes[-1], "the number of integers in a product")
    if length == 0:
        return lower.splat(1, line.sizes[:-1], si64)
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
    return lower.reshape(line, outer)


def _place(lower: OnnxLowering, op: str, x: Tensor, axis: int) -> Tensor:
    """The first position of the extremum along a dimension, which stays with size 1; a NaN is more extreme."""
    sizes = kept_sizes(x, [axis])
    if not element_types.is_float(x.dtype):
        x = lower.cast(x, ui8) if element_types.is_bool(x.dtype) else x
        return lower.node(op, x, sizes=sizes, dtype=si64, axis=axis, keepdims=1)
    undefined = lower.cast(lower.apply("IsNaN", x, dtype=i1), ui8)
    place = lower.node(op, x, sizes=sizes, dtype=si64, axis=axis, keepdims=1)
    first_nan = lower.node("ArgMax", undefined, sizes=sizes, dtype=si64, axis=axis, keepdims=1)
    axes = lower.vector([axis])
    any_nan = lower.node("ReduceMax", undefined, axes, sizes=sizes, dtype=ui8, keepdims=1)
    return lower.select(lower.cast(any_nan, i1), first_nan, place)
