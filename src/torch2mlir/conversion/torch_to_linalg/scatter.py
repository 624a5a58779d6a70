"""Writing elements to positions that tensors tell, in Linalg-on-Tensors.

Linalg has no scatter, and a loop of single writes would run one after another wherever it ran. So every place of the
result asks who wrote to it: a reduction over the positions finds the last one, or adds all of them up. That takes the
product of both sizes in comparisons, but it is parallel, deterministic, and the last one wins as in a sequential
program. Positions outside a tensor write nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch2mlir.conversion import promotion
from torch2mlir.conversion.lowering import Number, Operand, Scalar, Tensor
from torch2mlir.conversion.promotion import si64
from torch2mlir.conversion.torch_to_linalg.elementwise import addition
from torch2mlir.conversion.torch_to_linalg.indexing import check_indices, index_layout, wrapped
from torch2mlir.conversion.torch_to_linalg.lowering import (
    Access,
    LinalgLowering,
    Subscript,
    broadcast_subscripts,
    lowers,
    widened,
)
from torch2mlir.conversion.torch_to_linalg.scalars import INDEX, Scalars
from torch2mlir.dialects.torch.dims import KnownSize

# along one dimension, the index as large as the source


def _written(
    lower: LinalgLowering, x: Tensor, dim: int, index: Tensor, source: Operand, adds: bool
) -> Tensor:
    """``x[i, index[i, j, k], k] = source[i, j, k]`` for ``dim == 1``, or ``+=``.

    Only the part of ``x`` that the index covers in the other dimensions is computed.
    """
    if x.rank == 0:
        return _to_rank_0(lower, x, index, source, adds)
    over, rank = lower.dim(dim, x.rank), x.rank
    dtype = widened(x.dtype) if adds else x.dtype
    covered = [x.sizes[d] if d == over else index.sizes[d] for d in range(rank)]
    part = lower.slice(lower.cast(x, dtype), [0] * rank, covered, [1] * rank)
    read: list[Subscript] = [rank if d == over else d for d in range(rank)]
    accesses: list[Access] = [(index, read)]
    if isinstance(source, Tensor):
        used = lower.slice(source, [0] * rank, index.sizes, [1] * rank)
        accesses.append((used, read))
    else:
        number = lower.number(source, dtype)

    def build(s: Scalars, position: Scalar, *elements: Scalar) -> Scalar:
        element = s.cast(elements[0], dtype) if isinstance(source, Tensor) else number
        here = s.compare("eq", s.cast(position, INDEX), s.index(over))
        return _combined(s, here, element, elements[-1], adds)

    (result,) = lower.nest("p" * rank + "r", accesses, [(part, range(rank))], build)
    result = lower.cast(result, x.dtype)
    if tuple(covered) == x.sizes:
        return result
    return lower.insert_slice(result, x, [0] * rank, covered, [1] * rank)


def _combined(s: Scalars, here: Scalar, new: Scalar, old: Scalar, adds: bool) -> Scalar:
    return s.select(here, addition(s, old, new) if adds else new, old)


def _to_rank_0(
    lower: LinalgLowering, x: Tensor, index: Tensor, source: Operand, adds: bool
) -> Tensor:
    """The only position there is."""
    if not isinstance(source, Tensor):
        return lower.splat(source, (), x.dtype)
    source = lower.reshape(source, ())
    return lower.elementwise(addition, x, source, computed=widened(x.dtype)) if adds else source


@lowers("aten.scatter.src")
def scatter_src(
    lower: LinalgLowering, x: Tensor, dim: int, index: Tensor, source: Tensor
) -> Tensor:
    """``x`` with elements of the source written along a dimension."""
    return _written(lower, x, dim, index, source, adds=False)


@lowers("aten.scatter.value")
def scatter_value(
    lower: LinalgLowering, x: Tensor, dim: int, index: Tensor, value: Number
) -> Tensor:
    """``x`` with a number written along a dimension."""
    return _written(lower, x, dim, index, value, adds=False)


@lowers("aten.scatter_add")
def scatter_add(
    lower: LinalgLowering, x: Tensor, dim: int, index: Tensor, source: Tensor
) -> Tensor:
    """``x`` with elements of the source added along a dimension."""
    return _written(lower, x, dim, index, source, adds=True)


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
    """``x`` with ``x[indices] = values``, or ``+=``; the indices and the values broadcast.

    A single mask selects between ``x`` and a single value.
    """
    if len(indices) == 1 and _is_mask(indices[0]) and all(size == 1 for size in values.sizes):
        return _where(lower, x, indices[0], values, accumulate)  # type: ignore[arg-type]
    places = _Places(lower, x, indices)
    values = lower.cast(values, x.dtype)
    return (_added if accumulate else _replaced)(lower, places, values)


def _is_mask(index: Tensor | None) -> bool:
    return index is not None and promotion.is_bool(index.dtype)


def _where(lower: LinalgLowering, x: Tensor, mask: Tensor, value: Tensor, adds: bool) -> Tensor:
    """The value, or its sum with ``x``, where a mask over the first dimensions holds."""

    def build(s: Scalars, here: Scalar, old: Scalar, new: Scalar) -> Scalar:
        return _combined(s, here, s.cast(new, x.dtype), old, adds)

    accesses: list[Access] = [(mask, range(mask.rank)), (x, range(x.rank))]
    accesses.append((value, [None] * value.rank))
    return lower.compute(build, accesses, x.sizes, x.dtype)


def _added(lower: LinalgLowering, places: _Places, values: Tensor) -> Tensor:
    x, dtype, count = places.x, widened(places.x.dtype), len(places.sizes)
    block = list(range(x.rank, x.rank + count))

    def build(s: Scalars, *elements: Scalar) -> Scalar:
        *positions, value, total = elements
        here = places.matches(s, positions, places.indexed)
        return _combined(s, here, s.cast(value, dtype), total, adds=True)

    inputs = places.accesses(x.rank)
    inputs.append((values, places.value_subscripts(values, block, places.whole)))
    output = (lower.cast(x, dtype), range(x.rank))
    kinds = "p" * x.rank + "r" * count
    return lower.cast(lower.nest(kinds, inputs, [output], build)[0], x.dtype)


def _replaced(lower: LinalgLowering, places: _Places, values: Tensor) -> Tensor:
    """First who writes each indexed position, the last one or nobody, then the elements."""
    x, count, rank = places.x, len(places.sizes), len(places.indexed)
    if count == 0:
        return _replaced_once(lower, places, values)
    covered = [x.sizes[d] for d in places.indexed]
    writers = [(lower.full(-1, covered, si64), range(rank)) for _ in places.sizes]

    def find(s: Scalars, *elements: Scalar) -> list[Scalar]:
        positions, known = elements[: len(places.indices)], elements[len(places.indices) :]
        here = places.matches(s, positions, range(rank))
        return [s.select(here, s.cast(s.index(rank + d), si64), old) for d, old in enumerate(known)]

    found = lower.nest("p" * rank + "r" * count, places.accesses(rank), writers, find)

    def choose(s: Scalars, old: Scalar, *writer: Scalar) -> Scalar:
        written = s.compare("ge", writer[0], 0)
        loops = list(range(count + len(places.whole)))
        order = places.value_subscripts(values, loops[:count], loops[count:])
        known = [s.cast(s("max", w, 0), INDEX) for w in writer]
        known += [s.index(d) for d in places.whole]
        zero = s.constant(0, INDEX)
        value = s.extract(values, [zero if p is None else known[p] for p in order])
        return s.select(written, value, old)

    accesses: list[Access] = [(x, range(x.rank)), *((w, places.indexed) for w in found)]
    return lower.compute(choose, accesses, x.sizes, x.dtype)


def _replaced_once(lower: LinalgLowering, places: _Places, values: Tensor) -> Tensor:
    """Indices without dimensions: one position is written."""
    x = places.x

    def choose(s: Scalars, old: Scalar, value: Scalar, *positions: Scalar) -> Scalar:
        return s.select(places.matches(s, positions, places.indexed), value, old)

    value = (values, places.value_subscripts(values, [], places.whole))
    accesses = [(x, range(x.rank)), value, *places.accesses(0)]
    return lower.compute(choose, accesses, x.sizes, x.dtype)
