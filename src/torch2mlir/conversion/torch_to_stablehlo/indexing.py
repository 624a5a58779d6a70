"""Reading elements at positions that tensors tell, in StableHLO: one gather each, or a dynamic slice.

Positions outside a tensor are held inside it, as ``stablehlo.gather`` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Attribute, SSAValue

from torch2mlir.contract.element_types import is_bool, si64
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering, lowers
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.torch.dims import KnownSize

# along one dimension, in step with the others


def as_vector(lower: StablehloLowering, x: Tensor) -> Tensor:
    """A rank-0 tensor as one of a single element."""
    return x if x.rank else lower.reshape(x, [1])


def covered(lower: StablehloLowering, x: Tensor, axis: int, index: Tensor) -> Tensor:
    """The part of ``x`` that an index of the same rank reaches: as far as it goes in the other dimensions."""
    sizes = [x.sizes[d] if d == axis else index.sizes[d] for d in range(x.rank)]
    return lower.slice(x, [0] * x.rank, sizes, [1] * x.rank)


@lowers("aten.gather")
def gather(lower: StablehloLowering, x: Tensor, dim: int, index: Tensor, *_: Any) -> Tensor:
    """``result[i, j, k] = x[i, index[i, j, k], k]`` for ``dim == 1``."""
    if 0 in (
        *lower.out.sizes,
        *x.sizes,
    ):  # a slice of one element is too large for a tensor without any
        return lower.splat(0, lower.out.sizes, x.dtype)
    x, index = as_vector(lower, x), as_vector(lower, index)
    return lower.reshape(taken_along(lower, x, dim, index), lower.out.sizes)


def taken_along(lower: StablehloLowering, x: Tensor, axis: int, index: Tensor) -> Tensor:
    """The elements at positions along a dimension, of the sizes of ``index``."""
    others = [d for d in range(x.rank) if d != axis]
    properties: dict[str, Attribute] = {
        "dimension_numbers": hlo.GatherDimensionNumbersAttr(
            collapsed_slice_dims=[axis],
            operand_batching_dims=others,
            start_indices_batching_dims=others,
            start_index_map=[axis],
            index_vector_dim=index.rank,
        ),
        "slice_sizes": hlo.i64_array([1] * x.rank),
    }
    operands = [covered(lower, x, axis, index), index]
    return lower.op(hlo.GatherOp, operands, index.sizes, x.dtype, properties)


# whole slices


@dataclass(frozen=True)
class Positions:
    """Where slices are.

    Attributes:
        axes: the dimensions that are indexed.
        indices: a position along each of them, in a last dimension of their own; along one, that is left out.
        sizes: the dimensions of the indices without that.
        front: where those are in what is indexed.
    """

    axes: list[int]
    indices: Tensor
    sizes: tuple[KnownSize, ...]
    front: int

    def indexed_sizes(self, x: Tensor) -> list[KnownSize]:
        """The sizes of ``x`` indexed."""
        whole = [size for axis, size in enumerate(x.sizes) if axis not in self.axes]
        return [*whole[: self.front], *self.sizes, *whole[self.front :]]

    def slice_dims(self, x: Tensor) -> list[int]:
        """The dimensions of ``x`` indexed that are those of the slices."""
        last = self.front + len(self.sizes)
        return [d for d in range(len(self.indexed_sizes(x))) if not self.front <= d < last]


def take(lower: StablehloLowering, x: Tensor, at: Positions) -> Tensor:
    """``x`` with the indexed dimensions replaced by those of the indices."""
    if 0 in x.sizes:  # a slice of one element is too large for a tensor without any
        return lower.splat(0, at.indexed_sizes(x), x.dtype)
    window = [1 if d in at.axes else size for d, size in enumerate(x.sizes)]
    properties: dict[str, Attribute] = {
        "dimension_numbers": hlo.GatherDimensionNumbersAttr(
            offset_dims=at.slice_dims(x),
            collapsed_slice_dims=at.axes,
            start_index_map=at.axes,
            index_vector_dim=len(at.sizes),
        )
    }
    operands: list[Tensor | SSAValue] = [x, at.indices]
    static = [size for size in window if isinstance(size, int)]
    if len(static) == len(window):
        properties["slice_sizes"] = hlo.i64_array(static)
        return lower.op(hlo.GatherOp, operands, at.indexed_sizes(x), x.dtype, properties)
    operands.append(lower.shape(window))
    return lower.op(hlo.DynamicGatherOp, operands, at.indexed_sizes(x), x.dtype, properties)


@lowers("aten.index_select")
def index_select(lower: StablehloLowering, x: Tensor, dim: int, index: Tensor) -> Tensor:
    """The positions of a dimension that a rank-1 tensor lists."""
    if x.rank == 0:
        return x
    axis, index = dim, as_vector(lower, index)
    sizes = lower.out.sizes
    if index.sizes == (1,) and 0 not in x.sizes and all(isinstance(size, int) for size in sizes):
        start, first = lower.reshape(index, ()), lower.splat(0, (), index.dtype)
        starts = [start if d == axis else first for d in range(x.rank)]
        properties: dict[str, Attribute] = {"slice_sizes": hlo.i64_array(sizes)}  # type: ignore[arg-type]
        return lower.op(hlo.DynamicSliceOp, [x, *starts], sizes, x.dtype, properties)
    return take(lower, x, Positions([axis], index, index.sizes, axis))


@lowers("aten.embedding")
def embedding(lower: StablehloLowering, weight: Tensor, index: Tensor, *_: Any) -> Tensor:
    """``weight[index]``."""
    return take(lower, weight, Positions([0], index, index.sizes, 0))


@lowers("aten.index.Tensor")
def index(lower: StablehloLowering, x: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """``x[indices]``: the indices broadcast together, dimensions without one are taken whole."""
    return take(lower, x, positions(lower, x, indices))


def positions(lower: StablehloLowering, x: Tensor, indices: Sequence[Tensor | None]) -> Positions:
    """Where index tensors point.

    Their dimensions replace the indexed ones if those are neighbours, and come first otherwise.
    """
    given = {axis: index for axis, index in enumerate(indices) if index is not None}
    if any(is_bool(index.dtype) for index in given.values()):
        lower.fail(
            "how many elements a boolean index takes is only known at run time",
            hint="use torch.where, or multiply with the mask",
        )
    axes, sizes = list(given), _joint_sizes(list(given.values()))
    wrapped = [_wrapped(lower, index, x.sizes[axis]) for axis, index in given.items()]
    front = axes[0] if axes[-1] - axes[0] + 1 == len(axes) else 0
    if len(wrapped) == 1:
        return Positions(axes, wrapped[0], sizes, front)
    columns = []
    for index in wrapped:
        column = lower.broadcast_to(lower.cast(index, si64), sizes)
        columns.append(lower.reshape(column, (*sizes, 1)))
    return Positions(axes, lower.concatenate(columns, len(sizes)), sizes, front)


def _joint_sizes(tensors: Sequence[Tensor]) -> tuple[KnownSize, ...]:
    """The sizes that tensors have broadcast together."""
    rank = max(t.rank for t in tensors)
    sizes: list[KnownSize] = [1] * rank
    for t in tensors:
        for place, size in enumerate(t.sizes, rank - t.rank):
            sizes[place] = size if size != 1 else sizes[place]
    return tuple(sizes)


def _wrapped(lower: StablehloLowering, index: Tensor, size: KnownSize) -> Tensor:
    """Negative positions count from the end."""
    from_end = lower.apply(hlo.AddOp, index, size)
    return lower.select(lower.compare("LT", index, 0), from_end, index)
