"""Results whose size depends on elements: all of them by ``repeat_interleave`` of a single count.

That one, a row of zeros as long as an element of a tensor says, is core: where it is computed, the size becomes known
to the program, and everything after it is of that size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from torch2mlir.transforms.decompositions.registry import decomposes
from torch2mlir.transforms.decompositions.scatter import as_mask, is_mask, unraveled

aten = torch.ops.aten


def _zeros(count: Tensor) -> Tensor:
    """``count`` zeros, i64; the count is a rank-0 tensor."""
    return aten.repeat_interleave.Tensor(count.to(torch.int64).reshape([1]))


@decomposes(aten.repeat_interleave.Tensor)
def _repeat_interleave(repeats: Tensor, *, output_size: int | None = None) -> Tensor:
    """Position ``i`` as often as ``repeats[i]`` says.

    A running sum of ones that stand where a position's block ends: every block moves those behind it one up. Counts
    below zero, or that do not give the size asked for, are told after the run: until then no place is outside.
    """
    if repeats.dtype != torch.int64:  # the places have the dtype of the counts
        places = aten.repeat_interleave.Tensor(repeats.to(torch.int64), output_size=output_size)
        return places.to(repeats.dtype)
    if isinstance(repeats.shape[0], int) and repeats.shape[0] == 1:
        return NotImplemented
    repeats = torch.clamp_min(repeats, 0)
    ends = repeats.cumsum(0)
    if output_size is None:
        places = _zeros(repeats.sum())
    else:
        places = repeats.new_zeros([output_size], dtype=torch.int64)
        ends = torch.clamp_max(ends, output_size)
    # blocks that end at the very end move nothing: one more place takes their marks
    marks = aten.constant_pad_nd(places, [0, 1]).index_add(0, ends, torch.ones_like(ends))
    return marks.cumsum(0).narrow(0, 0, places.shape[0])


def _places(mask: Tensor) -> Tensor:
    """Where a rank-1 tensor is true, in order."""
    if isinstance(mask.shape[0], int) and mask.shape[0] == 0:
        return mask.new_zeros([0], dtype=torch.int64)
    return aten.repeat_interleave.Tensor(mask.to(torch.int64))


def _flat(a: Tensor) -> Tensor:
    return a.reshape([a.numel()])


@decomposes(aten.nonzero.default)
def _nonzero(a: Tensor) -> Tensor:
    """``[n, rank]``: the indices of the elements that are not zero, in row-major order."""
    if a.dim() == 0:
        return _places(_flat(a) != 0).reshape([-1, 1])[:, :0]
    return torch.stack(_indices(a), 1)


@decomposes(aten.nonzero_numpy.default)
def _nonzero_numpy(a: Tensor) -> Sequence[Tensor]:
    """The same, one tensor a dimension."""
    return _indices(a if a.dim() else a.reshape([1]))


def _indices(a: Any) -> list[Any]:
    """The indices of the elements that are not zero, one tensor a dimension."""
    return unraveled(_places(_flat(a) != 0), a.shape)


@decomposes(aten.masked_select.default)
def _masked_select(a: Tensor, mask: Tensor) -> Tensor:
    """The elements where the mask is true, in row-major order."""
    a, mask = torch.broadcast_tensors(a, mask)
    return _flat(a).index_select(0, _places(_flat(mask)))


@decomposes(aten.index.Tensor)
def _index(a: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """Masks among the indices are the indices of their true elements."""
    if not any(is_mask(index) for index in indices):
        return NotImplemented
    spelled = list[Any]()
    for index in indices:
        spelled += _indices(as_mask(index)) if is_mask(index) else [index]
    return aten.index(a, spelled)


@decomposes(aten.tensor_split.tensor_indices_or_sections)
def _tensor_split(a: Tensor, places: Tensor, dim: int = 0) -> Sequence[Tensor]:
    """The parts of a dimension between the places that a tensor lists; counted from the end if they are negative."""
    if places.dim() != 1:
        return NotImplemented  # a number of parts
    size = a.shape[dim]
    positions = torch.arange(size, device=a.device)
    places = torch.where(places < 0, places + size, places)
    parts, start = list[Any](), None
    for index in range(places.shape[0] + 1):
        within = positions >= 0 if start is None else positions >= start
        if index < places.shape[0]:
            start = places[index]
            within = within & (positions < start)
        parts.append(a.index_select(dim, _places(within)))
    return parts


@decomposes(aten.bincount.default)
def _bincount(a: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each number occurs, or the sum of its weights; up to the largest number."""
    if isinstance(a.numel(), int) and a.numel() == 0:
        return a.new_zeros([minlength], dtype=torch.int64)
    a = a.to(torch.int64)  # bytes would be a mask
    bins = _zeros(torch.clamp_min(a.amax() + 1, minlength))
    if weights is None:
        return bins.index_add(0, a, torch.ones_like(a, dtype=torch.int64))
    dtype = weights.dtype if weights.dtype == torch.float32 else torch.float64
    return bins.to(dtype).index_add(0, a, weights.to(dtype))


@decomposes(aten._unique2.default)
def _unique2(
    a: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """The distinct elements in order, for each element where it is among them, and how often each occurs.

    NaN is unlike everything, itself too.
    """
    ordered, order = aten.sort.stable(_flat(a), stable=True)
    values, groups, counts = _runs(ordered)
    inverse = aten.scatter(torch.zeros_like(order), 0, order, groups).reshape(a.shape)
    return values, _asked(return_inverse, inverse), _asked(return_counts, counts)


@decomposes(aten.unique_consecutive.default)
def _unique_consecutive(
    a: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """The first of each run of equal elements, the run of each element, and the runs' lengths."""
    if dim is not None:
        return _runs(a, dim)
    values, groups, counts = _runs(_flat(a))
    groups = groups.reshape(a.shape)
    return values, _asked(return_inverse, groups), _asked(return_counts, counts)


@decomposes(aten.unique_dim.default)
def _unique_dim(
    a: Tensor,
    dim: int,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """The distinct slices along a dimension, in lexicographic order."""
    rows = aten.movedim(a, dim, 0).flatten(1) if a.dim() > 1 else a.reshape([a.shape[0], 1])
    order = torch.arange(a.shape[dim], device=a.device)
    for column in range(rows.shape[1] - 1, -1, -1):  # the first column decides last
        key = rows[:, column].index_select(0, order)
        order = order.index_select(0, aten.sort.stable(key, stable=True)[1])
    values, groups, counts = _runs(a.index_select(dim, order), dim)
    return values, aten.scatter(torch.zeros_like(order), 0, order, groups), counts


def _asked(wanted: bool, result: Tensor) -> Tensor:
    """A result, or nothing in its place, as PyTorch gives it."""
    return result if wanted else result.new_zeros([0])


def _runs(a: Tensor, dim: int = 0) -> tuple[Any, Any, Any]:
    """The first slice of each run of equal ones, the run of each slice, and the lengths of the runs."""
    if isinstance(a.shape[dim], int) and a.shape[dim] == 0:
        nothing = a.new_zeros([0], dtype=torch.int64)
        return a, nothing, nothing
    positions = torch.arange(a.shape[dim], device=a.device)
    differs = a != a.index_select(dim, torch.clamp_min(positions - 1, 0))
    others = [d for d in range(a.dim()) if d != dim % a.dim()]
    changes = differs.any(others) if others else differs
    starts = changes | (positions == 0)
    groups = starts.to(torch.int64).cumsum(0) - 1
    places = _places(starts)
    counts = torch.zeros_like(places).index_add(0, groups, torch.ones_like(groups))
    return a.index_select(dim, places), groups, counts
