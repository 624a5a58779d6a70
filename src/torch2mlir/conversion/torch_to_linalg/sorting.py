"""Sorting in Linalg-on-Tensors, which has no word for it.

An element's place is the number of elements that come before it, a reduction over all of them; the position that each
place takes its element from is the inverse of that permutation. Both are the square of the length in comparisons, but
parallel, where a network or a merge would be many steps one after another.
"""

from __future__ import annotations

from torch2mlir.conversion import promotion
from torch2mlir.conversion.lowering import Scalar, Tensor
from torch2mlir.conversion.promotion import si64
from torch2mlir.conversion.torch_to_linalg.lowering import LinalgLowering, lowers
from torch2mlir.conversion.torch_to_linalg.scalars import INDEX, Scalars


@lowers("aten.sort.stable")
def sort(
    lower: LinalgLowering, x: Tensor, stable: bool | None, dim: int, descending: bool
) -> list[Tensor | None]:
    """The elements along a dimension in order, and where each was; NaN is beyond all numbers."""
    if x.rank == 0:
        return [x, lower.splat(0, (), si64)]
    rank, over = x.rank, lower.dim(dim, x.rank)
    other = [rank if d == over else d for d in range(rank)]

    def count(s: Scalars, element: Scalar, rival: Scalar, total: Scalar) -> Scalar:
        earlier = s.compare("lt", s.index(rank), s.index(over))
        before = _precedes(s, rival, element, descending)
        behind = _precedes(s, element, rival, descending)
        tied = s("and", earlier, s.not_(behind))
        return s("add", total, s.cast(s("or", before, tied), si64))

    def find(s: Scalars, place: Scalar, position: Scalar) -> Scalar:
        here = s.compare("eq", place, s.cast(s.index(over), si64))
        return s("add", position, s.select(here, s.cast(s.index(rank), si64), 0))

    def take(s: Scalars, position: Scalar) -> Scalar:
        at = s.cast(position, INDEX)
        return s.extract(x, [at if d == over else s.index(d) for d in range(rank)])

    kinds, zeros = "p" * rank + "r", (lower.full(0, x.sizes, si64), range(rank))
    (places,) = lower.nest(kinds, [(x, range(rank)), (x, other)], [zeros], count)
    (positions,) = lower.nest(kinds, [(places, other)], [zeros], find)
    values = lower.compute(take, [(positions, range(rank))], x.sizes, x.dtype)
    return [values, positions]


def _precedes(s: Scalars, x: Scalar, y: Scalar, descending: bool) -> Scalar:
    """Whether the order of values alone puts ``x`` before ``y``."""
    lesser, greater = (y, x) if descending else (x, y)
    if not promotion.is_float(x.dtype):
        return s.compare("lt", lesser, greater)
    # unordered: also where one of the two is NaN, which must be the greater one
    return s("and", s.compare("ult", lesser, greater), s.compare("ord", lesser, lesser))
