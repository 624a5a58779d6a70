"""Writing elements to positions that tensors tell, in Linalg-on-Tensors.

Linalg has no scatter. What several elements for one place are combined to is computed by a loop over the elements, in
their order, into rows of a matrix (:func:`combined_rows`); ``linalg-loops-to-iree`` makes that one op for IREE.
What replaces an element is found first, as the greatest number of those that write there, and then taken by a loop
nest: so the last one wins as in a sequential program. Positions outside a tensor write nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

from xdsl.ir import SSAValue

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import si64, widened
from torch2mlir.conversion.indexing import Positions
from torch2mlir.conversion.lowering import Operand, Scalar, Tensor
from torch2mlir.conversion.torch_to_linalg.control_flow import counted
from torch2mlir.conversion.torch_to_linalg.indexing import wrapped
from torch2mlir.conversion.torch_to_linalg.lowering import (
    Access,
    LinalgLowering,
    broadcast_subscripts,
)
from torch2mlir.conversion.torch_to_linalg.scalars import INDEX, Scalars, combining
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize, Sizes


class Writes(LinalgLowering):
    """The words that write at positions."""

    def scatter(
        self, x: Tensor, axis: int, index: Tensor, source: Operand, word: str | None
    ) -> Tensor:
        return _along(self, x, axis, index, source, word)

    def put(self, x: Tensor, at: Positions, values: Tensor, word: str | None) -> Tensor:
        return (_added if word else _replaced)(self, _Indexed(self, x, at), values)


# rows of a matrix


def combined_rows(
    lower: LinalgLowering, x: Tensor, places: Tensor, rows: Tensor, word: str
) -> Tensor:
    """``x [K, C]`` whose rows at ``places [N, 1]``, none of them outside, are combined with ``rows [N, C]`` in turn."""
    combine = combining(word)
    s, width, zero = lower.scalars, x.sizes[1], Scalar(lower.size(0), INDEX)

    def row(of: Tensor, number: Scalar) -> Tensor:
        return lower.extract_slice(of, [number, 0], [1, width], [1, 1], [1, width])

    def step(number: SSAValue, carried: SSAValue) -> Sequence[SSAValue]:
        here = Scalar(number, INDEX)
        place = s.cast(s.extract(places, [here, zero]), INDEX)
        so_far = Tensor(carried, x.sizes, x.dtype)
        old = row(so_far, place)
        accesses: list[Access] = [(row(rows, here), range(2))]
        (new,) = lower.nest(
            "pp", accesses, [(old, range(2))], lambda s, update, old: combine(s, old, update)
        )
        return [lower.insert_slice(new, so_far, [place, 0], [1, width]).value]

    (result,) = counted(lower, lower.size(places.sizes[0]), step, [x.value])
    return Tensor(result, x.sizes, x.dtype)


@dataclass(frozen=True)
class _Places:
    """Where elements are written: rows of a matrix, known by loops over the elements.

    Attributes:
        sizes: of the elements; the first loops of every nest.
        count: how many rows there are.
        accesses: what tells the positions.
        row: emits the row of an element and whether there is such a row, from the positions.
    """

    sizes: Sizes
    count: KnownSize
    accesses: Sequence[Access]
    row: Callable[..., tuple[Scalar, Scalar]]


def _matrix_combined(
    lower: LinalgLowering,
    x: Tensor,
    places: _Places,
    value: Access | Callable[[Scalars], Scalar],
    width: Sizes,
    word: str,
) -> Tensor:
    """``x [K, C]`` combined with an element for each loop, over ``places.sizes`` and then ``width``.

    Args:
        lower: the context.
        x: what is there before.
        places: the row of each element.
        value: the elements, read or computed.
        width: the sizes that make up ``C``.
        word: combines what is there and what comes.
    """
    known = len(places.accesses)
    number = dims.product([*places.sizes])

    def row(s: Scalars, *positions: Scalar) -> Scalar:
        row, exists = places.row(s, *positions)
        return s.cast(s.select(exists, row, 0), si64)

    def element(s: Scalars, *read: Scalar) -> Scalar:
        _, exists = places.row(s, *read[:known])
        update = value(s) if callable(value) else read[known]
        return s.select(exists, s.cast(update, x.dtype), element_types.neutral(word, x.dtype))

    read = [*places.accesses] if callable(value) else [*places.accesses, value]
    rows = lower.compute(row, places.accesses, places.sizes, si64)
    updates = lower.compute(element, read, [*places.sizes, *width], x.dtype)
    rows = lower.reshape(rows, [number, 1])
    updates = lower.reshape(updates, [number, dims.product([*width])])
    return combined_rows(lower, x, rows, updates, word)


def _last_writer(
    lower: LinalgLowering, places: _Places, number: Callable[[Scalars], Scalar]
) -> Tensor:
    """``[K, 1]``: for each row the greatest number of an element written to it, -1 if none is."""
    nobody = lower.full(-1, [places.count, 1], si64)
    return _matrix_combined(lower, nobody, places, number, [], "max")


# along one dimension, the index as large as the source


def _places_along(lower: LinalgLowering, x: Tensor, over: int, index: Tensor, rank: int) -> _Places:
    """Each element of ``x`` is a row."""

    def row(s: Scalars, position: Scalar) -> tuple[Scalar, Scalar]:
        place = s.cast(position, INDEX)
        size = lower.number(x.sizes[over], INDEX)
        places = [place if d == over else s.index(d) for d in range(rank)]
        return _flattened(s, places, x.sizes), _is_within(s, place, size)

    return _Places(index.sizes, dims.product(x.sizes), [(index, range(rank))], row)


def _flattened(s: Scalars, places: Sequence[Scalar], sizes: Sizes) -> Scalar:
    """The number in row-major order of a position in a tensor of these sizes."""
    result = places[0]
    for place, size in zip(places[1:], sizes[1:], strict=True):
        result = s("add", s("mul", result, s.lower.number(size, INDEX)), place)
    return result


def _is_within(s: Scalars, place: Scalar, size: Scalar) -> Scalar:
    return s("and", s.compare("ge", place, 0), s.compare("lt", place, size))


def _along(
    lower: LinalgLowering,
    x: Tensor,
    dim: int,
    index: Tensor,
    source: Operand,
    combined: str | None,
) -> Tensor:
    """``x[i, index[i, j, k], k] = source[i, j, k]`` for ``dim == 1``, or ``+=`` and its like."""
    rank = x.rank
    places = _places_along(lower, x, dim, index, rank)
    if combined and isinstance(source, Tensor):
        flat = lower.reshape(lower.cast(x, widened(x.dtype)), [places.count, 1])
        flat = _matrix_combined(lower, flat, places, (source, range(rank)), [], combined)
        return lower.cast(lower.reshape(flat, x.sizes), x.dtype)
    writer = _last_writer(lower, places, lambda s: s.cast(s.index(dim), si64))
    writer = lower.reshape(writer, x.sizes)
    rest = [dims.sub(all_, part) for all_, part in zip(x.sizes, index.sizes, strict=True)]

    def choose(s: Scalars, old: Scalar, number: Scalar) -> Scalar:
        if isinstance(source, Tensor):
            place = s.cast(s("max", number, 0), INDEX)
            at = [place if d == dim else _within(s, d, index, rest) for d in range(rank)]
            new = s.extract(source, at)
        else:
            new = lower.number(source, x.dtype)
        return s.select(s.compare("ge", number, 0), s.cast(new, x.dtype), old)

    return lower.compute(choose, [(x, range(rank)), (writer, range(rank))], x.sizes, x.dtype)


def _within(s: Scalars, loop: int, index: Tensor, rest: Sizes) -> Scalar:
    """A loop's place, or the last place of the index where the loop goes beyond it."""
    if rest[loop] == 0:
        return s.index(loop)
    return s("min", s.index(loop), s.lower.number(dims.sub(index.sizes[loop], 1), INDEX))


