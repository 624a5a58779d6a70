"""Reading and writing at indices in TOSA, whose two ops are

    gather:  values [N, K, C] at indices [N, W] -> [N, W, C]
    scatter: values [N, K, C] with rows [N, W, C] at indices [N, W]

N counts dimensions in front of the indexed ones, K the indexed ones as one, C those behind. Indices are i32.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import BoolAttr

from torch2mlir.conversion import promotion
from torch2mlir.conversion.lowering import Number, Tensor
from torch2mlir.conversion.torch_to_tosa.casts import computed_dtype, si32
from torch2mlir.conversion.torch_to_tosa.elementwise import float_dtype
from torch2mlir.conversion.torch_to_tosa.expressions import Expr
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
    return _select(lower, lower.ranked(x, max(x.rank, 1)), lower.dim(dim, x.rank), index)


def _select(lower: TosaLowering, x: Tensor, axis: int, index: Tensor) -> Tensor:
    count = dims.product(index.sizes)
    values = _as_rows(lower, x, axis, 1)
    row = lower.reshape(lower.cast(index, si32), (1, count))
    taken = lower.gather(values, lower.broadcast_to(row, (values.sizes[0], count)))
    return lower.reshape(taken, lower.out.sizes)


def _as_rows(lower: TosaLowering, x: Tensor, axis: int, indexed: int) -> Tensor:
    """``[N, K, C]`` with ``indexed`` dimensions from ``axis`` on as K."""
    parts = (x.sizes[:axis], x.sizes[axis : axis + indexed], x.sizes[axis + indexed :])
    return lower.reshape(x, [dims.product(part) for part in parts])


# single elements along one dimension


@dataclass(frozen=True)
class _Lines:
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


def _lines(lower: TosaLowering, x: Tensor, dim: int) -> _Lines:
    return _Lines(lower, lower.dim(dim, x.rank), max(x.rank, 1))


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
    lines = _lines(lower, x, dim)
    values = lines.of(_cropped(lower, x, index.sizes, lines.axis))
    taken = lower.gather(
        lower.reshape(values, (*values.sizes, 1)), lines.of(lower.cast(index, si32))
    )
    return lines.back(taken, lower.out.sizes)


@lowers("aten.scatter.src")
def scatter_src(lower: TosaLowering, x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """``x`` with ``source[i][j]`` at ``[i][index[i][j]]``; an index that comes twice is undefined, as in PyTorch."""
    source = lower.slice(source, [0] * index.rank, index.sizes, [1] * index.rank)
    return _scatter(lower, x, dim, index, lower.cast(source, x.dtype))


@lowers("aten.scatter.value")
def scatter_value(lower: TosaLowering, x: Tensor, dim: int, index: Tensor, value: Number) -> Tensor:
    """``x`` with one number at ``[i][index[i][j]]``."""
    return _scatter(lower, x, dim, index, lower.splat(value, index.sizes, x.dtype))


def _scatter(lower: TosaLowering, x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    lines = _lines(lower, x, dim)
    index = lower.cast(index, si32)
    if not _fills(x, index, lines.axis):
        places = _flat_places(lower, x, index, lines.axis)
        count = dims.product(index.sizes)
        flat = lower.scatter(
            lower.reshape(x, (1, dims.product(x.sizes), 1)),
            lower.reshape(places, (1, count)),
            lower.reshape(source, (1, count, 1)),
        )
        return lower.reshape(flat, x.sizes)
    values, rows = lines.of(x), lines.of(source)
    written = lower.scatter(
        lower.reshape(values, (*values.sizes, 1)),
        lines.of(index),
        lower.reshape(rows, (*rows.sizes, 1)),
    )
    return lines.back(written, x.sizes)


def _fills(x: Tensor, index: Tensor, axis: int) -> bool:
    """Whether indices are as large as the tensor in all dimensions but one."""
    return all(i == axis or x.sizes[i] == index.sizes[i] for i in range(x.rank))


def _flat_places(lower: TosaLowering, x: Tensor, index: Tensor, axis: int) -> Tensor:
    """Where in row-major order each index points."""
    places: Expr | None = None
    for i in range(x.rank):
        position = index if i == axis else lower.iota(_column(index, i), i, si32)
        stride = lower.splat(dims.product(x.sizes[i + 1 :]), (), si32)
        term = Expr(lower, position) * Expr(lower, stride)
        places = term if places is None else places + term
    return index if places is None else places.tensor


def _column(x: Tensor, axis: int) -> list[KnownSize]:
    return [size if i == axis else 1 for i, size in enumerate(x.sizes)]


@lowers("aten.scatter_add")
def scatter_add(lower: TosaLowering, x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """``x`` plus, at each place, the sum of the elements that point to it.

    ``tosa.scatter`` takes no index twice: every place sums over all elements, those that point elsewhere as 0.
    """
    lines = _lines(lower, x, dim)
    dtype = float_dtype(x.dtype) if promotion.is_float(x.dtype) else computed_dtype(x.dtype)
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
    zero = lower.splat(0, (1, 1, 1), dtype)
    sums = lower.reduce(tosa.ReduceSumOp, lower.select(hits, rows, zero), [2])
    added = lines.back(sums, sizes)
    if sizes != x.sizes:
        missing = [dims.sub(have, part) for have, part in zip(x.sizes, sizes, strict=True)]
        added = lower.pad(added, [0] * x.rank, missing, 0)
    total = lower.elementwise(tosa.AddOp, lower.cast(x, dtype), added)
    return lower.cast(total, x.dtype)


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
        if index is None or promotion.is_bool(index.dtype):
            lower.fail(
                "how many elements a boolean index takes is only known at run time",
                "use torch.where, or multiply with the mask",
            )
        position = _from_front(lower, index, x.sizes[axis])
        if row is None:
            row = position
        else:
            size = lower.splat(x.sizes[axis], (1,) * row.tensor.rank, si32)
            row = row * Expr(lower, size) + position
    if row is None:
        lower.fail("no dimension is indexed")
    shape = list(row.tensor.sizes)
    flat = lower.reshape(row.tensor, (1, dims.product(shape)))
    return _Indexing(order, front, len(axes), flat, shape)


def _from_front(lower: TosaLowering, index: Tensor, size: KnownSize) -> Expr:
    """Indices with negative ones counted from the end: ``i + ((i >> 31) & size)``."""
    position = Expr(lower, lower.cast(index, si32))
    if promotion.is_unsigned(index.dtype):
        return position
    ones = (1,) * index.rank
    exact = {"round": BoolAttr.from_bool(False)}
    sign = lower.elementwise(
        tosa.ArithmeticRightShiftOp, position.tensor, lower.splat(31, ones, si32), properties=exact
    )
    length = lower.splat(size, ones, si32)
    return position + Expr(lower, lower.elementwise(tosa.BitwiseAndOp, sign, length))


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
    masked = _masked(lower, x, indices, source)
    if masked is not None and not accumulate:
        return masked
    how = _indexing(lower, x, indices)
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


def _masked(
    lower: TosaLowering, x: Tensor, indices: Sequence[Tensor | None], source: Tensor
) -> Tensor | None:
    """One value at a mask of leading dimensions: a choice."""
    mask = indices[0]
    if len(indices) != 1 or mask is None or not promotion.is_bool(mask.dtype):
        return None
    if any(size != 1 for size in source.sizes):
        return None
    condition = lower.reshape(mask, (*mask.sizes, *[1] * (x.rank - mask.rank)))
    value = lower.reshape(lower.cast(source, x.dtype), (1,) * x.rank)
    return lower.select(condition, value, x)


def _accumulated(lower: TosaLowering, values: Tensor, row: Tensor, rows: Tensor) -> Tensor:
    """``values`` plus the rows that point to each of theirs: a product with a matrix of zeros and ones.

    An infinity or NaN in a row spreads to the same column of all others, as ``0 * inf`` is NaN.
    """
    dtype = float_dtype(x) if promotion.is_float(x := values.dtype) else computed_dtype(x)
    hits = lower.cast(_hits(lower, row, values.sizes[1]), dtype)
    sums = lower.matmul(hits, lower.cast(rows, dtype), dtype)
    total = lower.elementwise(tosa.AddOp, lower.cast(values, dtype), sums)
    return lower.cast(total, values.dtype)
