"""Reading elements at positions that tensors tell, once for all dialects; targets say how elements are taken.

Positions outside a tensor are undefined, as on PyTorch's accelerators.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch2mlir.contract.element_types import is_bool, si64
from torch2mlir.conversion.lowering import Lowering, Tensor, joint_sizes
from torch2mlir.conversion.registry import lowers_everywhere
from torch2mlir.dialects.torch.dims import KnownSize


@dataclass(frozen=True)
class Positions:
    """Where index tensors point.

    Attributes:
        axes: the dimensions that are indexed.
        indices: a tensor for each; negative positions count from the end.
        sizes: what they broadcast to together.
        front: where these dimensions are in what is indexed: in place of indexed neighbours, and first otherwise.
    """

    axes: list[int]
    indices: list[Tensor]
    sizes: tuple[KnownSize, ...]
    front: int

    def others(self, x: Tensor) -> list[int]:
        """The dimensions of ``x`` that are taken whole."""
        return [d for d in range(x.rank) if d not in self.axes]

    def slice_dims(self, x: Tensor) -> list[int]:
        """The dimensions of ``x`` indexed that are those."""
        last = self.front + len(self.sizes)
        count = len(self.sizes) + x.rank - len(self.axes)
        return [d for d in range(count) if not self.front <= d < last]

    def indexed_sizes(self, x: Tensor) -> list[KnownSize]:
        """The sizes of ``x`` indexed."""
        whole = [x.sizes[d] for d in self.others(x)]
        return [*whole[: self.front], *self.sizes, *whole[self.front :]]

    def indexed_order(self, x: Tensor) -> list[int]:
        """The permutation that puts the dimensions of the indices, which come first, at their place."""
        count = len(self.sizes)
        rest = range(count, count + x.rank - len(self.axes))
        return [*rest[: self.front], *range(count), *rest[self.front :]]

    def columns(self, lower: Lowering, indices: Sequence[Tensor] | None = None) -> Tensor:
        """The indices, or others in their place, side by side in a last dimension of their own, i64."""
        spread = [
            lower.broadcast_to(lower.cast(index, si64), self.sizes)
            for index in indices or self.indices
        ]
        parts = [lower.reshape(index, (*self.sizes, 1)) for index in spread]
        return lower.concatenate(parts, len(self.sizes))


def positions(lower: Lowering, indices: Sequence[Tensor | None]) -> Positions:
    """Where index tensors point; dimensions without one are taken whole."""
    given = {axis: index for axis, index in enumerate(indices) if index is not None}
    if any(is_bool(index.dtype) for index in given.values()):
        lower.fail(
            "how many elements a boolean index takes is only known at run time",
            hint="use torch.where, or multiply with the mask",
        )
    axes, tensors = list(given), list(given.values())
    front = axes[0] if axes[-1] - axes[0] + 1 == len(axes) else 0
    return Positions(axes, tensors, joint_sizes(tensors), front)


def as_vector(lower: Lowering, x: Tensor) -> Tensor:
    """A rank-0 tensor as one of a single element."""
    return x if x.rank else lower.reshape(x, [1])


def covered(lower: Lowering, x: Tensor, axis: int, index: Tensor) -> Tensor:
    """The part of ``x`` that an index of the same rank reaches: as far as it goes in the other dimensions."""
    sizes = [x.sizes[d] if d == axis else index.sizes[d] for d in range(x.rank)]
    return lower.slice(x, [0] * x.rank, sizes, [1] * x.rank)


@lowers_everywhere("aten.gather")
def gather(lower: Lowering, x: Tensor, dim: int, index: Tensor, *_: object) -> Tensor:
    """``result[i, j, k] = x[i, index[i, j, k], k]`` for ``dim == 1``."""
    if 0 in (*lower.out.sizes, *x.sizes):
        return lower.splat(0, lower.out.sizes, x.dtype)
    taken = lower.take_elements(as_vector(lower, x), dim, as_vector(lower, index))
    return lower.reshape(taken, lower.out.sizes)


@lowers_everywhere("aten.index_select")
def index_select(lower: Lowering, x: Tensor, dim: int, index: Tensor) -> Tensor:
    """The positions of a dimension that a rank-1 tensor lists."""
    if x.rank == 0:
        return x
    return _taken(lower, x, dim, as_vector(lower, index))


@lowers_everywhere("aten.embedding")
def embedding(lower: Lowering, weight: Tensor, index: Tensor, *_: object) -> Tensor:
    """``weight[index]``."""
    return _taken(lower, weight, 0, index)


def _taken(lower: Lowering, x: Tensor, axis: int, index: Tensor) -> Tensor:
    if 0 in x.sizes:
        return lower.splat(0, lower.out.sizes, x.dtype)
    return lower.take(x, axis, index)


@lowers_everywhere("aten.index.Tensor")
def index(lower: Lowering, x: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """``x[indices]``: the indices broadcast together, dimensions without one are taken whole."""
    at = positions(lower, indices)
    if 0 in x.sizes:
        return lower.splat(0, lower.out.sizes, x.dtype)
    return lower.take_at(x, at)