# at indices that broadcast together, whole slices at a time


class _Indexed:
    """Where an index_put writes: a row is a place of the indexed dimensions, as wide as the others together."""

    def __init__(self, lower: LinalgLowering, x: Tensor, at: Positions) -> None:
        self.lower = lower
        self.x = x
        self.at = at
        self.whole = at.others(x)
        self.width = [x.sizes[d] for d in self.whole]
        self.covered = [x.sizes[d] for d in at.axes]

    @property
    def places(self) -> _Places:
        """The first loops are the dimensions of the indices."""
        sizes = self.at.sizes
        accesses = [(i, broadcast_subscripts(i.sizes, sizes)) for i in self.at.indices]
        return _Places(sizes, dims.product(self.covered), accesses, self._row)

    def _row(self, s: Scalars, *positions: Scalar) -> tuple[Scalar, Scalar]:
        pairs = zip(positions, self.covered, strict=True)
        places = [wrapped(s, position, size) for position, size in pairs]
        within = [
            _is_within(s, place, self.lower.number(size, INDEX))
            for place, size in zip(places, self.covered, strict=True)
        ]
        return _flattened(s, places, self.covered), reduce(lambda x, y: s("and", x, y), within)

    def value_subscripts(
        self, values: Tensor, block: Sequence[int], whole: Sequence[int]
    ) -> list[int | None]:
        """How values, which broadcast to the indexed result, are read by loops for the indices and the rest."""
        front = self.at.front
        loops = [*whole[:front], *block, *whole[front:]]
        places = broadcast_subscripts(values.sizes, self.at.indexed_sizes(self.x))
        return [None if p is None else loops[p] for p in places]


