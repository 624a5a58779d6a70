"""Sorting in TOSA, which has no word for it.

Short lines are sorted by comparing all pairs: an element's place is the number of elements that come before it. Longer
ones, and those of a length known at run time, pass through a bitonic network (Batcher, 1968), ``log(n)^2 / 2`` steps in
one ``tosa.while_loop``, because IREE 3.13 takes no loop in a loop. Merging starts with a mirror image, so that every
step puts the lesser element first; lengths that are no power of two then need no more elements, since those would stay
behind the last one.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute

from torch2mlir.contract.element_types import si32, si64
from torch2mlir.conversion.expressions import Expr, precedes
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_tosa.casts import computed_dtype
from torch2mlir.conversion.torch_to_tosa.control_flow import while_loop
from torch2mlir.conversion.torch_to_tosa.indexing import Lines
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering, lowers

COMPARED_IN_PAIRS = 512
"""Up to this length all pairs are compared: IREE takes longer for the many small steps of the loops."""
LONGEST = 1 << 30
"""The length of a line whose next power of two is still an i32, which TOSA counts and indexes in."""


@lowers("aten.sort.stable")
def sort(
    lower: TosaLowering, x: Tensor, stable: bool | None, dim: int, descending: bool
) -> tuple[Tensor, Tensor]:
    """The elements along a dimension in order, and where each was; NaN is beyond all numbers."""
    if x.rank == 0 or 0 in x.sizes:
        return x, lower.splat(0, x.sizes, si64)
    lines = Lines(lower, dim, x.rank)
    values = lines.of(lower.cast(x, computed_dtype(x.dtype)))
    length = values.sizes[1]
    if isinstance(length, int) and length > LONGEST:
        lower.fail(
            f"{length} elements in a line; TOSA counts in 32 bits",
            "choose another dialect, or sort fewer elements",
        )
    in_pairs = isinstance(length, int) and length <= COMPARED_IN_PAIRS
    ordered, found = (_by_pairs if in_pairs else _by_network)(lower, values, descending)
    return (
        lower.cast(lines.back(ordered, x.sizes), x.dtype),
        lower.cast(lines.back(found, x.sizes), si64),
    )


def _taken(lower: TosaLowering, lines: Tensor, positions: Tensor) -> Tensor:
    """``[n, positions[n, k]]`` of lines ``[N, K]``."""
    rows = lower.gather_rows(lower.reshape(lines, (*lines.sizes, 1)), positions)
    return lower.reshape(rows, positions.sizes)


# all pairs


def _by_pairs(lower: TosaLowering, values: Tensor, descending: bool) -> tuple[Tensor, Tensor]:
    places = _places(lower, values, descending)
    found = _inverse(lower, places, si64 if values.dtype == si64 else si32)
    return _taken(lower, values, found), found


def _places(lower: TosaLowering, values: Tensor, descending: bool) -> Tensor:
    """How many elements of its line ``[N, K]`` come before each element."""
    count, length = values.sizes
    element = Expr(lower.words, lower.reshape(values, (count, length, 1)))
    rival = Expr(lower.words, lower.reshape(values, (count, 1, length)))
    columns = Expr(lower.words, lower.iota((1, 1, length), 2, si32))
    rows = Expr(lower.words, lower.iota((1, length, 1), 1, si32))
    before = precedes(rival, element, descending)
    tied = ~precedes(element, rival, descending) & (columns < rows)
    counted = lower.cast((before | tied).value, si32)
    return lower.reduce("add", counted, [2], si32, (count, length))


def _inverse(lower: TosaLowering, places: Tensor, dtype: Attribute) -> Tensor:
    """For each place of a line ``[N, K]`` the position of the element that goes there, in the type a gather takes."""
    count, length = places.sizes
    rows, columns = lower.iota((1, length, 1), 1, si32), lower.iota((1, 1, length), 2, dtype)
    going = lower.reshape(places, (count, 1, length))
    here = lower.compare("eq", rows, going)
    positions = lower.select(here, columns, lower.splat(0, (1, 1, 1), dtype))
    return lower.reduce("add", positions, [2], dtype, (count, length))


# a network


def _by_network(lower: TosaLowering, values: Tensor, descending: bool) -> tuple[Tensor, Tensor]:
    """Sorted runs of 1, 2, 4, .. elements become runs of twice the length; the last two carried are that and the step.

    A step exchanges elements whose places differ by its bits: all of a run of twice the length at first, which mirrors
    it, then half the run's, a quarter's, .. and 1.
    """
    length = Expr(lower.words, lower.splat(values.sizes[1], (), si32))
    zero, one = (Expr(lower.words, lower.splat(number, (), si32)) for number in (0, 1))
    found = lower.broadcast_to(lower.iota((1, values.sizes[1]), 1, si32), values.sizes)

    def unsorted(*carried: Tensor) -> Sequence[Tensor]:
        return [(length > Expr(lower.words, carried[2])).value]

    def step(values: Tensor, found: Tensor, run: Tensor, bits: Tensor) -> Sequence[Tensor]:
        width, mask = Expr(lower.words, run), Expr(lower.words, bits)
        exchanged = _exchanged(lower, values, found, mask, length, descending)
        mirrored = mask > width
        following = mirrored.where(width, mask).of("shr", one)
        merged = following.equals(zero)
        twice = width + width
        return [
            *exchanged,
            merged.where(twice, width).value,
            merged.where(twice + twice - one, following).value,
        ]

    initial = [values, found, one.value, one.value]
    ordered, found, _, _ = while_loop(lower, unsorted, step, initial)
    return ordered, found


def _exchanged(
    lower: TosaLowering, values: Tensor, found: Tensor, bits: Expr, length: Expr, descending: bool
) -> Sequence[Tensor]:
    """Elements and where they were, after those whose places differ by some bits are put in order."""
    here = Expr(lower.words, lower.iota((1, values.sizes[1]), 1, si32))
    there = here ^ bits
    partner = lower.broadcast_to(there.of("min", length - 1).value, values.sizes)
    own, own_place = Expr(lower.words, values), Expr(lower.words, found)
    other, other_place = (Expr(lower.words, _taken(lower, x, partner)) for x in (values, found))
    tied = ~precedes(own, other, descending) & (own_place > other_place)
    first = precedes(other, own, descending) | tied
    taken = (length > there) & ~(first ^ (there > here))
    return [taken.where(other, own).value, taken.where(other_place, own_place).value]
