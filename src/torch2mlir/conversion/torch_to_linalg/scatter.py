"""Writing elements to positions that tensors tell, in Linalg-on-Tensors.

Linalg has no scatter, and a loop of single writes would run one after another wherever it ran. So every place of the
result asks who wrote to it: a reduction over the positions adds up what was written there, or finds the last writer,
and a second loop nest takes its element. That takes the product of both sizes in comparisons, but it is parallel,
deterministic, and the last one wins as in a sequential program. Positions outside a tensor write nothing.

Nothing is computed into an operand: IREE 3.13 would update the caller's own tensor in place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import si64, widened
from torch2mlir.conversion.lowering import Number, Operand, Scalar, Tensor
from torch2mlir.conversion.torch_to_linalg.indexing import check_indices, index_layout, wrapped
from torch2mlir.conversion.torch_to_linalg.lowering import (
    Access,
    LinalgLowering,
    broadcast_subscripts,
    lowers,
)
from torch2mlir.conversion.torch_to_linalg.scalars import INDEX, Scalars, addition
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize

# who wrote


def last_writer(
    lower: LinalgLowering,
    shape: Sequence[KnownSize],
    positions: Sequence[KnownSize],
    accesses: Sequence[Access],
    matches: Callable[..., Scalar],
) -> Tensor:
    """For each element of ``shape`` the number of the last position that writes to it, -1 if none does.

    Args:
        lower: the context.
        shape: the first loops.
        positions: the sizes of the positions, the loops after those; their numbers count in row-major order.
        accesses: what ``matches`` reads.
        matches: ``matches(s, *elements)``, whether a position writes to an element.
    """
    rank = len(shape)

    def build(s: Scalars, *elements: Scalar) -> Scalar:
        here = matches(s, *elements[:-1])
        number = s.index(rank)
        for loop, size in enumerate(positions[1:], rank + 1):
            number = s("add", s("mul", number, lower.number(size, INDEX)), s.index(loop))
        return s("max", s.select(here, s.cast(number, si64), -1), elements[-1])

    output = (lower.full(-1, shape, si64), range(rank))
    return lower.nest("p" * rank + "r" * len(positions), accesses, [output], build)[0]


def position_of(s: Scalars, number: Scalar, positions: Sequence[KnownSize]) -> list[Scalar]:
    """The position of a number in row-major order; some position for -1."""
    rest = s.cast(s("max", number, 0), INDEX)
    position = list[Scalar]()
    for size in reversed(positions[1:]):
        count = s.lower.number(size, INDEX)
        position.insert(0, s("rem", rest, count))
        rest = s("div", rest, count)
    return [rest, *position]


# along one dimension, the index as large as the source


def _along(
    lower: LinalgLowering,
    x: Tensor,
    dim: int,
    index: Tensor,
    source: Operand,
    combined: Reduction | None = None,
) -> Tensor:
    """``x[i, index[i, j, k], k] = source[i, j, k]`` for ``dim == 1``, or ``+=`` and its like.

    Writers are only sought for the part of ``x`` that the index covers in the other dimensions.
    """
    if x.rank == 0:
        return _to_rank_0(lower, x, source, combined)
    if 0 in index.sizes:
        return x
    over, rank = dim, x.rank
    covered = [x.sizes[d] if d == over else index.sizes[d] for d in range(rank)]
    rest = [dims.sub(all_, part) for all_, part in zip(x.sizes, covered, strict=True)]
    read = [rank if d == over else d for d in range(rank)]

    def matches(s: Scalars, position: Scalar) -> Scalar:
        return s.compare("eq", s.cast(position, INDEX), s.index(over))

    if combined and isinstance(source, Tensor):
        source = lower.slice(source, [0] * rank, index.sizes, [1] * rank)
        accesses: list[Access] = [(index, read), (source, read)]
        total = combination(lower, covered, accesses, matches, widened(x.dtype), combined)
        total = lower.pad(total, [0] * rank, rest, combined.neutral(total.dtype))
        return lower.elementwise(combined.code, x, total, computed=total.dtype)
    positions = [index.sizes[over]]
    writer = last_writer(lower, covered, positions, [(index, read)], matches)
    writer = lower.pad(writer, [0] * rank, rest, -1)

    def choose(s: Scalars, old: Scalar, number: Scalar) -> Scalar:
        if isinstance(source, Tensor):
            (place,) = position_of(s, number, positions)
            places = [place if d == over else _within(s, d, index, rest) for d in range(rank)]
            new = s.extract(source, places)
        else:
            new = lower.number(source, x.dtype)
        return s.select(s.compare("ge", number, 0), s.cast(new, x.dtype), old)

    return lower.compute(choose, [(x, range(rank)), (writer, range(rank))], x.sizes, x.dtype)


def _within(s: Scalars, loop: int, index: Tensor, rest: Sequence[KnownSize]) -> Scalar:
    """A loop's place, or the last place of the index where the loop goes beyond it."""
    if rest[loop] == 0:
        return s.index(loop)
    return s("min", s.index(loop), s.lower.number(dims.sub(index.sizes[loop], 1), INDEX))


