"""Views, copies, parts and their inverses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

import torch
from torch import Tensor
from torch._decomp import decomposition_table
from torch.fx.experimental.symbolic_shapes import statically_known_true

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten
prims = torch.ops.prims
MOST_SHIFTED = 32
"""Windows that overlap more than so many others are added up by their places."""


@decomposes(aten.split_with_sizes.default)
def _split_with_sizes(a: Tensor, sizes: Sequence[int], dim: int = 0) -> Sequence[Tensor]:
    parts, start = [], 0
    for size in sizes:
        parts.append(aten.slice(a, dim, start, start + size))
        start = start + size
    return parts


@decomposes(aten.split.Tensor)
def _split(a: Tensor, size: int, dim: int = 0) -> Sequence[Tensor]:
    length = a.shape[dim]
    count = max((length + size - 1) // size, 1)
    return [
        aten.slice(a, dim, index * size, min((index + 1) * size, length)) for index in range(count)
    ]


@decomposes(aten.pad_sequence.default)
def _pad_sequence(
    sequences: Sequence[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """PyTorch's own asks which of the lengths is the largest, and in which order each pair is."""
    if padding_side not in ("left", "right"):
        return NotImplemented
    longest: Any = reduce(torch.sym_max, [each.shape[0] for each in sequences])
    padded = list[Tensor]()
    for each in sequences:
        missing = each.new_full([longest - each.shape[0], *each.shape[1:]], padding_value)
        parts = [each, missing] if padding_side == "right" else [missing, each]
        padded.append(torch.cat(parts) if longest is not each.shape[0] else each)
    return torch.stack(padded, 0 if batch_first else 1)


@decomposes(aten._to_copy.default)
def _to_copy(a: Tensor, *, dtype: torch.dtype | None = None, **_: object) -> Tensor:
    return (
        aten.view(a, a.shape) if dtype in (None, a.dtype) else prims.convert_element_type(a, dtype)
    )


@decomposes(aten.squeeze.dim)
def _squeeze_dim(a: Tensor, dim: int) -> Tensor:
    return aten.squeeze.dims(a, [dim] if a.dim() and a.shape[dim] == 1 else [])


@decomposes(aten.squeeze.default)
def _squeeze(a: Tensor) -> Tensor:
    return aten.squeeze.dims(a, [i for i, size in enumerate(a.shape) if size == 1])


@decomposes(aten._unsafe_view.default, aten.reshape.default, aten.view_copy.default)
def _reshape(a: Tensor, size: Sequence[int]) -> Tensor:
    """Contiguity is no concern of a value tensor: a reshape is a view."""
    return aten.view(a.contiguous(), size)


@decomposes(aten.copy.default)
def _copy(a: Tensor, source: Tensor, non_blocking: bool = False) -> Tensor:
    return aten.expand(_to_copy(source, dtype=a.dtype), a.shape)


