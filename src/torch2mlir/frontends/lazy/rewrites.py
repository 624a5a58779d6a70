"""Calls the ``lazy`` device has no graph node for (or a wrong one), in calls it has: the graph stays whole.

Whatever is not here PyTorch runs on the CPU at once, which ends the graph and is counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import torch
from torch._ops import OpOverload

aten = torch.ops.aten


def _lerp(start: torch.Tensor, end: torch.Tensor, weight: float) -> torch.Tensor:
    """Linear interpolation from the nearer end, as PyTorch's kernel: exact at both (Adam's first moment)."""
    if abs(weight) < 0.5:
        return start + weight * (end - start)
    return end - (end - start) * (1 - weight)


def _parts(tensor: torch.Tensor, sizes: Sequence[int], dim: int) -> list[torch.Tensor]:
    """Consecutive parts of these sizes."""
    starts = accumulate(sizes, initial=0)
    return [
        aten.slice_copy.Tensor(tensor, dim, start, start + size)
        for start, size in zip(starts, sizes)
    ]


def _split(tensor: torch.Tensor, size: int, dim: int = 0) -> list[torch.Tensor]:
    """Parts of equal size, the last one what is left."""
    length = tensor.shape[dim]
    count = max(1, -(-length // size)) if size else 1
    return _parts(tensor, [min(size, length - i * size) for i in range(count)], dim)


def _split_with_sizes(
    tensor: torch.Tensor, sizes: Sequence[int], dim: int = 0
) -> list[torch.Tensor]:
    return _parts(tensor, sizes, dim)


def _unbind(tensor: torch.Tensor, dim: int = 0) -> list[torch.Tensor]:
    """The slices along a dimension, without it."""
    return [
        aten.squeeze_copy.dim(part, dim) for part in _parts(tensor, [1] * tensor.shape[dim], dim)
    ]


def _pixel_shuffle(tensor: torch.Tensor, factor: int) -> torch.Tensor:
    """Channels to pixels; the device's own way gives memory nobody has written."""
    *batch, channels, height, width = tensor.shape
    k, left = len(batch), channels // factor**2
    parts = aten.view_copy.default(tensor, [*batch, left, factor, factor, height, width])
    order = [*range(k), k, k + 3, k + 1, k + 4, k + 2]
    moved = aten.clone.default(aten.permute_copy.default(parts, order))
    return aten.view_copy.default(moved, [*batch, left, height * factor, width * factor])


def _vector_norm(
    tensor: torch.Tensor,
    ord: float = 2,
    dim: Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """The norm over dimensions, all if none are given (clipping of gradients)."""
    dims = list(range(tensor.dim())) if dim is None else list(dim)
    size = tensor.abs()
    if dtype is not None:
        size = size.to(dtype)
    if math.isinf(ord):
        return (aten.amax if ord > 0 else aten.amin).default(size, dims, keepdim)
    if ord == 0:
        return (size != 0).sum(dims, keepdim).to(size.dtype)
    if ord == 1:
        return size.sum(dims, keepdim)
    if ord == 2:
        return (size * size).sum(dims, keepdim).sqrt()
    return size.pow(ord).sum(dims, keepdim).pow(1 / ord)


REWRITES: dict[OpOverload, Callable[..., Any]] = {
    aten.lerp.Scalar: _lerp,
    aten.linalg_vector_norm.default: _vector_norm,
    aten.pixel_shuffle.default: _pixel_shuffle,
    aten.split_copy.Tensor: _split,
    aten.split_with_sizes_copy.default: _split_with_sizes,
    aten.unbind_copy.int: _unbind,
    aten.unsafe_split.Tensor: _split,
    aten.unsafe_split_with_sizes.default: _split_with_sizes,
}