@dataclass(frozen=True)
class Reduction:
    """How elements written to one place are combined, and what that starts from."""

    code: Callable[[Scalars, Scalar, Scalar], Scalar]
    neutral: Callable[[Attribute], Number]


SUM = Reduction(addition, lambda dtype: 0)
REDUCTIONS: dict[str, Reduction] = {
    "sum": SUM,
    "prod": Reduction(lambda s, x, y: s("mul", x, y), lambda dtype: 1),
    "amax": Reduction(lambda s, x, y: s("max", x, y), element_types.lowest),
    "amin": Reduction(lambda s, x, y: s("min", x, y), element_types.highest),
}


def combination(
    lower: LinalgLowering,
    shape: Sequence[KnownSize],
    accesses: Sequence[Access],
    matches: Callable[..., Scalar],
    dtype: Attribute,
    how: Reduction,
    positions: int = 1,
) -> Tensor:
    """For each element of ``shape`` the last access reduced over those positions that match; see last_writer."""
    rank, neutral = len(shape), how.neutral(dtype)

    def build(s: Scalars, *elements: Scalar) -> Scalar:
        *read, value, total = elements
        return how.code(s, total, s.select(matches(s, *read), s.cast(value, dtype), neutral))

    output = (lower.full(neutral, shape, dtype), range(rank))
    return lower.nest("p" * rank + "r" * positions, accesses, [output], build)[0]


def _to_rank_0(
    lower: LinalgLowering, x: Tensor, source: Operand, combined: Reduction | None
) -> Tensor:
    """The only position there is."""
    if not isinstance(source, Tensor):
        return lower.splat(source, (), x.dtype)
    source = lower.reshape(source, ())
    if combined is None:
        return source
    return lower.elementwise(combined.code, x, source, computed=widened(x.dtype))


@lowers("aten.scatter.src")
def scatter_src(
    lower: LinalgLowering, x: Tensor, dim: int, index: Tensor, source: Tensor
) -> Tensor:
    """``x`` with elements of the source written along a dimension."""
    return _along(lower, x, dim, index, source)


@lowers("aten.scatter.value")
def scatter_value(
    lower: LinalgLowering, x: Tensor, dim: int, index: Tensor, value: Number
) -> Tensor:
    """``x`` with a number written along a dimension."""
    return _along(lower, x, dim, index, value)


@lowers("aten.scatter_add")
def scatter_add(
    lower: LinalgLowering, x: Tensor, dim: int, index: Tensor, source: Tensor
) -> Tensor:
    """``x`` with elements of the source added along a dimension."""
    return _along(lower, x, dim, index, source, SUM)


@lowers("aten.scatter_reduce.two")
def scatter_reduce(
    lower: LinalgLowering,
    x: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    include_self: bool,
) -> Tensor:
    """``x`` reduced with the elements of the source that point to each place."""
    return _along(lower, x, dim, index, source, REDUCTIONS[reduce])


# at indices that broadcast together, whole slices at a time


