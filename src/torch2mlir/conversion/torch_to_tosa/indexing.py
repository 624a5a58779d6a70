"""Reading elements at positions that tensors tell, in TOSA, whose ops for indices are

    gather:  values [N, K, C] at indices [N, W] -> [N, W, C]
    scatter: values [N, K, C] with rows [N, W, C] at indices [N, W]

N counts dimensions in front of the indexed ones, K the indexed ones as one, C those behind. Indices are i32.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import si32
from torch2mlir.conversion.expressions import Expr
from torch2mlir.conversion.indexing import Positions, covered
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize, Sizes


class Reads(TosaLowering):
    """The words that read at positions."""

    def take(self, x: Tensor, axis: int, index: Tensor) -> Tensor:
        count, values = dims.product(index.sizes), as_rows(self, x, axis, 1)
        row = self.broadcast_to(self.reshape(index, (1, count)), (values.sizes[0], count))
        sizes = (*x.sizes[:axis], *index.sizes, *x.sizes[axis + 1 :])
        return self.reshape(self.gather_rows(values, row), sizes)

    def take_elements(self, x: Tensor, axis: int, index: Tensor) -> Tensor:
        lines = Lines(self, axis, x.rank)
        values = lines.of(covered(self, x, axis, index))
        taken = self.gather_rows(self.reshape(values, (*values.sizes, 1)), lines.of(index))
        return lines.back(taken, index.sizes)

    def take_at(self, x: Tensor, at: Positions) -> Tensor:
        row, order = flat_row(self, x, at), together(at, x)
        values = as_rows(self, self.transpose(x, order), at.front, len(at.axes))
        places = self.broadcast_to(row, (values.sizes[0], row.sizes[1]))
        return self.reshape(self.gather_rows(values, places), at.indexed_sizes(x))


# whole rows


def as_rows(lower: TosaLowering, x: Tensor, axis: int, indexed: int) -> Tensor:
    """``[N, K, C]`` with ``indexed`` dimensions from ``axis`` on as K."""
    parts = (x.sizes[:axis], x.sizes[axis : axis + indexed], x.sizes[axis + indexed :])
    return lower.reshape(x, [dims.product(part) for part in parts])


def together(at: Positions, x: Tensor) -> list[int]:
    """The dimensions of ``x`` with the indexed ones together, where those of the indices come."""
    others = at.others(x)
    return [*others[: at.front], *at.axes, *others[at.front :]]


def flat_row(lower: TosaLowering, x: Tensor, at: Positions) -> Tensor:
    """The positions as one number each, ``[1, W]``: those in row-major order of the indexed dimensions."""
    (first, *rest), (axis, *axes) = at.indices, at.axes
    row = _from_front(lower, first, x.sizes[axis])
    for index, axis in zip(rest, axes, strict=True):
        size = lower.splat(x.sizes[axis], (1,) * row.value.rank, si32)
        row = row * Expr(lower.words, size) + _from_front(lower, index, x.sizes[axis])
    return lower.reshape(row.value, (1, dims.product(at.sizes)))


def _from_front(lower: TosaLowering, index: Tensor, size: KnownSize) -> Expr:
    """Indices with negative ones counted from the end: ``i + ((i >> 31) & size)``."""
    position = Expr(lower.words, lower.cast(index, si32))
    if element_types.is_unsigned(index.dtype):
        return position
    length = Expr(lower.words, lower.splat(size, (1,) * index.rank, si32))
    return position + (position.of("shr", 31) & length)


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

    def back(self, lines: Tensor, sizes: Sizes) -> Tensor:
        """``[N, K]`` in the layout of a tensor of these sizes."""
        shape = [sizes[i] for i in self._order] if sizes else [1]
        inverse = [self._order.index(i) for i in range(self.rank)]
        whole = self.lower.transpose(self.lower.reshape(lines, shape), inverse)
        return self.lower.reshape(whole, sizes)
