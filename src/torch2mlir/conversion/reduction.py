"""Reductions and running sums, once for all dialects: what is combined and in which type; targets say how."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import mul, truediv

from xdsl.dialects.builtin import f16, f64, i1

from torch2mlir.contract.element_types import is_complex, is_float, si64, widened
from torch2mlir.conversion.lowering import Lowering, ResultType, Tensor
from torch2mlir.conversion.registry import lowers_everywhere
from torch2mlir.dialects.torch import dims


@lowers_everywhere("aten.sum.dim_IntList")
def sum_(lower: Lowering, x: Tensor, over: Sequence[int], *_: object) -> Tensor:
    """The sum in the type of the result; half floats are added up in f32."""
    return lower.cast(_total(lower, x, over), lower.out.dtype)


def _total(lower: Lowering, x: Tensor, over: Sequence[int]) -> Tensor:
    dtype = widened(lower.out.dtype)
    total = lower.reduce("add", x, over, dtype)
    if is_float(dtype) and dims.product([x.sizes[d] for d in over]) == 1:
        # a sum begins with 0.0, also that of a single -0.0, which engines take for the sum
        return lower.formula(lambda total: total + 0.0, total, computed=dtype)
    return total


@lowers_everywhere("aten.mean.dim")
def mean(lower: Lowering, x: Tensor, over: Sequence[int], *_: object) -> Tensor:
    """The sum divided by the number of elements; NaN if there are none."""
    dtype, count = lower.out.dtype, dims.product([x.sizes[d] for d in over])
    if count == 0:  # what is folded of a quotient of two constants need not be NaN
        nothing = complex(math.nan, math.nan) if is_complex(dtype) else math.nan
        return lower.splat(nothing, lower.out.sizes, dtype)
    total = _total(lower, x, over)
    return lower.formula(lambda total, count: total / count, total, count, computed=widened(dtype))


@lowers_everywhere("aten.prod.dim_int")
def prod(lower: Lowering, x: Tensor, dim: int, *_: object) -> Tensor:
    """The product along a dimension; of half floats in f32."""
    over, dtype = [dim] if x.rank else [], lower.out.dtype
    return lower.cast(lower.reduce("mul", x, over, widened(dtype)), dtype)


def _extremum(word: str) -> Callable[..., Tensor]:
    def lower_extremum(lower: Lowering, x: Tensor, over: Sequence[int], *_: object) -> Tensor:
        return lower.reduce(word, x, over, x.dtype)

    return lower_extremum


def _truth(word: str) -> Callable[..., Tensor]:
    def lower_truth(lower: Lowering, x: Tensor, over: Sequence[int], *_: object) -> Tensor:
        return lower.cast(lower.reduce(word, x, over, i1), lower.out.dtype)

    return lower_truth


lowers_everywhere("aten.amax")(_extremum("max"))
lowers_everywhere("aten.amin")(_extremum("min"))
lowers_everywhere("aten.any.dims")(_truth("or"))
lowers_everywhere("aten.all.dims")(_truth("and"))

# where the extremum is


def _with_position(word: str) -> Callable[..., list[Tensor]]:
    def lower_both(lower: Lowering, x: Tensor, dim: int, *_: object) -> list[Tensor]:
        if x.rank == 0:
            return [x, lower.splat(0, (), si64)]
        return lower.extremum(word, x, dim, lower.out.sizes)

    return lower_both


def _position(word: str) -> Callable[..., Tensor]:
    def lower_position(lower: Lowering, x: Tensor, dim: int | None, *_: object) -> Tensor:
        if x.rank == 0:
            return lower.splat(0, lower.out.sizes, si64)
        if dim is not None:
            return lower.extremum(word, x, dim, lower.out.sizes)[1]
        line = lower.reshape(x, [dims.product(x.sizes)])
        return lower.reshape(lower.extremum(word, line, 0, ())[1], lower.out.sizes)

    return lower_position


lowers_everywhere("aten.max.dim")(_with_position("max"))
lowers_everywhere("aten.min.dim")(_with_position("min"))
lowers_everywhere("aten.argmax")(_position("max"))
lowers_everywhere("aten.argmin")(_position("min"))

# scans


@lowers_everywhere("aten.cumsum")
def cumsum(lower: Lowering, x: Tensor, dim: int, *_: object) -> Tensor:
    """``result[i] = 0 + x[0] + .. + x[i]`` along a dimension; half floats are added up in f32."""
    dtype = lower.out.dtype
    if x.rank == 0 or 0 in x.sizes:
        return lower.cast(x, dtype)
    terms = lower.cast(x, widened(dtype))
    if not is_float(terms.dtype):
        return lower.cast(lower.running_sum(terms, dim), dtype)
    # engines begin with the first term, which may be -0.0
    terms = lower.select(lower.compare("eq", terms, 0.0), 0.0, terms)
    if dtype == f16:
        return lower.cast(lower.running_sum(terms, dim), dtype)
    line = ResultType(terms.sizes, terms.dtype)
    scale = lower.spread(_room(lower, terms, dim), terms.sizes)
    scaled = lower.formula(mul, terms, scale, computed=terms.dtype, result=line)
    total = lower.running_sum(scaled, dim)
    return lower.formula(truediv, total, scale, computed=terms.dtype)


def _room(lower: Lowering, terms: Tensor, dim: int) -> Tensor:
    """A power of two for each line, so that no sum of its elements overflows; it is 1 save for huge numbers.

    Targets add up in an order of their own, eager mode one after the other (and f32 in f64): in ``[-3e38, 3e38, 3e38]``
    the last two must not meet first.
    """
    length = terms.sizes[dim]
    bits = length.bit_length() if isinstance(length, int) else _BITS_OF_LENGTHS
    largest = 1023 if terms.dtype == f64 else 127
    sizes = [1 if d == dim else size for d, size in enumerate(terms.sizes)]
    line = ResultType(terms.sizes, terms.dtype)
    finite = lower.formula(
        lambda x: (abs(x) < math.inf).where(abs(x), 0.0), terms, computed=terms.dtype, result=line
    )
    reached = lower.reduce("max", finite, [dim], terms.dtype, sizes)
    return lower.formula(
        lambda x: (x < 2.0 ** (largest - bits)).where(x.constant(1.0), 2.0**-bits),
        lower.reshape(reached, sizes),
        computed=terms.dtype,
        result=ResultType(tuple(sizes), terms.dtype),
    )


_BITS_OF_LENGTHS = 31
"""Of the length of a line that is not known."""
