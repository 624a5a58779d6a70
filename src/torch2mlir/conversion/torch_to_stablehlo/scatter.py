"""Writing elements to positions that tensors tell, in StableHLO: one scatter each.

Positions outside a tensor write nothing. Of several elements for one position any may win, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation

from torch2mlir.conversion.lowering import Operand, Tensor
from torch2mlir.conversion.torch_to_stablehlo.indexing import as_vector, covered, positions
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering, lowers
from torch2mlir.dialects import stablehlo as hlo


def scatter(
    lower: StablehloLowering,
    x: Tensor,
    indices: Tensor,
    updates: Tensor,
    numbers: hlo.ScatterDimensionNumbersAttr,
    combined: type[Operation] | None = None,
) -> Tensor:
    """``x`` with updates written, or combined with what is there by an op."""
    if combined is None:
        body = hlo.assign_body(lower.element_type(x.dtype), lower.location)
    else:
        body = lower.combiner(combined, x.dtype)
    properties: dict[str, Attribute] = {"scatter_dimension_numbers": numbers}
    operands = [x, indices, updates]
    return lower.op(hlo.ScatterOp, operands, x.sizes, x.dtype, properties, [body])


# along one dimension, in step with the others


def _along(
    lower: StablehloLowering,
    x: Tensor,
    dim: int,
    index: Tensor,
    source: Operand,
    combined: type[Operation] | None = None,
) -> Tensor:
    """``x[i, index[i, j, k], k] = source[i, j, k]`` for ``dim == 1``, or ``+=`` and its like."""
    shape = x.sizes
    x, index = as_vector(lower, x), as_vector(lower, index)
    axis, origin, steps = dim, [0] * x.rank, [1] * x.rank
    if isinstance(source, Tensor):
        updates = lower.slice(as_vector(lower, source), origin, index.sizes, steps)
    else:
        updates = lower.splat(source, index.sizes, x.dtype)
    others = [d for d in range(x.rank) if d != axis]
    numbers = hlo.ScatterDimensionNumbersAttr(
        inserted_window_dims=[axis],
        input_batching_dims=others,
        scatter_indices_batching_dims=others,
        scatter_dims_to_operand_dims=[axis],
        index_vector_dim=index.rank,
    )
    part = covered(lower, x, axis, index)
    result = scatter(lower, part, index, updates, numbers, combined)
    if part is not x:
        start = lower.size(0)
        operands = [x, result, *[start] * x.rank]
        result = lower.op(hlo.DynamicUpdateSliceOp, operands, x.sizes, x.dtype)
    return lower.reshape(result, shape)


@lowers("aten.scatter.src", "aten.scatter.value")
def scatter_(
    lower: StablehloLowering, x: Tensor, dim: int, index: Tensor, source: Operand
) -> Tensor:
    """``x`` with elements of the source, or one number, written along a dimension."""
    return _along(lower, x, dim, index, source)


@lowers("aten.scatter_add")
def scatter_add(
    lower: StablehloLowering, x: Tensor, dim: int, index: Tensor, source: Tensor
) -> Tensor:
    """``x`` with elements of the source added along a dimension."""
    return _along(lower, x, dim, index, source, hlo.AddOp)


REDUCTIONS: dict[str, type[Operation]] = {
    "sum": hlo.AddOp,
    "prod": hlo.MulOp,
    "amax": hlo.MaxOp,
    "amin": hlo.MinOp,
}


@lowers("aten.scatter_reduce.two")
def scatter_reduce(
    lower: StablehloLowering,
    x: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    include_self: bool,
) -> Tensor:
    """``x`` reduced with the elements of the source that point to each place."""
    return _along(lower, x, dim, index, source, REDUCTIONS[reduce])


# whole slices


@lowers("aten.index_put")
def index_put(
    lower: StablehloLowering,
    x: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: bool,
) -> Tensor:
    """``x`` with ``x[indices] = values``, or ``+=``; the indices and the values broadcast."""
    values = lower.cast(values, x.dtype)
    at = positions(lower, x, indices)
    numbers = hlo.ScatterDimensionNumbersAttr(
        update_window_dims=at.slice_dims(x),
        inserted_window_dims=at.axes,
        scatter_dims_to_operand_dims=at.axes,
        index_vector_dim=len(at.sizes),
    )
    updates = lower.broadcast_to(values, at.indexed_sizes(x))
    return scatter(lower, x, at.indices, updates, numbers, hlo.AddOp if accumulate else None)
