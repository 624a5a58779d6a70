"""Writing elements to positions that tensors tell, in TOSA, whose ``scatter`` takes no index twice."""

from __future__ import annotations

import math

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import neutral, si32, widened
from torch2mlir.conversion.expressions import Expr
from torch2mlir.conversion.indexing import Positions, covered
from torch2mlir.conversion.lowering import Operand, Tensor
from torch2mlir.conversion.torch_to_tosa.casts import computed_dtype
from torch2mlir.conversion.torch_to_tosa.indexing import Lines, as_rows, flat_row, together
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering
from torch2mlir.dialects import tosa
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize


class Writes(TosaLowering):
    """The words that write at positions."""

    def scatter(
        self, x: Tensor, axis: int, index: Tensor, source: Operand, word: str | None
    ) -> Tensor:
        index = self.cast(index, si32)
        if not isinstance(source, Tensor):
            return _filled(self, x, axis, index, source)
        if word is not None:
            return _combined(self, x, axis, index, source, word)
        return _replaced(self, x, axis, index, self.cast(source, x.dtype))

    def put(self, x: Tensor, at: Positions, values: Tensor, word: str | None) -> Tensor:
        order = together(at, x)
        moved, row = self.transpose(x, order), flat_row(self, x, at)
        before, count = as_rows(self, moved, at.front, len(at.axes)), row.sizes[1]
        rows = self.broadcast_to(values, at.indexed_sizes(x))
        rows = self.reshape(rows, (before.sizes[0], count, before.sizes[2]))
        places = self.broadcast_to(row, (before.sizes[0], count))
        write = self.scatter_rows if word is None else self._added
        back = [order.index(i) for i in range(x.rank)]
        return self.transpose(self.reshape(write(before, places, rows), moved.sizes), back)

    def _added(self, values: Tensor, row: Tensor, rows: Tensor) -> Tensor:
        """``values`` plus the rows that point to each of theirs; a zero that nothing is added to keeps its sign."""
        dtype = widened(x) if element_types.is_float(x := values.dtype) else computed_dtype(x)
        places, count = values.sizes[1], row.sizes[1]
        if isinstance(places, int) and isinstance(count, int) and 2 * count <= places:
            return _few_added(self, values, self.cast(row, si32), rows, dtype)
        sums = _sums(self, _hits(self, row, places), self.cast(rows, dtype))
        old = self.cast(values, dtype)
        total = self.elementwise(tosa.AddOp, old, sums)
        if element_types.is_float(dtype):
            is_nothing = self.compare("eq", sums, self.splat(0, (1, 1, 1), dtype))
            total = self.select(is_nothing, old, total)
        return self.cast(total, values.dtype)


def _sums(lower: TosaLowering, chosen: Tensor, rows: Tensor) -> Tensor:
    """``[N, K, C]``: the sums of those ``rows [N, W, C]`` that are ``chosen [N, K, W]``, a product with zeros and ones.

    ``0 * inf`` is NaN: what is infinite is counted instead, and so is NaN, as infinite both ways.
    """
    dtype = rows.dtype
    ones = lower.cast(chosen, dtype)
    if not element_types.is_float(dtype):
        return lower.batch_matmul(ones, rows, dtype)
    zero, inf, minus_inf = (
        lower.splat(number, (1, 1, 1), dtype) for number in (0, math.inf, -math.inf)
    )
    is_less, is_more = lower.compare("gt", inf, rows), lower.compare("gt", rows, minus_inf)
    is_finite = lower.elementwise(tosa.LogicalAndOp, is_less, is_more)
    sums = lower.batch_matmul(ones, lower.select(is_finite, rows, zero), dtype)
    for is_other, infinity in ((is_less, inf), (is_more, minus_inf)):
        counted = lower.cast(lower.elementwise(tosa.LogicalNotOp, is_other), dtype)
        is_there = lower.compare("gt", lower.batch_matmul(ones, counted, dtype), zero)
        sums = lower.elementwise(tosa.AddOp, sums, lower.select(is_there, infinity, zero))
    return sums


