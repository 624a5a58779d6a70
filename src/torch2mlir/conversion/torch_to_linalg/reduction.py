"""Reductions in Linalg-on-Tensors: loop nests that start from the neutral element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import highest, lowest, widened
from torch2mlir.conversion.lowering import Number, ResultType, Scalar, Tensor
from torch2mlir.conversion.torch_to_linalg.control_flow import doubling
from torch2mlir.conversion.torch_to_linalg.lowering import LinalgLowering, lowers
from torch2mlir.conversion.torch_to_linalg.scalars import INDEX, Scalars, addition, two
from torch2mlir.dialects.torch import dims


@lowers("aten.sum.dim_IntList")
def sum_(lower: LinalgLowering, x: Tensor, over: Sequence[int], *_: Any) -> Tensor:
    """The sum in the type of the result; halves are added up in f32."""
    return lower.cast(_sum(lower, x, over), lower.out.dtype)


def _sum(lower: LinalgLowering, x: Tensor, over: Sequence[int]) -> Tensor:
    return lower.reduce(addition, x, over, 0, widened(lower.out.dtype))


@lowers("aten.mean.dim")
def mean(lower: LinalgLowering, x: Tensor, over: Sequence[int], *_: Any) -> Tensor:
    """The sum divided by the number of elements; NaN if there are none."""
    total = _sum(lower, x, over)
    count = dims.product([x.sizes[d] for d in over])
    return lower.elementwise(two("div"), total, count, computed=total.dtype)


@lowers("aten.prod.dim_int")
def prod(lower: LinalgLowering, x: Tensor, dim: int, keepdim: bool, dtype: Any) -> Tensor:
    """The product along a dimension."""
    over = [dim] if x.rank else []
    return lower.cast(
        lower.reduce(two("mul"), x, over, 1, widened(lower.out.dtype)), lower.out.dtype
    )


def _extremum(word: str, neutral: Callable[[Attribute], Number]) -> Callable[..., Tensor]:
    def lower_extremum(
        lower: LinalgLowering, x: Tensor, over: Sequence[int], keepdim: bool
    ) -> Tensor:
        return lower.reduce(two(word), x, over, neutral(x.dtype), x.dtype)

    return lower_extremum


# NaN where an element is, as arith.maximumf
lowers("aten.amax")(_extremum("max", lowest))
lowers("aten.amin")(_extremum("min", highest))


def _truth(word: str, neutral: bool) -> Callable[..., Tensor]:
    def lower_truth(lower: LinalgLowering, x: Tensor, over: Sequence[int], keepdim: bool) -> Tensor:
        truth = lower.reduce(two(word), x, over, neutral, i1)
        return lower.cast(truth, lower.out.dtype)

    return lower_truth


lowers("aten.any.dims")(_truth("or", False))
lowers("aten.all.dims")(_truth("and", True))

# where the extremum is


def _best(
    lower: LinalgLowering, x: Tensor, dim: int, predicate: str, neutral: Number
) -> list[Tensor]:
    """The extremum along a dimension and its first position; the first NaN wins."""
    index = lower.results[-1]
    if x.rank == 0:
        return [x, lower.splat(0, (), index.dtype)]
    keeps = index.rank == x.rank
    subscripts = [None if d == dim else d for d in range(x.rank) if keeps or d != dim]
    kinds = "".join("r" if d == dim else "p" for d in range(x.rank))

    def build(s: Scalars, element: Scalar, best: Scalar, place: Scalar) -> list[Scalar]:
        if element_types.is_float(x.dtype):
            # unordered: also where one of the two is NaN
            better = s.compare(f"u{predicate}", element, best)
            better = s("and", better, s.compare("ord", best, best))
        else:
            better = s.compare(predicate, element, best)
        here = s.cast(s.index(dim), index.dtype)
        return [s.select(better, element, best), s.select(better, here, place)]

    outputs = [
        (lower.full(neutral, index.sizes, x.dtype), subscripts),
        (lower.full(0, index.sizes, index.dtype), subscripts),
    ]
    return lower.nest(kinds, [(x, range(x.rank))], outputs, build)


def _arg_extremum(predicate: str, neutral: Callable[[Attribute], Number]) -> Callable[..., Tensor]:
    def lower_arg(lower: LinalgLowering, x: Tensor, dim: int | None, keepdim: bool) -> Tensor:
        if dim is None:
            x = lower.reshape(x, [dims.product(x.sizes)])
            flat = lower.results[0]
            lower.results = [ResultType((), flat.dtype)]
            place = _best(lower, x, 0, predicate, neutral(x.dtype))[1]
            lower.results = [flat]
            return lower.reshape(place, flat.sizes)
        return _best(lower, x, dim, predicate, neutral(x.dtype))[1]

    return lower_arg


def _with_index(
    predicate: str, neutral: Callable[[Attribute], Number]
) -> Callable[..., list[Tensor]]:
    def lower_both(lower: LinalgLowering, x: Tensor, dim: int, keepdim: bool) -> list[Tensor]:
        return _best(lower, x, dim, predicate, neutral(x.dtype))

    return lower_both


lowers("aten.argmax")(_arg_extremum("gt", lowest))
lowers("aten.argmin")(_arg_extremum("lt", highest))
lowers("aten.max.dim")(_with_index("gt", lowest))
lowers("aten.min.dim")(_with_index("lt", highest))

# scans


SUMMED_IN_TRIANGLES = 256
"""Up to this static length every running sum is one of its own: a single nest, on IREE as fast as the rounds below."""


@lowers("aten.cumsum")
def cumsum(lower: LinalgLowering, x: Tensor, dim: int, dtype: Any) -> Tensor:
    """``result[i] = x[0] + .. + x[i]`` along a dimension; halves are added up in f32."""
    out, axis = lower.out, dim
    if x.rank == 0:
        return lower.cast(x, out.dtype)
    length, wide = x.sizes[axis], lower.cast(x, widened(out.dtype))
    if isinstance(length, int) and length <= SUMMED_IN_TRIANGLES:
        return lower.cast(_triangle_sums(lower, wide, axis), out.dtype)

    def add_earlier(round: Scalar, sums: Tensor) -> list[Tensor]:
        return [_earlier_added(lower, sums, axis, round)]

    (result,) = doubling(lower, add_earlier, [wide], length)
    return lower.cast(result, out.dtype)


def _triangle_sums(lower: LinalgLowering, x: Tensor, axis: int) -> Tensor:
    """A reduction over a triangle, in parallel over everything else."""
    rank = x.rank
    source = [rank if d == axis else d for d in range(rank)]

    def build(s: Scalars, element: Scalar, total: Scalar) -> Scalar:
        reached = s.compare("le", s.index(rank), s.index(axis))
        return addition(s, total, s.select(reached, element, 0))

    output = (lower.full(0, x.sizes, x.dtype), range(rank))
    return lower.nest("p" * rank + "r", [(x, source)], [output], build)[0]


def _earlier_added(lower: LinalgLowering, x: Tensor, axis: int, round: Scalar) -> Tensor:
    """Each element plus the one ``2 ** round`` places before it, if there is one (Hillis and Steele, 1986)."""

    def build(s: Scalars, element: Scalar) -> Scalar:
        place = s("sub", s.index(axis), s("shl", s.constant(1, INDEX), round))
        at = [s("max", place, 0) if d == axis else s.index(d) for d in range(x.rank)]
        earlier = s.select(s.compare("ge", place, 0), s.extract(x, at), 0)
        return addition(s, earlier, element)

    return lower.compute(build, [(x, range(x.rank))], x.sizes, x.dtype)
