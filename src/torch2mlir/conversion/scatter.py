"""Writing elements to positions that tensors tell, once for all dialects; targets say how elements are written.

Positions outside a tensor write nothing, or are undefined. Of several elements for one position any may win, as in
PyTorch.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch2mlir.conversion.indexing import as_vector, positions
from torch2mlir.conversion.lowering import Lowering, Operand, Tensor
from torch2mlir.conversion.registry import lowers_everywhere

COMBINING = {"sum": "add", "prod": "mul", "amax": "max", "amin": "min"}
"""PyTorch's reductions as words."""


def _along(
    lower: Lowering,
    x: Tensor,
    dim: int,
    index: Tensor,
    source: Operand,
    word: str | None = None,
) -> Tensor:
    if 0 in index.sizes or 0 in x.sizes:
        return x
    vector, index = as_vector(lower, x), as_vector(lower, index)
    if isinstance(source, Tensor):
        source, origin = as_vector(lower, source), [0] * vector.rank
        source = lower.slice(source, origin, index.sizes, [1] * vector.rank)
    return lower.reshape(lower.scatter(vector, dim, index, source, word), x.sizes)


@lowers_everywhere("aten.scatter.src", "aten.scatter.value")
def scatter(lower: Lowering, x: Tensor, dim: int, index: Tensor, source: Operand) -> Tensor:
    """``x`` with elements of the source, or one number, written along a dimension."""
    return _along(lower, x, dim, index, source)


@lowers_everywhere("aten.scatter_add")
def scatter_add(lower: Lowering, x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """``x`` with elements of the source added along a dimension."""
    return _along(lower, x, dim, index, source, "add")


@lowers_everywhere("aten.scatter_reduce.two")
def scatter_reduce(
    lower: Lowering,
    x: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    include_self: bool,
) -> Tensor:
    """``x`` reduced with the elements of the source that point to each place."""
    return _along(lower, x, dim, index, source, COMBINING[reduce])


@lowers_everywhere("aten.index_put")
def index_put(
    lower: Lowering,
    x: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: bool,
) -> Tensor:
    """``x`` with ``x[indices] = values``, or ``+=``; the indices broadcast together, the values to what is indexed."""
    at = positions(lower, indices)
    if 0 in at.sizes or 0 in x.sizes:
        return x
    return lower.put(x, at, lower.cast(values, x.dtype), "add" if accumulate else None)
