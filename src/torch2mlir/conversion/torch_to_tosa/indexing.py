"""Reading and writing at indices in TOSA, whose two ops are

    gather:  values [N, K, C] at indices [N, W] -> [N, W, C]
    scatter: values [N, K, C] with rows [N, W, C] at indices [N, W]

N counts dimensions in front of the indexed ones, K the indexed ones as one, C those behind. Indices are i32.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import BoolAttr, i1

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import neutral, widened
from torch2mlir.conversion.expressions import Expr
from torch2mlir.conversion.lowering import Number, Tensor
from torch2mlir.conversion.torch_to_tosa.casts import computed_dtype, si32
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering, lowers
from torch2mlir.dialects import tosa
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize

# whole rows


@lowers("aten.embedding")
def embedding(lower: TosaLowering, weight: Tensor, indices: Tensor, *_: object) -> Tensor:
    """Rows of a matrix."""
    return _select(lower, weight, 0, indices)


@lowers("aten.index_select")
def index_select(lower: TosaLowering, x: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices of a dimension at a list of indices."""
    return _select(lower, lower.ranked(x, max(x.rank, 1)), dim, index)


def _select(lower: TosaLowering, x: Tensor, axis: int, index: Tensor) -> Tensor:
    count = dims.product(index.sizes)
    values = _as_rows(lower, x, axis, 1)
    row = lower.reshape(index, (1, count))
    taken = lower.gather(values, lower.broadcast_to(row, (values.sizes[0], count)))
    return lower.reshape(taken, lower.out.sizes)


def _as_rows(lower: TosaLowering, x: Tensor, axis: int, indexed: int) -> Tensor:
    """``[N, K, C]`` with ``indexed`` dimensions from ``axis`` on as K."""
    parts = (x.sizes[:axis], x.sizes[axis : axis + indexed], x.sizes[axis + indexed :])
    return lower.reshape(x, [dims.product(part) for part in parts])


# single elements along one dimension


@dataclass(frozen=True)
class Lines:
    """Lines of a tensor along one dimension: how to get them as ``[N, K]`` and back."""

    lower: TosaLowering
    axis: int
    rank: int

    @property
    def _order(self) -> list[int]:
        return [*(i for i in range(self.rank) if i != self.axis), self.axis]

    def of(self, x: Tensor) -> Tensor:
        """``x`` as ``[N, K]``."""
        last = self.lower.transpose(self.lower.ranked(x, self.rank), self._order)
        return self.lower.reshape(last, (dims.product(last.sizes[:-1]), last.sizes[-1]))

    def back(self, lines: Tensor, sizes: Sequence[KnownSize]) -> Tensor:
        """``[N, K]`` in the layout of a tensor of these sizes."""
        shape = [sizes[i] for i in self._order] if sizes else [1]
        inverse = [self._order.index(i) for i in range(self.rank)]
        whole = self.lower.transpose(self.lower.reshape(lines, shape), inverse)
        return self.lower.reshape(whole, sizes)


def lines_of(lower: TosaLowering, x: Tensor, dim: int) -> Lines:
    """The lines of a tensor along a dimension."""
    return Lines(lower, dim, max(x.rank, 1))


def _cropped(lower: TosaLowering, x: Tensor, sizes: Sequence[KnownSize], axis: int) -> Tensor:
    """``x`` cut to sizes in all dimensions but one."""
    kept = [
        have if i == axis else size
        for i, (have, size) in enumerate(zip(x.sizes, sizes, strict=True))
    ]
    return lower.slice(x, [0] * x.rank, kept, [1] * x.rank)


@lowers("aten.gather")
def gather(lower: TosaLowering, x: Tensor, dim: int, index: Tensor, *_: object) -> Tensor:
    """``x[i][index[i][j]]``, for the last of two dimensions."""
    rank = max(x.rank, index.rank, 1)
    x, index = lower.ranked(x, rank), lower.ranked(index, rank)
    lines = lines_of(lower, x, dim)
    values = lines.of(_cropped(lower, x, index.sizes, lines.axis))
    taken = lower.gather(lower.reshape(values, (*values.sizes, 1)), lines.of(index))
    return lines.back(taken, lower.out.sizes)


