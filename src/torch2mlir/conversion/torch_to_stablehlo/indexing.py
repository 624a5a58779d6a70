"""Gather and scatter in StableHLO."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Region

from torch2mlir.conversion import promotion
from torch2mlir.conversion.lowering import Number, Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering, lowers
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize


def _gather(
    lower: StablehloLowering,
    x: Tensor,
    indices: Tensor,
    axes: Sequence[int],
    position: int,
    sizes: Sequence[KnownSize],
) -> Tensor:
    """Elements of ``x`` at ``indices`` along ``axes``; the indices' own dimensions stand at ``position``.

    ``indices`` has a last dimension with one entry per axis.
    """
    batch = indices.rank - 1
    offsets = [d for d in range(len(sizes)) if not position <= d < position + batch]
    numbers = hlo.GatherDimensionNumbersAttr(
        offset_dims=offsets,
        collapsed_slice_dims=sorted(axes),
        start_index_map=axes,
        index_vector_dim=batch,
    )
    window = [1 if axis in axes else size for axis, size in enumerate(x.sizes)]
    properties = {"dimension_numbers": numbers}
    if all(isinstance(size, int) for size in window):
        properties["slice_sizes"] = hlo.i64_array(window)  # type: ignore[arg-type,assignment]
        return lower.op(hlo.GatherOp, [x, indices], sizes, x.dtype, properties)
    operands = [x, indices, lower.shape(window)]
    return lower.op(hlo.DynamicGatherOp, operands, sizes, x.dtype, properties)


def _as_vector(lower: StablehloLowering, index: Tensor) -> Tensor:
    """An index with a last dimension of 1, as gather wants it."""
    return lower.reshape(index, (*index.sizes, 1))


@lowers("aten.embedding")
def embedding(
    lower: StablehloLowering,
    weight: Tensor,
    indices: Tensor,
    padding_idx: int,
    scale_grad_by_freq: bool,
    sparse: bool,
) -> Tensor:
    """Rows of a table; the other arguments concern gradients."""
    return _gather(lower, weight, _as_vector(lower, indices), [0], 0, lower.out.sizes)


@lowers("aten.index_select")
def index_select(lower: StablehloLowering, x: Tensor, dim: int, index: Tensor) -> Tensor:
    """Slices of a dimension by a vector of indices."""
    if x.rank == 0:
        return x
    axis = lower.dim(dim, x.rank)
    index = lower.reshape(index, lower.out.sizes[axis : axis + 1])
    return _gather(lower, x, _as_vector(lower, index), [axis], axis, lower.out.sizes)


@lowers("aten.gather")
def gather(
    lower: StablehloLowering, x: Tensor, dim: int, index: Tensor, sparse_grad: bool
) -> Tensor:
    """``x[i][index[i][j]]`` along dimension 1, and so on."""
    if x.rank == 0:
        return lower.reshape(x, index.sizes)
    if index.rank == 0:
        index = lower.reshape(index, (1,))
    axis = lower.dim(dim, x.rank)
    points = _coordinates(lower, index, axis)
    result = _gather(lower, x, points, list(range(x.rank)), 0, index.sizes)
    return lower.reshape(result, lower.out.sizes)


def _coordinates(lower: StablehloLowering, index: Tensor, axis: int) -> Tensor:
    """Full coordinates of ``index`` along ``axis`` and of its own position along the others."""
    column = (*index.sizes, 1)
    parts = [
        lower.reshape(index, column) if d == axis else lower.iota(column, d, index.dtype)
        for d in range(index.rank)
    ]
    return lower.concatenate(parts, index.rank)


def _joint(
    lower: StablehloLowering, x: Tensor, indices: Sequence[Tensor | None]
) -> tuple[Tensor, list[int], int]:
    """Several indices broadcast together as one tensor of coordinates; the axes; where their dimensions go."""
    axes = [axis for axis, index in enumerate(indices) if index is not None]
    given = [index for index in indices if index is not None]
    if any(promotion.is_bool(index.dtype) for index in given):
        lower.fail(
            "a boolean mask selects a number of elements that depends on data",
            hint="use torch.where, or multiply by the mask",
        )
    rank = max(index.rank for index in given)
    batch: list[KnownSize] = [1] * rank
    for index in given:
        for d, size in enumerate(index.sizes, rank - index.rank):
            batch[d] = size if batch[d] == 1 else batch[d]
    parts = []
    for axis, index in zip(axes, given, strict=True):
        wrapped = _wrapped(lower, lower.operand(index, lower.si64), x.sizes[axis])
        parts.append(lower.reshape(lower.broadcast_to(wrapped, batch), (*batch, 1)))
    adjacent = axes == list(range(axes[0], axes[0] + len(axes)))
    return lower.concatenate(parts, rank), axes, axes[0] if adjacent else 0


def _wrapped(lower: StablehloLowering, index: Tensor, size: KnownSize) -> Tensor:
    """Negative indices count from the end."""
    negative = lower.compare("LT", index, lower.splat(0, index.sizes, index.dtype))
    length = lower.splat(size, index.sizes, index.dtype)
    from_end = lower.op(hlo.AddOp, [index, length], index.sizes, index.dtype)
    return lower.select(negative, from_end, index)


@lowers("aten.index.Tensor")
def index_tensor(lower: StablehloLowering, x: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """``x[i, :, j]``: indices broadcast together, their dimensions first unless they are neighbours."""
    points, axes, position = _joint(lower, x, indices)
    return _gather(lower, x, points, axes, position, lower.out.sizes)


@lowers("aten.index_put")
def index_put(
    lower: StablehloLowering,
    x: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: bool,
) -> Tensor:
    """``x[i, :, j] = values``, or ``+=``; a single mask with one value is a select."""
    first = indices[0]
    if len(indices) == 1 and first is not None and promotion.is_bool(first.dtype):
        return _masked_put(lower, x, first, values, accumulate)
    points, axes, position = _joint(lower, x, indices)
    batch = points.rank - 1
    kept = [size for axis, size in enumerate(x.sizes) if axis not in axes]
    sizes = [*kept[:position], *points.sizes[:-1], *kept[position:]]
    numbers = hlo.ScatterDimensionNumbersAttr(
        update_window_dims=[d for d in range(len(sizes)) if not position <= d < position + batch],
        inserted_window_dims=sorted(axes),
        scatter_dims_to_operand_dims=axes,
        index_vector_dim=batch,
    )
    return _scatter(lower, x, points, lower.broadcast_to(values, sizes), numbers, accumulate)


def _masked_put(
    lower: StablehloLowering, x: Tensor, mask: Tensor, values: Tensor, accumulate: bool
) -> Tensor:
    if dims.product(values.sizes) != 1:
        lower.fail("several values at places that depend on data", hint="use torch.where")
    value = lower.broadcast_to(lower.reshape(values, ()), x.sizes)
    if accumulate:
        value = lower.op(hlo.AddOp, [x, value], x.sizes, x.dtype)
    places = lower.broadcast_in_dim(mask, x.sizes, range(mask.rank))
    return lower.select(places, value, x)


def _scatter(
    lower: StablehloLowering,
    x: Tensor,
    points: Tensor,
    updates: Tensor,
    numbers: hlo.ScatterDimensionNumbersAttr,
    accumulate: bool,
) -> Tensor:
    element = lower.element_type(x.dtype)
    body: Region = hlo.combiner(hlo.AddOp, element) if accumulate else hlo.assign_body(element)
    properties = {"scatter_dimension_numbers": numbers}
    return lower.op(hlo.ScatterOp, [x, points, updates], x.sizes, x.dtype, properties, [body])


@lowers("aten.scatter.src")
def scatter_src(
    lower: StablehloLowering, x: Tensor, dim: int, index: Tensor, source: Tensor
) -> Tensor:
    """``x[i][index[i][j]] = source[i][j]`` along dimension 1, and so on."""
    return _scatter_along(lower, x, dim, index, source, accumulate=False)


@lowers("aten.scatter.value")
def scatter_value(
    lower: StablehloLowering, x: Tensor, dim: int, index: Tensor, value: Number
) -> Tensor:
    """``x[i][index[i][j]] = value`` along dimension 1, and so on."""
    source = lower.splat(value, index.sizes, x.dtype)
    return _scatter_along(lower, x, dim, index, source, accumulate=False)


@lowers("aten.scatter_add")
def scatter_add(
    lower: StablehloLowering, x: Tensor, dim: int, index: Tensor, source: Tensor
) -> Tensor:
    """``x[i][index[i][j]] += source[i][j]`` along dimension 1, and so on."""
    return _scatter_along(lower, x, dim, index, source, accumulate=True)


def _scatter_along(
    lower: StablehloLowering, x: Tensor, dim: int, index: Tensor, source: Tensor, accumulate: bool
) -> Tensor:
    if x.rank == 0:
        updated = lower.reshape(source, ())
        return lower.op(hlo.AddOp, [x, updated], (), x.dtype) if accumulate else updated
    if index.rank == 0:
        index = lower.reshape(index, (1,))
    source = lower.reshape(source, (1,)) if source.rank == 0 else source
    updates = lower.slice(source, [0] * source.rank, index.sizes, [1] * source.rank)
    every = list(range(x.rank))
    numbers = hlo.ScatterDimensionNumbersAttr(
        inserted_window_dims=every,
        scatter_dims_to_operand_dims=every,
        index_vector_dim=x.rank,
    )
    points = _coordinates(lower, index, lower.dim(dim, x.rank))
    return _scatter(lower, x, points, updates, numbers, accumulate)