@decomposes(aten.diagonal.default)
def _diagonal(a: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Every ``columns + 1``-th element of the flattened matrix."""
    dim1, dim2 = dim1 % a.dim(), dim2 % a.dim()
    outer = [d for d in range(a.dim()) if d not in (dim1, dim2)]
    rows, columns = a.shape[dim1], a.shape[dim2]
    start = offset if offset >= 0 else -offset * columns
    flat = aten.permute(a, [*outer, dim1, dim2]).flatten(-2)
    if statically_known_true(rows == columns) and offset == 0:
        length = rows
    else:
        length = torch.sym_min(rows + min(offset, 0), columns - max(offset, 0))
        length = length if offset == 0 else torch.sym_max(length, 0)
        for side in (rows + min(offset, 0), columns - max(offset, 0)):
            if isinstance(side, int) and side == 1 and statically_known_true(length == 1):
                length = 1
    if isinstance(columns, int) and (isinstance(length, int) or length is rows):
        end = start + (length - 1) * (columns + 1) + 1
        empty = isinstance(length, int) and length == 0
        return aten.slice(flat, -1, 0 if empty else start, 0 if empty else end, columns + 1)
    if isinstance(length, int):
        # a slice of so many rows and columns tells calls apart in which a size is smaller than capture took it for
        square = aten.permute(a, [*outer, dim1, dim2])
        for dim, first in ((-2, max(-offset, 0)), (-1, max(offset, 0))):
            square = aten.slice(square, dim, first, first + length)
        flat, start, columns = square.flatten(-2), 0, length
    places = torch.arange(length, device=a.device) * (columns + 1) + start
    return aten.index_select(flat, -1, places)


@decomposes(aten.diagonal_scatter.default)
def _diagonal_scatter(
    a: Tensor, source: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """A choice between the tensor and the source, which is repeated across the diagonal."""
    source = source.to(a.dtype)
    matrix = a.movedim([dim1, dim2], [-2, -1])
    rows, columns = matrix.shape[-2:]
    on = torch.arange(columns) - torch.arange(rows).unsqueeze(1) == offset
    missing = (rows if offset >= 0 else columns) - source.shape[-1]
    line = (
        source
        if isinstance(missing, int) and missing == 0
        else aten.constant_pad_nd(source, [0, missing])
    )
    spread = line.unsqueeze(-1 if offset >= 0 else -2)
    return torch.where(on, spread, matrix).movedim([-2, -1], [dim1, dim2])


def _strided_places(size: Sequence[int], stride: Sequence[int], offset: int | None) -> Tensor:
    """``offset + sum(index * stride)``, in row-major order."""
    places = torch.full([], offset or 0, dtype=torch.int64)
    for count, step in zip(size, stride, strict=True):
        places = places.unsqueeze(-1) + torch.arange(count) * step
    return places.reshape(-1)


@decomposes(aten.as_strided.default)
def _as_strided(
    a: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """Elements of the flattened tensor; ``a`` is contiguous."""
    places = _strided_places(size, stride, storage_offset)
    return aten.index_select(a.reshape(-1), 0, places).reshape(size)


@decomposes(aten.as_strided_scatter.default, prims.as_strided_scatter.default)
def _as_strided_scatter(
    a: Tensor,
    source: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: Any = None,
) -> Tensor:
    """The flattened tensor with the source's elements at strided places; ``a`` is contiguous."""
    places = _strided_places(size, stride, storage_offset)
    values = source.to(a.dtype).reshape(-1)
    return aten.index_put(a.reshape(-1), [places], values).reshape(a.shape)


@decomposes(aten.narrow.Tensor)
def _narrow_from_element(a: Tensor, dim: int, start: Tensor, length: int) -> Tensor:
    """``length`` places of a dimension from one that a rank-0 tensor says; counted from the end if it is negative."""
    start = torch.where(start < 0, start + a.shape[dim], start)
    return aten.index_select(a, dim, torch.arange(length, device=a.device) + start)


@decomposes(aten.resize.default)
def _resize(a: Tensor, size: Sequence[int], **_: object) -> Tensor:
    """The first elements in row-major order; elements that are not there may be anything, here zeros."""
    flat, count = a.reshape(-1), math.prod(size)
    have = flat.shape[0]
    if not (isinstance(count, int) and isinstance(have, int) and count <= have):
        flat = aten.constant_pad_nd(flat, [0, torch.sym_max(count - have, 0)])
    return aten.slice(flat, 0, 0, count).reshape(size)


@decomposes(aten.slice_scatter.default)
def _slice_scatter(
    a: Tensor,
    source: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """What is before, the source, what is after; with a step, what is between stands beside each of its elements."""
    size, dim, source = a.shape[dim], dim % a.dim(), source.to(a.dtype)
    start = 0 if start is None else max(start + size, 0) if start < 0 else min(start, size)
    count = source.shape[dim]
    if step != 1 and not all(isinstance(number, int) for number in (size, start, count)):
        return decomposition_table[aten.slice_scatter.default](a, source, dim, start, end, step)
    middle = source if step == 1 or count == 0 else _interleaved(a, source, dim, start, step)
    end = start + middle.shape[dim]
    before, after = aten.slice(a, dim, 0, start), aten.slice(a, dim, end, size)
    sizes = ((part, part.shape[dim]) for part in (before, middle, after))
    parts = [part for part, size in sizes if not (isinstance(size, int) and size == 0)]
    return aten.cat(parts, dim) if parts else source


def _interleaved(a: Tensor, source: Tensor, dim: int, start: int, step: int) -> Tensor:
    """The elements of ``a`` from ``start`` to the source's last, every ``step``-th of them the source's."""
    count = source.shape[dim]
    span = (count - 1) * step + 1
    old = aten.slice(a, dim, start, start + span)
    old = aten.constant_pad_nd(old, [0, 0] * (a.dim() - 1 - dim) + [0, step - 1])
    rows = old.unflatten(dim, [count, step])
    kept = aten.slice(rows, dim + 1, 1, step)
    joined = aten.cat([source.unsqueeze(dim + 1), kept], dim + 1).flatten(dim, dim + 1)
    return aten.slice(joined, dim, 0, span)


@decomposes(aten.slice_backward.default)
def _slice_backward(
    grad: Tensor, input_sizes: Sequence[int], dim: int, start: int, end: int, step: int
) -> Tensor:
    """Zeros where nothing was taken: between the elements, before and after."""
    dim = dim % grad.dim()
    count, size, behind = grad.shape[dim], input_sizes[dim], 2 * (grad.dim() - 1 - dim)
    if isinstance(count, int) and count == 0:
        return grad.new_zeros(input_sizes)
    start = max(start + size, 0) if start < 0 else min(start, size)
    if step > 1:
        apart = aten.constant_pad_nd(
            grad.unsqueeze(dim + 1), [0, 0] * (behind // 2) + [0, step - 1]
        )
        grad = aten.slice(apart.flatten(dim, dim + 1), dim, 0, (count - 1) * step + 1)
    after = size - start - grad.shape[dim]
    return aten.constant_pad_nd(grad, [0] * behind + [start, after])


@decomposes(aten.select_scatter.default)
def _select_scatter(a: Tensor, source: Tensor, dim: int, index: int) -> Tensor:
    """A choice at one place of a dimension."""
    index = index + a.shape[dim] if index < 0 else index
    line = [1] * a.dim()
    line[dim] = a.shape[dim]
    row = source.to(a.dtype).unsqueeze(dim)
    return torch.where(torch.arange(a.shape[dim]).reshape(line) == index, row, a)


@decomposes(aten.unfold.default)
def _unfold(a: Tensor, dim: int, size: int, step: int) -> Tensor:
    """Windows along a dimension, their elements in a last one."""
    if a.dim() == 0:
        return a.reshape([1])[:size]
    count, dim = (a.shape[dim] - size) // step + 1, dim % a.dim()
    places = torch.arange(count).unsqueeze(1) * step + torch.arange(size)
    windows = aten.index_select(a, dim, places.reshape(-1))
    shape = [*a.shape[:dim], count, size, *a.shape[dim + 1 :]]
    return windows.reshape(shape).movedim(dim + 1, -1)


@decomposes(aten.unfold_backward.default)
def _unfold_backward(
    grad: Tensor, input_sizes: Sequence[int], dim: int, size: int, step: int
) -> Tensor:
    """Windows added up where they overlap, as ``istft`` does: cut into steps, of which each is a line of its own.

    The later steps of the windows come first, so that what an element is the sum of is added in PyTorch's order.
    """
    pytorch = decomposition_table[aten.unfold_backward.default]
    overlap = -(-size // step)
    if not input_sizes or overlap > MOST_SHIFTED:
        return pytorch(grad, input_sizes, dim, size, step)
    dim = dim % len(input_sizes)
    count = (input_sizes[dim] - size) // step + 1
    if grad.dim() != len(input_sizes) + 1 or not statically_known_true(grad.shape[dim] == count):
        return pytorch(grad, input_sizes, dim, size, step)
    windows = [*input_sizes[:dim], count, *input_sizes[dim + 1 :], size]
    grad = grad.expand(windows).movedim(-1, dim + 1)
    behind = [0, 0] * (len(input_sizes) - 1 - dim)
    grad = aten.constant_pad_nd(grad, [*behind, 0, overlap * step - size])
    lines = grad.unflatten(dim + 1, [overlap, step])
    shifted = [
        aten.constant_pad_nd(lines.select(dim + 1, place), [*behind, 0, 0, place, overlap - place])
        for place in reversed(range(overlap))
    ]
    total = shifted[0] if overlap == 1 else sum(shifted, torch.zeros_like(shifted[0]))
    return aten.slice(total.flatten(dim, dim + 1), dim, 0, input_sizes[dim])