class _Places:
    """Where an index_put writes: the loops of its nest are the dimensions of ``x``, then those of the indices."""

    def __init__(self, lower: LinalgLowering, x: Tensor, indices: Sequence[Tensor | None]) -> None:
        check_indices(lower, indices)
        self.x = x
        self.indexed, self.front = index_layout(indices, x.rank)
        given = [i for i in indices if i is not None]
        self.indices: list[Tensor] = given
        self.sizes = _broadcast(given)
        self.whole = [d for d in range(x.rank) if d not in self.indexed]

    def accesses(self, first: int) -> list[Access]:
        """The indices, read by loops from ``first`` on."""
        return [(i, broadcast_subscripts(i.sizes, self.sizes, first)) for i in self.indices]

    def matches(self, s: Scalars, positions: Sequence[Scalar], loops: Sequence[int]) -> Scalar:
        """Whether the positions are those of the loops."""
        result: Scalar | None = None
        for position, d, loop in zip(positions, self.indexed, loops, strict=True):
            here = s.compare("eq", wrapped(s, position, self.x.sizes[d]), s.index(loop))
            result = here if result is None else s("and", result, here)
        assert result is not None
        return result

    def value_subscripts(
        self, values: Tensor, block: Sequence[int], whole: Sequence[int]
    ) -> list[int | None]:
        """How values, which broadcast to the indexed result, are read by loops for the indices and the rest."""
        loops = [*whole[: self.front], *block, *whole[self.front :]]
        sizes = [self.x.sizes[d] for d in self.whole]
        result = [*sizes[: self.front], *self.sizes, *sizes[self.front :]]
        places = broadcast_subscripts(values.sizes, result)
        return [None if p is None else loops[p] for p in places]


def _broadcast(tensors: Sequence[Tensor]) -> list[KnownSize]:
    """The sizes that tensors have together."""
    rank = max(t.rank for t in tensors)
    sizes: list[KnownSize] = [1] * rank
    for t in tensors:
        for place, size in enumerate(t.sizes, rank - t.rank):
            sizes[place] = size if size != 1 else sizes[place]
    return sizes


@lowers("aten.index_put")
def index_put(
    lower: LinalgLowering,
    x: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: bool,
) -> Tensor:
    """``x`` with ``x[indices] = values``, or ``+=``; the indices and the values broadcast."""
    places = _Places(lower, x, indices)
    values = lower.cast(values, x.dtype)
    return (_added if accumulate else _replaced)(lower, places, values)


def _added(lower: LinalgLowering, places: _Places, values: Tensor) -> Tensor:
    x, count = places.x, len(places.sizes)
    block = range(x.rank, x.rank + count)

    def matches(s: Scalars, *positions: Scalar) -> Scalar:
        return places.matches(s, positions, places.indexed)

    accesses = places.accesses(x.rank)
    accesses.append((values, places.value_subscripts(values, block, places.whole)))
    total = combination(lower, x.sizes, accesses, matches, widened(x.dtype), SUM, count)
    return lower.elementwise(addition, x, total, computed=total.dtype)


def _replaced(lower: LinalgLowering, places: _Places, values: Tensor) -> Tensor:
    """First who writes each indexed position, then the elements."""
    x, count, rank = places.x, len(places.sizes), len(places.indexed)
    if count == 0:
        return _replaced_once(lower, places, values)
    if 0 in places.sizes:
        return x

    def matches(s: Scalars, *positions: Scalar) -> Scalar:
        return places.matches(s, positions, range(rank))

    covered = [x.sizes[d] for d in places.indexed]
    writer = last_writer(lower, covered, places.sizes, places.accesses(rank), matches)

    def choose(s: Scalars, old: Scalar, number: Scalar) -> Scalar:
        known = position_of(s, number, places.sizes) + [s.index(d) for d in places.whole]
        loops = range(len(known))
        order = places.value_subscripts(values, loops[:count], loops[count:])
        zero = s.constant(0, INDEX)
        new = s.extract(values, [zero if p is None else known[p] for p in order])
        return s.select(s.compare("ge", number, 0), new, old)

    accesses: list[Access] = [(x, range(x.rank)), (writer, places.indexed)]
    return lower.compute(choose, accesses, x.sizes, x.dtype)


def _replaced_once(lower: LinalgLowering, places: _Places, values: Tensor) -> Tensor:
    """Indices without dimensions: one position is written."""
    x = places.x

    def choose(s: Scalars, old: Scalar, value: Scalar, *positions: Scalar) -> Scalar:
        return s.select(places.matches(s, positions, places.indexed), value, old)

    value = (values, places.value_subscripts(values, [], places.whole))
    accesses = [(x, range(x.rank)), value, *places.accesses(0)]
    return lower.compute(choose, accesses, x.sizes, x.dtype)
