"""Reading elements at positions that tensors tell, in Linalg-on-Tensors.

Each is one linalg.generic over the result, with tensor.extract in its body. Positions outside a tensor are undefined,
as on PyTorch's accelerators.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import tensor
from xdsl.dialects.builtin import i1

from torch2mlir.conversion.lowering import Scalar, Tensor
from torch2mlir.conversion.torch_to_linalg.lowering import (
    Access,
    LinalgLowering,
    broadcast_subscripts,
    lowers,
)
from torch2mlir.conversion.torch_to_linalg.scalars import INDEX, Scalars
from torch2mlir.dialects import tensor_ext
from torch2mlir.dialects.torch.dims import KnownSize


def wrapped(s: Scalars, position: Scalar, size: KnownSize) -> Scalar:
    """A position as ``index``; a negative one counts from the end."""
    place = s.cast(position, INDEX)
    from_end = s("add", place, s.lower.number(size, INDEX))
    return s.select(s.compare("lt", place, 0), from_end, place)


@lowers("aten.gather")
def gather(lower: LinalgLowering, x: Tensor, dim: int, index: Tensor, *_: Any) -> Tensor:
    """``result[i, j, k] = x[i, index[i, j, k], k]`` for ``dim == 1``."""
    over = dim

    def build(s: Scalars, position: Scalar) -> Scalar:
        places = [s.cast(position, INDEX) if d == over else s.index(d) for d in range(x.rank)]
        return s.extract(x, places)

    return lower.compute(build, [(index, range(index.rank))], index.sizes, x.dtype)


def take(lower: LinalgLowering, x: Tensor, over: int, index: Tensor) -> Tensor:
    """``x`` with a dimension replaced by those of ``index``, which tells the positions along it."""
    sizes = [*x.sizes[:over], *index.sizes, *x.sizes[over + 1 :]]
    shift = index.rank - 1

    def build(s: Scalars, position: Scalar) -> Scalar:
        before = [s.index(d) for d in range(over)]
        after = [s.index(d + shift) for d in range(over + 1, x.rank)]
        return s.extract(x, [*before, s.cast(position, INDEX), *after])

    access = (index, range(over, over + index.rank))
    return lower.compute(build, [access], sizes, x.dtype)


@lowers("aten.index_select")
def index_select(lower: LinalgLowering, x: Tensor, dim: int, index: Tensor) -> Tensor:
    """The positions of a dimension that a rank-1 tensor lists."""
    if x.rank == 0:
        return x
    over, place = dim, number_of(index)
    if place is not None:
        starts = [place if d == over else 0 for d in range(x.rank)]
        sizes = lower.out.sizes
        return lower.extract_slice(x, starts, sizes, [1] * x.rank, sizes)
    return take(lower, x, over, lower.reshape(index, [lower.out.sizes[dim]]))


def number_of(index: Tensor) -> Scalar | None:
    """The number that a tensor of one element was made from, as a loop's counter is; None for any other tensor."""
    value = index.value
    while isinstance(value.owner, tensor_ext.ExpandShapeOp | tensor.CollapseShapeOp):
        value = value.owner.operands[0]
    if isinstance(value.owner, tensor.FromElementsOp) and len(value.owner.operands) == 1:
        return Scalar(value.owner.operands[0], index.dtype)
    return None


@lowers("aten.embedding")
def embedding(lower: LinalgLowering, weight: Tensor, index: Tensor, *_: Any) -> Tensor:
    """``weight[index]``."""
    return take(lower, weight, 0, index)


def check_indices(lower: LinalgLowering, indices: Sequence[Tensor | None]) -> None:
    """Refuses masks, whose result has a size that depends on data."""
    if any(index is not None and index.dtype == i1 for index in indices):
        lower.fail(
            "the size of the result depends on the elements of a boolean index",
            hint="use torch.where, or torch.nonzero outside the compiled part",
        )


def index_layout(indices: Sequence[Tensor | None], rank: int) -> tuple[list[int], int]:
    """The dimensions that are indexed, and where in the result those of the indices are.

    They replace adjacent ones, and come first otherwise.
    """
    indexed = [d for d, index in enumerate(indices) if index is not None]
    adjacent = indexed[-1] - indexed[0] + 1 == len(indexed)
    return indexed, indexed[0] if adjacent else 0


@lowers("aten.index.Tensor")
def index(lower: LinalgLowering, x: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """``x[indices]``: the indices broadcast together, dimensions without one are taken whole."""
    check_indices(lower, indices)
    out = lower.out
    indexed, front = index_layout(indices, x.rank)
    given = {d: indices[d] for d in indexed}
    count = out.rank - (x.rank - len(indexed))
    block = out.sizes[front : front + count]
    accesses: list[Access] = []
    for positions in given.values():
        assert positions is not None
        accesses.append((positions, broadcast_subscripts(positions.sizes, block, front)))
    whole = [d for d in range(out.rank) if not front <= d < front + count]

    def build(s: Scalars, *positions: Scalar) -> Scalar:
        loops, found = iter(whole), iter(positions)
        places = [
            wrapped(s, next(found), x.sizes[d]) if d in given else s.index(next(loops))
            for d in range(x.rank)
        ]
        return s.extract(x, places)

    return lower.compute(build, accesses, out.sizes, x.dtype)
