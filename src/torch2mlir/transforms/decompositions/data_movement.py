"""Views, copies, parts and their inverses."""

from __future__ import annotations

from typing import Any

import torch
from torch._decomp import decomposition_table
from torch.fx.experimental.symbolic_shapes import statically_known_true

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten
prims = torch.ops.prims


@decomposes(aten.split_with_sizes.default)
def _split_with_sizes(a: Any, sizes: Any, dim: int = 0) -> Any:
    parts, start = [], 0
    for size in sizes:
        parts.append(aten.slice(a, dim, start, start + size))
        start = start + size
    return parts


@decomposes(aten.split.Tensor)
def _split(a: Any, size: Any, dim: int = 0) -> Any:
    length = a.shape[dim]
    count = max((length + size - 1) // size, 1)
    return [
        aten.slice(a, dim, index * size, min((index + 1) * size, length)) for index in range(count)
    ]


@decomposes(aten._to_copy.default)
def _to_copy(a: Any, *, dtype: Any = None, **_: Any) -> Any:
    return (
        aten.view(a, a.shape) if dtype in (None, a.dtype) else prims.convert_element_type(a, dtype)
    )


@decomposes(aten.squeeze.dim)
def _squeeze_dim(a: Any, dim: int) -> Any:
    return aten.squeeze.dims(a, [dim])


@decomposes(aten.squeeze.default)
def _squeeze(a: Any) -> Any:
    return aten.squeeze.dims(a, [i for i, size in enumerate(a.shape) if size == 1])


@decomposes(aten._unsafe_view.default, aten.reshape.default, aten.view_copy.default)
def _reshape(a: Any, size: Any) -> Any:
    """Contiguity is no concern of a value tensor: a reshape is a view."""
    return aten.view(a.contiguous(), size)


@decomposes(aten.copy.default)
def _copy(a: Any, source: Any, non_blocking: bool = False) -> Any:
    return aten.expand(_to_copy(source, dtype=a.dtype), a.shape)


@decomposes(aten.diagonal.default)
def _diagonal(a: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
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
    if isinstance(length, int) or length is rows:
        end = start + (length - 1) * (columns + 1) + 1
        empty = isinstance(length, int) and length == 0
        return aten.slice(flat, -1, 0 if empty else start, 0 if empty else end, columns + 1)
    places = torch.arange(length, device=a.device) * (columns + 1) + start
    return aten.index_select(flat, -1, places)


@decomposes(aten.as_strided.default)
def _as_strided(a: Any, size: Any, stride: Any, storage_offset: Any = None) -> Any:
    """Elements of the flattened tensor at ``offset + sum(index * stride)``; ``a`` is contiguous."""
    places = torch.full([], storage_offset or 0, dtype=torch.int64, device=a.device)
    for count, step in zip(size, stride, strict=True):
        places = places.unsqueeze(-1) + torch.arange(count, device=a.device) * step
    return aten.index_select(a.reshape(-1), 0, places.reshape(-1)).reshape(size)


@decomposes(aten.slice_scatter.default)
def _slice_scatter(
    a: Any, source: Any, dim: int = 0, start: Any = None, end: Any = None, step: Any = 1
) -> Any:
    """What is before, the source, what is after; steps go PyTorch's way."""
    if step != 1:
        return decomposition_table[aten.slice_scatter.default](a, source, dim, start, end, step)
    size = a.shape[dim]
    start = 0 if start is None else max(start + size, 0) if start < 0 else min(start, size)
    end = start + source.shape[dim]
    before, after = aten.slice(a, dim, 0, start), aten.slice(a, dim, end, size)
    return aten.cat([part for part in (before, source, after) if part.shape[dim] != 0], dim)


@decomposes(aten.select_scatter.default)
def _select_scatter(a: Any, source: Any, dim: int, index: Any) -> Any:
    index = index + a.shape[dim] if index < 0 else index
    return _slice_scatter(a, source.unsqueeze(dim), dim, index, index + 1)