def _few_added(
    lower: TosaLowering, values: Tensor, row: Tensor, rows: Tensor, dtype: Attribute
) -> Tensor:
    """The same for fewer rows than places: those of one index are added up with each other and written there.

    What comes again goes to a place of its own behind the values.
    """
    (batches, places, _), (_, count) = values.sizes, row.sizes
    here = lower.reshape(row, (batches, count, 1))
    same = lower.compare("eq", here, lower.reshape(row, (batches, 1, count)))
    sums = _sums(lower, same, lower.cast(rows, dtype))
    old = lower.cast(lower.gather_rows(values, row), dtype)
    total = lower.cast(lower.elementwise(tosa.AddOp, old, sums), values.dtype)
    numbers = lower.iota((1, count, 1), 1, si32)
    earlier = lower.compare("gt", numbers, lower.iota((1, 1, count), 2, si32))
    both = lower.elementwise(tosa.LogicalAndOp, same, earlier)
    again = lower.reduce("or", both, [2], i1, row.sizes)
    start = lower.splat(places, (1, 1), si32)
    behind = lower.elementwise(tosa.AddOp, lower.reshape(numbers, (1, count)), start)
    longer = lower.pad(values, [0, 0, 0], [0, count, 0], 0)
    written = lower.scatter_rows(longer, lower.select(again, behind, row), total)
    return lower.slice(written, [0, 0, 0], values.sizes, [1, 1, 1])


def _replaced(lower: TosaLowering, x: Tensor, axis: int, index: Tensor, source: Tensor) -> Tensor:
    """``source[i][j]`` at ``[i][index[i][j]]``; of an index that comes twice one source is taken."""
    if not _fills(x, index, axis):
        count, places = dims.product(index.sizes), _flat_places(lower, x, index, axis)
        values = lower.reshape(x, (1, dims.product(x.sizes)))
        rows, places = (lower.reshape(t, (1, count)) for t in (source, places))
        return lower.reshape(_written(lower, values, places, rows), x.sizes)
    lines = Lines(lower, axis, x.rank)
    values, places, rows = (lines.of(t) for t in (x, index, source))
    return lines.back(_written(lower, values, places, rows), x.sizes)


def _written(lower: TosaLowering, values: Tensor, places: Tensor, rows: Tensor) -> Tensor:
    """``values [N, K]`` with ``rows [N, W]`` at ``places [N, W]``.

    ``tosa.scatter`` takes at most as many rows as there are places; of more the last ones are found and gathered.
    """
    length, count = values.sizes[1], rows.sizes[1]
    if not (isinstance(length, int) and isinstance(count, int) and count > length):
        return lower.reshape(
            lower.scatter_rows(
                lower.reshape(values, (*values.sizes, 1)),
                places,
                lower.reshape(rows, (*rows.sizes, 1)),
            ),
            values.sizes,
        )
    hits, numbers = _hits(lower, places, length), lower.iota((1, 1, count), 2, si32)
    chosen = lower.select(hits, numbers, lower.splat(-1, (1, 1, 1), si32))
    last = Expr(lower.words, lower.reduce("max", chosen, [2], si32, values.sizes))
    taken = lower.gather_rows(lower.reshape(rows, (*rows.sizes, 1)), last.of("max", 0).value)
    return lower.select((last > -1).value, lower.reshape(taken, values.sizes), values)


def _filled(lower: TosaLowering, x: Tensor, axis: int, index: Tensor, value: Operand) -> Tensor:
    """One number at ``[i][index[i][j]]``."""
    lines, length = Lines(lower, axis, x.rank), x.sizes[axis]
    sizes = [x.sizes[i] if i == axis else size for i, size in enumerate(index.sizes)]
    count = lines.of(index).sizes[0]
    hits = _hits(lower, lines.of(index), length)
    hit = lower.reduce("or", hits, [2], i1, (count, length))
    places = lines.back(hit, sizes)
    missing = [dims.sub(have, part) for have, part in zip(x.sizes, sizes, strict=True)]
    places = lower.pad(places, [0] * x.rank, missing, False)
    number = lower.operand(value, x.dtype)
    return lower.select(places, number, x)


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


def _combined(
    lower: TosaLowering, x: Tensor, axis: int, index: Tensor, source: Tensor, word: str
) -> Tensor:
    """``tosa.scatter`` takes no index twice: every place reduces all elements, those that point elsewhere neutral."""
    lines = Lines(lower, axis, x.rank)
    dtype = widened(x.dtype) if element_types.is_float(x.dtype) else computed_dtype(x.dtype)
    targets = covered(lower, x, axis, index)
    sizes = targets.sizes
    values = lines.of(targets)
    count, length = values.sizes
    hits = _hits(lower, lines.of(index), length)
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
    return lower.compare("eq", places, pointed)
