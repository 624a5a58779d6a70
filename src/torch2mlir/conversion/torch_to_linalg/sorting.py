"""Sorting in Linalg-on-Tensors, which has no word for it.

Short lines are sorted by comparing all pairs: an element's place is the number of elements that come before it, and the
position that each place takes its element from is the inverse of that permutation.

Longer ones, and those of a length known at run time, are merged: runs of 1, 2, 4, .. elements that are in order become
runs of twice the length, a loop nest each time. Every place of the result finds the element that goes there by a binary
search along its two runs (the merge path of Odeh, Green, Mwassi, Shmueli and Birk, 2012), so all places are computed at
once: ``n log(n)^2`` comparisons in ``log(n)`` nests, for every length, and elements that are equal stay in their order.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import si64
from torch2mlir.conversion.lowering import Scalar, Tensor
from torch2mlir.conversion.torch_to_linalg.control_flow import counted, doubling
from torch2mlir.conversion.torch_to_linalg.lowering import LinalgLowering, lowers
from torch2mlir.conversion.torch_to_linalg.scalars import INDEX, Scalars

COMPARED_IN_PAIRS = 256
"""Up to this static length all pairs are compared: on IREE as fast as merging or faster, three times at 32."""


@lowers("aten.sort.stable")
def sort(
    lower: LinalgLowering, x: Tensor, stable: bool | None, dim: int, descending: bool
) -> list[Tensor | None]:
    """The elements along a dimension in order, and where each was; NaN is beyond all numbers."""
    if x.rank == 0:
        return [x, lower.splat(0, (), si64)]
    length = x.sizes[dim]
    in_pairs = isinstance(length, int) and length <= COMPARED_IN_PAIRS
    return (_by_pairs if in_pairs else _by_merging)(lower, x, dim, descending)


def _precedes(s: Scalars, x: Scalar, y: Scalar, descending: bool) -> Scalar:
    """Whether the order of values alone puts ``x`` before ``y``."""
    lesser, greater = (y, x) if descending else (x, y)
    if not element_types.is_float(x.dtype):
        return s.compare("lt", lesser, greater)
    # unordered: also where one of the two is NaN, which must be the greater one
    return s("and", s.compare("ult", lesser, greater), s.compare("ord", lesser, lesser))


# all pairs


def _by_pairs(lower: LinalgLowering, x: Tensor, axis: int, descending: bool) -> list[Tensor | None]:
    rank = x.rank
    other = [rank if d == axis else d for d in range(rank)]

    def count(s: Scalars, element: Scalar, rival: Scalar, total: Scalar) -> Scalar:
        earlier = s.compare("lt", s.index(rank), s.index(axis))
        before = _precedes(s, rival, element, descending)
        behind = _precedes(s, element, rival, descending)
        tied = s("and", earlier, s.not_(behind))
        return s("add", total, s.cast(s("or", before, tied), si64))

    def find(s: Scalars, place: Scalar, position: Scalar) -> Scalar:
        here = s.compare("eq", place, s.cast(s.index(axis), si64))
        return s("add", position, s.select(here, s.cast(s.index(rank), si64), 0))

    kinds, zeros = "p" * rank + "r", (lower.full(0, x.sizes, si64), range(rank))
    (places,) = lower.nest(kinds, [(x, range(rank)), (x, other)], [zeros], count)
    (positions,) = lower.nest(kinds, [(places, other)], [zeros], find)
    return [lower.take_elements(x, axis, positions), positions]


# merging


def _by_merging(
    lower: LinalgLowering, x: Tensor, axis: int, descending: bool
) -> list[Tensor | None]:
    runs = [x, lower.iota(x.sizes, axis, si64)] if lower.used[1] else [x]
    length = Scalar(lower.size(x.sizes[axis]), INDEX)

    def merge(round: Scalar, *runs: Tensor) -> list[Tensor]:
        return _merged(lower, runs, axis, round, length, descending)

    results = doubling(lower, merge, runs, x.sizes[axis])
    return [*results, *[None] * (2 - len(runs))]


def _merged(
    lower: LinalgLowering,
    runs: Sequence[Tensor],
    axis: int,
    round: Scalar,
    length: Scalar,
    descending: bool,
) -> list[Tensor]:
    """Neighbouring runs of ``2 ** round`` elements merged, by the values, which are the first of the tensors.

    With ``p`` elements of the left run taken at place ``i``, ``i - p`` are of the right one: what is searched is the
    greatest such ``p`` whose last one does not come behind the right run's next one.
    """
    values, rank = runs[0], runs[0].rank
    following = lower.scalars("add", round, 1)

    def place(s: Scalars, *_: Scalar) -> list[Scalar]:
        # IREE takes no linalg.index in the loop of the search
        line = [s.index(d) for d in range(rank)]
        here, one, last = line[axis], s.constant(1, INDEX), s("sub", length, 1)
        half, whole = s("shl", one, round), s("shl", one, following)
        start = s("shl", s("shr", here, following), following)
        middle, end = (s("min", s("add", start, width), length) for width in (half, whole))
        # positions in the whole line: the left run's next element and the right run's add up to this
        total = s("add", here, middle)
        lowest, highest = s("max", start, s("sub", total, end)), s("min", here, middle)

        def at(x: Tensor, position: Scalar) -> Scalar:
            return s.extract(x, [*line[:axis], position, *line[axis + 1 :]])

        def advance(count: SSAValue, reached: SSAValue) -> Sequence[SSAValue]:
            step = s("shr", half, Scalar(count, INDEX))
            tried = s("add", Scalar(reached, INDEX), step)
            within = s.compare("le", tried, highest)
            tried = s("min", tried, highest)
            left = at(values, s("max", s("sub", tried, 1), 0))
            right = at(values, s("min", s("sub", total, tried), last))
            taken = s("and", within, s.not_(_precedes(s, right, left, descending)))
            return [s.select(taken, tried, Scalar(reached, INDEX)).value]

        (found,) = counted(lower, following.value, advance, [lowest.value])
        left = Scalar(found, INDEX)
        right = s("sub", total, left)
        on_left, on_right = s("min", left, last), s("min", right, last)
        earlier = _precedes(s, at(values, on_right), at(values, on_left), descending)
        exhausted = s.compare("ge", left, middle)
        from_right = s("and", s.compare("lt", right, end), s("or", exhausted, earlier))
        chosen = s.select(from_right, on_right, on_left)
        return [at(run, chosen) for run in runs]

    outputs = [(lower.empty(run.sizes, run.dtype), range(rank)) for run in runs]
    return lower.nest("p" * rank, [], outputs, place)