def _added(lower: LinalgLowering, rows: _Indexed, values: Tensor) -> Tensor:
    """The matrix of rows is ``x`` with the indexed dimensions first."""
    x, count = rows.x, len(rows.at.sizes)
    order = [*rows.at.axes, *rows.whole]
    moved = lower.transpose(lower.cast(x, widened(x.dtype)), order)
    matrix = lower.reshape(moved, [dims.product(rows.covered), dims.product(rows.width)])
    loops = range(count + len(rows.whole))
    value = (values, rows.value_subscripts(values, loops[:count], loops[count:]))
    matrix = _matrix_combined(lower, matrix, rows.places, value, rows.width, "add")
    moved = lower.reshape(matrix, moved.sizes)
    return lower.cast(lower.transpose(moved, [order.index(d) for d in range(x.rank)]), x.dtype)


def _replaced(lower: LinalgLowering, rows: _Indexed, values: Tensor) -> Tensor:
    """First who writes each indexed place, then the elements."""
    x, count = rows.x, len(rows.at.sizes)
    if count == 0:
        return _replaced_once(lower, rows, values)

    def number(s: Scalars) -> Scalar:
        """In row-major order."""
        places = [s.index(loop) for loop in range(count)]
        return s.cast(_flattened(s, places, rows.at.sizes), si64)

    writer = lower.reshape(_last_writer(lower, rows.places, number), rows.covered)

    def choose(s: Scalars, old: Scalar, number: Scalar) -> Scalar:
        known = _position_of(s, number, rows.at.sizes) + [s.index(d) for d in rows.whole]
        loops = range(len(known))
        order = rows.value_subscripts(values, loops[:count], loops[count:])
        zero = s.constant(0, INDEX)
        new = s.extract(values, [zero if p is None else known[p] for p in order])
        return s.select(s.compare("ge", number, 0), new, old)

    accesses: list[Access] = [(x, range(x.rank)), (writer, rows.at.axes)]
    return lower.compute(choose, accesses, x.sizes, x.dtype)


def _position_of(s: Scalars, number: Scalar, sizes: Sizes) -> list[Scalar]:
    """The position of a number in row-major order; some position for -1."""
    rest = s.cast(s("max", number, 0), INDEX)
    position = list[Scalar]()
    for size in reversed(sizes[1:]):
        count = s.lower.number(size, INDEX)
        position.insert(0, s("rem", rest, count))
        rest = s("div", rest, count)
    return [rest, *position]


def _replaced_once(lower: LinalgLowering, rows: _Indexed, values: Tensor) -> Tensor:
    """Indices without dimensions: one position is written."""
    x = rows.x

    def choose(s: Scalars, old: Scalar, value: Scalar, *positions: Scalar) -> Scalar:
        same = [
            s.compare("eq", wrapped(s, position, x.sizes[d]), s.index(d))
            for position, d in zip(positions, rows.at.axes, strict=True)
        ]
        return s.select(reduce(lambda x, y: s("and", x, y), same), value, old)

    value = (values, rows.value_subscripts(values, [], rows.whole))
    accesses: list[Access] = [(x, range(x.rank)), value, *((i, []) for i in rows.at.indices)]
    return lower.compute(choose, accesses, x.sizes, x.dtype)