@lowers("aten.scatter.src")
def scatter_src(lower: TosaLowering, x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """``x`` with ``source[i][j]`` at ``[i][index[i][j]]``; of an index that comes twice one source is taken."""
    source = lower.slice(source, [0] * index.rank, index.sizes, [1] * index.rank)
    source, index = lower.cast(source, x.dtype), lower.cast(index, si32)
    lines = lines_of(lower, x, dim)
    if 0 in index.sizes:
        return x
    if not _fills(x, index, lines.axis):
        count, places = dims.product(index.sizes), _flat_places(lower, x, index, lines.axis)
        values = lower.reshape(x, (1, dims.product(x.sizes)))
        rows, places = (lower.reshape(t, (1, count)) for t in (source, places))
        return lower.reshape(_written(lower, values, places, rows), x.sizes)
    values, places, rows = (lines.of(t) for t in (x, index, source))
    return lines.back(_written(lower, values, places, rows), x.sizes)


def _written(lower: TosaLowering, values: Tensor, places: Tensor, rows: Tensor) -> Tensor:
    """``values [N, K]`` with ``rows [N, W]`` at ``places [N, W]``.

    ``tosa.scatter`` takes at most as many rows as there are places; of more the last ones are found and gathered.
    """
    length, count = values.sizes[1], rows.sizes[1]
    if not (isinstance(length, int) and isinstance(count, int) and count > length):
        return lower.reshape(
            lower.scatter(
                lower.reshape(values, (*values.sizes, 1)),
                places,
                lower.reshape(rows, (*rows.sizes, 1)),
            ),
            values.sizes,
        )
    hits, numbers = _hits(lower, places, length), lower.iota((1, 1, count), 2, si32)
    chosen = lower.select(hits, numbers, lower.splat(-1, (1, 1, 1), si32))
    last = Expr(lower.words, lower.reduce("max", chosen, [2], si32, values.sizes))
    taken = lower.gather(lower.reshape(rows, (*rows.sizes, 1)), last.of("max", 0).value)
    return lower.select((last > -1).value, lower.reshape(taken, values.sizes), values)


@lowers("aten.scatter.value")
def scatter_value(lower: TosaLowering, x: Tensor, dim: int, index: Tensor, value: Number) -> Tensor:
    """``x`` with one number at ``[i][index[i][j]]``; an index may come twice, as in no ``tosa.scatter``."""
    lines, index = lines_of(lower, x, dim), lower.cast(index, si32)
    if 0 in index.sizes:
        return x
    sizes = [x.sizes[i] if i == lines.axis else size for i, size in enumerate(index.sizes)]
    count, length = lines.of(index).sizes[0], x.sizes[lines.axis] if x.rank else 1
    hits = _hits(lower, lines.of(index), length)
    hit = lower.reduce("or", hits, [2], i1, (count, length))
    places = lines.back(hit, sizes)
    missing = [dims.sub(have, part) for have, part in zip(x.sizes, sizes, strict=True)]
    places = lower.pad(places, [0] * x.rank, missing, False)
    return lower.select(places, lower.splat(value, (1,) * x.rank, x.dtype), x)


def _fills(x: Tensor, index: Tensor, axis: int) -> bool:
    """Whether indices are as large as the tensor in all dimensions but one."""
    return all(i == axis or x.sizes[i] == index.sizes[i] for i in range(x.rank))


def _flat_places(lower: TosaLowering, x: Tensor, index: Tensor, axis: int) -> Tensor:
    """Where in row-major order each index points."""
    places: Expr | None = None
    for i in range(x.rank):
        position = index if i == axis else lower.iota(_column(index, i), i, si32)
        stride = lower.splat(dims.product(x.sizes[i + 1 :]), (), si32)
        term = Expr(lower.words, position) * Expr(lower.words, stride)
        places = term if places is None else places + term
    return index if places is None else places.value


def _column(x: Tensor, axis: int) -> list[KnownSize]:
    return [size if i == axis else 1 for i, size in enumerate(x.sizes)]


@lowers("aten.scatter_add")
def scatter_add(lower: TosaLowering, x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """``x`` plus, at each place, the sum of the elements that point to it."""
    return _combined(lower, x, dim, index, source, "sum")


@lowers("aten.scatter_reduce.two")
def scatter_reduce(
    lower: TosaLowering,
    x: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    include_self: bool,
) -> Tensor:
    """``x`` reduced with the elements that point to each place."""
    return _combined(lower, x, dim, index, source, reduce)


COMBINING = {"sum": "add", "prod": "mul", "amax": "max", "amin": "min"}
"""PyTorch's reductions as words."""


def _combined(
    lower: TosaLowering, x: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str
) -> Tensor:
    """``tosa.scatter`` takes no index twice: every place reduces all elements, those that point elsewhere neutral."""
    word = COMBINING[reduce]
    if 0 in index.sizes:
        return x
    lines = lines_of(lower, x, dim)
    dtype = widened(x.dtype) if element_types.is_float(x.dtype) else computed_dtype(x.dtype)
    source = lower.slice(source, [0] * index.rank, index.sizes, [1] * index.rank)
    targets, sizes = x, x.sizes
    if not _fills(x, index, lines.axis):
        targets = _cropped(lower, x, index.sizes, lines.axis)
        sizes = targets.sizes
    values = lines.of(targets)
    count, length = values.sizes
    hits = _hits(lower, lines.of(lower.cast(index, si32)), length)
    rows = lines.of(lower.cast(source, dtype))
    rows = lower.reshape(rows, (count, 1, rows.sizes[1]))
    nothing = lower.splat(neutral(word, dtype), (1, 1, 1), dtype)
    along = lower.reduce(word, lower.select(hits, rows, nothing), [2], dtype, (count, length))
    found = lines.back(along, sizes)
    if sizes != x.sizes:
        missing = [dims.sub(have, part) for have, part in zip(x.sizes, sizes, strict=True)]
        found = lower.pad(found, [0] * x.rank, missing, neutral(word, dtype))
    both = Expr(lower.words, lower.cast(x, dtype)).of(word, Expr(lower.words, found))
    return lower.cast(both.value, x.dtype)


def _hits(lower: TosaLowering, index: Tensor, length: KnownSize) -> Tensor:
    """``[N, K, W]``: whether index w points to place k."""
    places = lower.iota((1, length, 1), 1, si32)
    pointed = lower.reshape(index, (index.sizes[0], 1, index.sizes[1]))
    return lower.compare(tosa.EqualOp, places, pointed)


# several dimensions at once


@dataclass(frozen=True)
class _Indexing:
    """Indices for some dimensions, which become one.

    Attributes:
        order: the tensor's dimensions with the indexed ones together.
        front: how many dimensions come before those.
        indexed: how many are indexed.
        row: their indices as one number each, ``[1, W]``.
        shape: what the indices broadcast to.
    """

    order: list[int]
    front: int
    indexed: int
    row: Tensor
    shape: list[KnownSize]


def _indexing(lower: TosaLowering, x: Tensor, indices: Sequence[Tensor | None]) -> _Indexing:
    """Indexed dimensions that are not neighbours move to the front, as in PyTorch and numpy."""
    axes = [axis for axis, index in enumerate(indices) if index is not None]
    neighbours = axes == list(range(axes[0], axes[-1] + 1))
    front = axes[0] if neighbours else 0
    others = [axis for axis in range(x.rank) if axis not in axes]
    order = [*others[:front], *axes, *others[front:]]
    row: Expr | None = None
    for axis in axes:
        index = indices[axis]
        if index is None or element_types.is_bool(index.dtype):
            lower.fail(
                "how many elements a boolean index takes is only known at run time",
                "use torch.where, or multiply with the mask",
            )
        position = _from_front(lower, index, x.sizes[axis])
        if row is None:
            row = position
        else:
            size = lower.splat(x.sizes[axis], (1,) * row.value.rank, si32)
            row = row * Expr(lower.words, size) + position
    if row is None:
        lower.fail("no dimension is indexed")
    shape = list(row.value.sizes)
    flat = lower.reshape(row.value, (1, dims.product(shape)))
    return _Indexing(order, front, len(axes), flat, shape)


def _from_front(lower: TosaLowering, index: Tensor, size: KnownSize) -> Expr:
    """Indices with negative ones counted from the end: ``i + ((i >> 31) & size)``."""
    position = Expr(lower.words, lower.cast(index, si32))
    if element_types.is_unsigned(index.dtype):
        return position
    ones = (1,) * index.rank
    exact = {"round": BoolAttr.from_bool(False)}
    sign = lower.elementwise(
        tosa.ArithmeticRightShiftOp, position.value, lower.splat(31, ones, si32), properties=exact
    )
    length = lower.splat(size, ones, si32)
    return position + Expr(lower.words, lower.elementwise(tosa.BitwiseAndOp, sign, length))


@lowers("aten.index.Tensor")
def index(lower: TosaLowering, x: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """``x[i, j, ..]`` with index tensors that broadcast together, and whole dimensions for None."""
    how = _indexing(lower, x, indices)
    values = _as_rows(lower, lower.transpose(x, how.order), how.front, how.indexed)
    row = lower.broadcast_to(how.row, (values.sizes[0], how.row.sizes[1]))
    return lower.reshape(lower.gather(values, row), lower.out.sizes)


@lowers("aten.index_put")
def index_put(
    lower: TosaLowering,
    x: Tensor,
    indices: Sequence[Tensor | None],
    source: Tensor,
    accumulate: bool,
) -> Tensor:
    """``x[i, j, ..] = source`` or ``+= source``."""
    how = _indexing(lower, x, indices)
    if 0 in how.shape:
        return x
    moved = lower.transpose(x, how.order)
    values = _as_rows(lower, moved, how.front, how.indexed)
    sizes = (*moved.sizes[: how.front], *how.shape, *moved.sizes[how.front + how.indexed :])
    rows = lower.broadcast_to(lower.cast(source, x.dtype), sizes)
    count = how.row.sizes[1]
    rows = lower.reshape(rows, (values.sizes[0], count, values.sizes[2]))
    row = lower.broadcast_to(how.row, (values.sizes[0], count))
    written = (
        _accumulated(lower, values, row, rows) if accumulate else lower.scatter(values, row, rows)
    )
    back = [how.order.index(i) for i in range(x.rank)]
    return lower.transpose(lower.reshape(written, moved.sizes), back)


def _accumulated(lower: TosaLowering, values: Tensor, row: Tensor, rows: Tensor) -> Tensor:
    """``values`` plus the rows that point to each of theirs: a product with a matrix of zeros and ones.

    An infinity or NaN in a row spreads to the same column of all others, as ``0 * inf`` is NaN.
    """
    dtype = widened(x) if element_types.is_float(x := values.dtype) else computed_dtype(x)
    hits = lower.cast(_hits(lower, row, values.sizes[1]), dtype)
    sums = lower.batch_matmul(hits, lower.cast(rows, dtype), dtype)
    total = lower.elementwise(tosa.AddOp, lower.cast(values, dtype), sums)
    return lower.cast(total, values.dtype)
