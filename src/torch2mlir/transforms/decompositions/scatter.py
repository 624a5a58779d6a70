"""Writing to positions that tensors tell, and reading by flat ones, in terms of what is core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.types import Number

from torch2mlir.transforms.decompositions.registry import decomposes
from torch2mlir.transforms.decompositions.scans import limits

aten = torch.ops.aten


def _neutral(reduce: str, dtype: torch.dtype) -> float:
    """What a reduction starts from."""
    lowest, highest = limits(dtype)
    return {"sum": 0, "mean": 0, "prod": 1, "amax": lowest, "amin": highest}[reduce]


@decomposes(aten.index_fill.int_Tensor)
def _index_fill(a: Tensor, dim: int, index: Tensor, value: Tensor) -> Tensor:
    """With one element, which is converted."""
    return torch._refs.index_fill(a, dim, index, value.to(a.dtype))


@decomposes(aten.scatter_reduce.two)
def _scatter_reduce(
    a: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, include_self: bool = True
) -> Tensor:
    """Products and extrema with what is there already are core; sums are ``scatter_add``, means its quotients."""
    source = source.to(a.dtype)
    if not include_self:
        start = aten.scatter.value(a, dim, index, _neutral(reduce, a.dtype))
        if reduce != "mean":
            return aten.scatter_reduce.two(start, dim, index, source, reduce)
        a = start
    if reduce == "sum":
        return aten.scatter_add(a, dim, index, source)
    if reduce != "mean":
        return NotImplemented
    total = aten.scatter_add(a, dim, index, source)
    counted = torch.ones_like(a) if include_self else torch.zeros_like(a)
    count = aten.scatter_add(counted, dim, index, torch.ones_like(source))
    if not include_self:
        count = torch.clamp(count, min=1)
    if a.dtype.is_floating_point or a.dtype.is_complex:
        return total / count
    return torch.div(total, count, rounding_mode="floor")


_REDUCTIONS = {"add": "sum", "multiply": "prod"}
"""How ``scatter`` calls what ``scatter_reduce`` does."""


@decomposes(aten.scatter.reduce)
def _scatter_with(a: Tensor, dim: int, index: Tensor, source: Tensor, *, reduce: str) -> Tensor:
    return aten.scatter_reduce.two(a, dim, index, source, _REDUCTIONS[reduce])


@decomposes(aten.scatter.value_reduce)
def _scatter_number_with(
    a: Tensor, dim: int, index: Tensor, value: Number, *, reduce: str
) -> Tensor:
    source = torch.full(index.shape, value, dtype=a.dtype)
    return aten.scatter_reduce.two(a, dim, index, source, _REDUCTIONS[reduce])


@decomposes(aten.index_reduce.default)
def _index_reduce(
    a: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """The slices of the source, each reduced into the one that the index tells."""
    if a.dim() == 0:
        a, source = a.reshape([1]), source.reshape([1])
        return _index_reduce(a, 0, index, source, reduce, include_self=include_self).reshape([])
    line = [1] * a.dim()
    line[dim] = -1
    places = index.reshape(line).expand(source.shape)
    reduce = "prod" if reduce == "multiply" else reduce
    return aten.scatter_reduce.two(a, dim, places, source, reduce, include_self=include_self)


@decomposes(aten.put.default)
def _put(a: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """``source`` at positions of the flattened tensor."""
    flat = aten.index_put(a.reshape(-1), [index.reshape(-1)], source.reshape(-1), accumulate)
    return flat.reshape(a.shape)


@decomposes(aten.take.default)
def _take(a: Tensor, index: Tensor) -> Tensor:
    """Elements of the flattened tensor; of none, none."""
    if isinstance(count := a.numel(), int) and count == 0:
        return a.new_zeros(index.shape)
    return aten.index.Tensor(a.reshape(-1), [index.reshape(-1)]).reshape(index.shape)


_SEGMENT_REDUCTIONS = {"max": "amax", "min": "amin"}


@decomposes(aten.segment_reduce.default)
def _segment_reduce(
    a: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Number | None = None,
) -> Tensor:
    """Neighbouring slices of a dimension reduced; of an empty mean without an initial value there is none."""
    axis %= a.dim()
    if offsets is not None:
        ends, lengths = offsets[..., 1:], offsets[..., 1:] - offsets[..., :-1]
    elif lengths is not None:
        ends = torch.cumsum(lengths, axis)
    else:
        raise ValueError("segment_reduce takes lengths or offsets")
    line = torch.arange(a.shape[axis]).expand(a.shape[: axis + 1])
    rest = [1] * (a.dim() - axis - 1)
    segments = torch.searchsorted(ends.contiguous(), line, right=True)
    segments = segments.reshape([*segments.shape, *rest]).expand(a.shape)
    named = _SEGMENT_REDUCTIONS.get(reduce, reduce)
    start = _neutral(named, a.dtype) if initial is None else initial
    shape = [*lengths.shape, *a.shape[axis + 1 :]]
    reduced = torch.full(shape, start, dtype=a.dtype)
    summed = "sum" if reduce == "mean" else named
    reduced = aten.scatter_reduce.two(reduced, axis, segments, a, summed)
    if reduce != "mean":
        return reduced
    count = lengths.reshape([*lengths.shape, *rest])
    mean = reduced / torch.clamp(count, min=1)
    return mean if initial is not None else torch.where(count == 0, torch.nan, mean)


# masks: which element of the source a place takes is how many places before it do


def is_mask(index: Tensor | None) -> bool:
    """Whether an index of a tensor says for each place if it is taken; ``uint8`` is how that was once written."""
    return index is not None and index.dtype in (torch.bool, torch.uint8)


def as_mask(index: Any) -> Tensor:
    """The same in booleans."""
    return index if index.dtype is torch.bool else index != 0


def _counted(mask: Tensor) -> Tensor:
    """For each place of a mask, flattened, how many places before it are set."""
    flat = mask.reshape(-1).to(torch.int64)
    return torch.cumsum(flat, 0) - flat


def _in_turn(rows: Tensor, mask: Tensor) -> Tensor:
    """For each place of a mask, flattened, the row that it takes if it is set: the first the first, and so on.

    Other places take any; where there may be no row, there is one more, so that none is read that is not there.
    """
    count = rows.shape[0]
    if isinstance(count, int):
        count -= 1
    else:
        rows = aten.constant_pad_nd(rows, [*[0] * (2 * rows.dim() - 1), 1])
    return aten.index_select(rows, 0, torch.clamp(_counted(mask), max=count))


@decomposes(aten.masked_scatter.default)
def _masked_scatter(a: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """The places of a mask filled from the source in order."""
    a, mask = torch.broadcast_tensors(a, mask)
    if source.numel() == 0:
        return aten.alias(a)
    taken = _in_turn(source.reshape(-1), mask).reshape(a.shape)
    return torch.where(mask, taken, a)


@decomposes(aten.index_put.default)
def _index_put(
    a: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False
) -> Tensor:
    """Positions are core; a mask chooses between what is there and the rows of the values, taken in order."""
    if any(index is not None and index.dtype is torch.uint8 for index in indices):
        indices = [as_mask(index) if is_mask(index) else index for index in indices]
        return aten.index_put(a, indices, values, accumulate)
    if any(isinstance(size, int) and size == 0 for size in values.shape):
        return aten.alias(a)
    place = next(place for place, index in enumerate(indices) if index is not None)
    mask, *others = indices[place:]
    assert mask is not None
    if any(index is not None for index in others):
        return _index_put_beside(a, indices, values, accumulate)
    if mask.dtype is not torch.bool:
        return NotImplemented
    if place:
        return _index_put_behind(a, place, mask, values, accumulate)
    rest = a.shape[mask.dim() :]
    count = values.shape[-1 - len(rest)] if values.dim() > len(rest) else 1
    if isinstance(count, int) and count == 1:
        taken = values.reshape(values.shape[-len(rest) :] if rest else [])
    else:
        taken = _in_turn(values.expand([count, *rest]), mask).reshape(a.shape)
    places = mask.reshape([*mask.shape, *[1] * len(rest)])
    taken = taken.to(a.dtype)
    return torch.where(places, a + taken if accumulate else taken, a)


def _index_put_behind(
    a: Tensor, place: int, mask: Tensor, values: Tensor, accumulate: bool
) -> Tensor:
    """The same by a mask of dimensions that are not the first: those it takes whole come behind it."""
    last = place + mask.dim()
    order = [*range(place, last), *range(place), *range(last, a.dim())]
    back = [order.index(dim) for dim in range(a.dim())]
    rank = a.dim() - mask.dim() + 1  # of what the mask selects, in which it has one dimension
    values = values.reshape([*[1] * (rank - values.dim()), *values.shape])
    rows = values.permute([place, *range(place), *range(place + 1, rank)])
    return aten.index_put(a.permute(order), [mask], rows, accumulate).permute(back)


def _index_put_beside(
    a: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool
) -> Tensor:
    """The same by a mask beside positions: its places are positions too, each with those and the values of its turn.

    Places that are not set write to a row more, which is not kept.
    """
    masks = [index for index in indices if index is not None and index.dtype is torch.bool]
    if len(masks) != 1 or not masks[0].dim():
        return NotImplemented  # positions are core; of two masks, one may have a single place for all of the other
    (mask,) = masks
    spelled = list[Any]()
    for index in indices:
        if index is mask:
            spelled += unraveled(torch.arange(mask.numel(), device=mask.device), mask.shape)
        elif index is None:
            spelled.append(None)
        else:
            spelled.append(_of_turn(index, index.dim() - 1, mask))
    values = _of_turn(values, dimension_of_turns(a, indices, values), mask)
    first = next(axis for axis, index in enumerate(spelled) if index is not None)
    size = a.shape[first]
    place = torch.where(spelled[first] < 0, spelled[first] + size, spelled[first])
    spelled[first] = torch.where(mask.reshape([-1]), place, size)
    larger = aten.constant_pad_nd(a, [*[0] * (2 * (a.dim() - first) - 1), 1])
    return aten.index_put(larger, spelled, values, accumulate).narrow(first, 0, size)


def dimension_of_turns(a: Tensor, indices: Sequence[Tensor | None], values: Tensor) -> int:
    """The dimension of values that has one for each place a mask among indices takes of ``a``; negative without one."""
    axes, axis = list[int](), 0
    for index in indices:
        count = 1 if index is None or not is_mask(index) else index.dim()
        axes += [] if index is None else range(axis, axis + count)
        axis += count
    front = axes[0] if axes[-1] - axes[0] + 1 == len(axes) else 0
    behind = a.dim() - len(axes) - front
    return values.dim() - 1 - behind


def _of_turn(rows: Tensor, dim: int, mask: Tensor) -> Tensor:
    """``rows`` with as many along ``dim`` as a mask has places; a single one, or none, is the same for all."""
    if dim < 0 or isinstance(count := rows.shape[dim], int) and count == 1:
        return rows
    return _in_turn(rows.movedim(dim, 0), mask).movedim(0, dim)


def unraveled(places: Tensor, shape: Sequence[int]) -> list[Tensor]:
    """For each dimension of a shape, where places of it, counted in row-major order, are in it."""
    columns = list[Any]()
    for length in reversed(shape[1:]):
        length = torch.sym_max(length, 1)
        columns.append(torch.remainder(places, length))
        places = torch.div(places, length, rounding_mode="floor")
    return [places, *reversed(columns)]


@decomposes(aten.nonzero_static.default)
def _nonzero_static(a: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """The positions of the first ``size`` nonzero elements, a row each; rows without one are filled."""
    if a.dim() == 0:
        return torch.zeros([size, 0], dtype=torch.int64)
    count = a.numel()
    found = torch.cumsum((a != 0).reshape(-1).to(torch.int64), 0)
    at = torch.searchsorted(found, torch.arange(1, size + 1))
    columns = torch.stack(unraveled(at, a.shape), -1)
    return torch.where((at < count).unsqueeze(-1), columns, fill_value)
