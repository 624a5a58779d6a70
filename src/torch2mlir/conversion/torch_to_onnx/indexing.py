"""Reading elements at positions that tensors tell, in ONNX: one ``Gather``, ``GatherElements`` or ``GatherND`` each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import si64
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_onnx.lowering import OnnxLowering, joint_sizes, lowers
from torch2mlir.dialects.torch.dims import KnownSize

# along one dimension, in step with the others


def as_vector(lower: OnnxLowering, x: Tensor) -> Tensor:
    """A rank-0 tensor as one of a single element."""
    return x if x.rank else lower.reshape(x, [1])


def as_position(lower: OnnxLowering, index: Tensor) -> Tensor:
    """Positions in a type that ONNX indexes with."""
    is_plain = element_types.bit_width(index.dtype) in (32, 64) and not element_types.is_unsigned(
        index.dtype
    )
    return index if is_plain else lower.cast(index, si64)


def covered(lower: OnnxLowering, x: Tensor, axis: int, index: Tensor) -> Tensor:
    """The part of ``x`` that an index of the same rank reaches: as far as it goes in the other dimensions."""
    sizes = [x.sizes[d] if d == axis else index.sizes[d] for d in range(x.rank)]
    return lower.slice(x, [0] * x.rank, sizes, [1] * x.rank)


@lowers("aten.gather")
def gather(lower: OnnxLowering, x: Tensor, dim: int, index: Tensor, *_: Any) -> Tensor:
    """``result[i, j, k] = x[i, index[i, j, k], k]`` for ``dim == 1``."""
    if 0 in (*lower.out.sizes, *x.sizes):
        return lower.splat(0, lower.out.sizes, x.dtype)
    x, index = as_vector(lower, x), as_vector(lower, as_position(lower, index))
    axis = dim
    part = covered(lower, x, axis, index)
    result = lower.node("GatherElements", part, index, sizes=index.sizes, dtype=x.dtype, axis=axis)
    return lower.reshape(result, lower.out.sizes)


# whole slices


@dataclass(frozen=True)
class Positions:
    """Where index tensors point.

    Attributes:
        axes: the dimensions that are indexed.
        indices: a position in each; along more than one axis, in a last dimension of their own.
        sizes: the dimensions of the indices without that.
        front: where those are in what is indexed.
    """

    axes: list[int]
    indices: Tensor
    sizes: tuple[KnownSize, ...]
    front: int

    def to_front(self, x: Tensor) -> list[int]:
        """The permutation that puts the indexed dimensions first."""
        return [*self.axes, *(d for d in range(x.rank) if d not in self.axes)]

    def indexed_order(self, x: Tensor) -> list[int]:
        """The permutation that puts the dimensions of the indices, which come first, at their place."""
        count, whole = len(self.sizes), x.rank - len(self.axes)
        rest = range(count, count + whole)
        return [*rest[: self.front], *range(count), *rest[self.front :]]


def positions(lower: OnnxLowering, x: Tensor, indices: Sequence[Tensor | None]) -> Positions:
    """Where index tensors point; they broadcast together.

    Their dimensions replace the indexed ones if those are neighbours, and come first otherwise.
    """
    given = {axis: index for axis, index in enumerate(indices) if index is not None}
    axes, sizes = list(given), joint_sizes(list(given.values()))
    front = axes[0] if axes[-1] - axes[0] + 1 == len(axes) else 0
    if len(axes) == 1:
        return Positions(axes, as_position(lower, given[axes[0]]), sizes, front)
    columns = []
    for index in given.values():
        column = lower.broadcast_to(lower.cast(index, si64), sizes)
        columns.append(lower.reshape(column, (*sizes, 1)))
    return Positions(axes, lower.concatenate(columns, len(sizes)), sizes, front)


def take(lower: OnnxLowering, x: Tensor, axis: int, index: Tensor) -> Tensor:
    """``x`` with a dimension replaced by those of the index; negative positions count from the end."""
    sizes = (*x.sizes[:axis], *index.sizes, *x.sizes[axis + 1 :])
    if 0 in x.sizes:
        return lower.splat(0, sizes, x.dtype)
    position = as_position(lower, index)
    return lower.node("Gather", x, position, sizes=sizes, dtype=x.dtype, axis=axis)


@lowers("aten.index_select")
def index_select(lower: OnnxLowering, x: Tensor, dim: int, index: Tensor) -> Tensor:
    """The positions of a dimension that a rank-1 tensor lists."""
    if x.rank == 0:
        return x
    return take(lower, x, dim, as_vector(lower, index))


@lowers("aten.embedding")
def embedding(lower: OnnxLowering, weight: Tensor, index: Tensor, *_: Any) -> Tensor:
    """``weight[index]``."""
    return take(lower, weight, 0, index)


@lowers("aten.index.Tensor")
def index(lower: OnnxLowering, x: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """``x[indices]``: the indices broadcast together, dimensions without one are taken whole."""
    at = positions(lower, x, indices)
    if len(at.axes) == 1:
        return take(lower, x, at.axes[0], at.indices)
    if 0 in x.sizes:
        return lower.splat(0, lower.out.sizes, x.dtype)
    turned = lower.transpose(x, at.to_front(x))
    sizes = (*at.sizes, *turned.sizes[len(at.axes) :])
    found = lower.node("GatherND", turned, at.indices, sizes=sizes, dtype=x.dtype)
    return lower.transpose(found, at.indexed_order(x))
