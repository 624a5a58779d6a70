"""Embeddings: rows held to a norm, and bags of rows reduced to one each, with the gradients of these."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten

SUM, MEAN, MAX = range(3)
"""Modes of a bag as the op numbers them."""


@decomposes(aten.embedding_renorm.default)
def _embedding_renorm(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """Rows that are looked up and are longer than ``max_norm`` are made that long."""
    norm = torch.linalg.vector_norm(weight, norm_type, 1, keepdim=True)
    used = weight.new_zeros(weight.shape[0], dtype=torch.bool).scatter(0, indices.reshape(-1), True)
    long = used.unsqueeze(1) & (norm > max_norm)
    return torch.where(long, weight * (max_norm / (norm + 1e-7)), weight)


def _bags(offsets: Tensor, count: int, include_last_offset: bool) -> tuple[Any, Any]:
    """The bag of each of ``count`` indices, and where bags start: how many of these come up to it, less one.

    Bags that start at each place are counted and summed up: each index compared with each start would be their product.
    """
    starts = offsets[:-1] if include_last_offset else offsets
    places = starts.clamp(max=count).to(
        torch.int64
    )  # empty bags at the end start after the last index
    begun = places.new_zeros(count + 1).scatter_add(0, places, torch.ones_like(places))
    return torch.cumsum(begun[:count], 0) - 1, starts


@decomposes(aten._embedding_bag.default)
def _embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = SUM,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The reduced bags, and what the backward pass wants to know of them; in the shapes of PyTorch's kernel.

    In the mode of sums nothing of it is needed: the sizes are zeros, and the bag of each index is left out where the
    kernel has a fast way. https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/EmbeddingBag.cpp
    """
    result, bag, sizes, places = _reduced_bags(
        weight, indices, offsets, mode, per_sample_weights, include_last_offset, padding_idx
    )
    if mode == SUM:
        if _has_fast_way(weight, padding_idx):
            bag = bag.new_zeros([0])
        sizes = places = torch.zeros_like(sizes)
    return result, bag, sizes, places


def _has_fast_way(weight: Tensor, padding_idx: int) -> bool:
    """Whether PyTorch's kernel has code of its own for sums and means."""
    return weight.dtype in (torch.float32, torch.float16, torch.bfloat16) and padding_idx < 0


@decomposes(aten._embedding_bag_forward_only.default)
def _embedding_bag_forward_only(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = SUM,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The same without a backward pass: sums have a size for each offset, the last one too."""
    result, bag, sizes, places = _embedding_bag(
        weight,
        indices,
        offsets,
        scale_grad_by_freq,
        mode,
        sparse,
        per_sample_weights,
        include_last_offset,
        padding_idx,
    )
    if mode == SUM:
        sizes = places = torch.zeros_like(offsets)
    return result, bag, sizes, places


def _reduced_bags(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    mode: int,
    per_sample_weights: Any,
    include_last_offset: bool,
    padding_idx: int,
) -> Any:
    """The sum, mean or maximum of each bag's rows, those at ``padding_idx`` left out; zeros for an empty bag.

    Also the bag of each index, the sizes of bags and, in the mode of maxima, the rows these come from.
    """
    bag, starts = _bags(offsets, indices.shape[0], include_last_offset)
    count = starts.shape[0]
    counted = indices != padding_idx
    sizes = torch.zeros_like(starts).scatter_add(0, bag, counted.to(starts.dtype))
    rows = weight.index_select(0, indices)
    columns = bag.unsqueeze(1).expand_as(rows)
    if mode == MAX:
        result, places = _maxima(rows, torch.where(counted, bag, count), count, indices)
        return result, bag, sizes, places
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    if include_last_offset and _has_fast_way(weight, padding_idx):
        # the fast way sums up to the last offset, the slow one to the last index; bags are as large in both
        counted = torch.arange(indices.shape[0]) < offsets[-1]
    rows = torch.where(counted.unsqueeze(1), rows, 0.0).to(weight.dtype)
    total = weight.new_zeros(count, weight.shape[1]).scatter_add(0, columns, rows)
    if mode == MEAN:
        total = total / sizes.clamp(min=1).unsqueeze(1).to(weight.dtype)
    return total, bag, sizes, sizes


def _maxima(rows: Tensor, bag: Tensor, count: int, indices: Tensor) -> tuple[Any, Any]:
    """The maximum of each bag and column, and the index it comes from; what is in no bag goes to one more."""
    columns = bag.unsqueeze(1).expand_as(rows)
    zeros = rows.new_zeros(count + 1, rows.shape[1])
    result = zeros.scatter_reduce(0, columns, rows, "amax", include_self=False)
    places = torch.arange(rows.shape[0]).unsqueeze(1)
    hit = torch.where(rows == result.gather(0, columns), places, rows.shape[0] - 1)
    none = zeros.to(torch.int64)
    first = none.scatter_reduce(0, columns, hit, "amin", include_self=False)[:count]
    return result[:count], indices.index_select(0, first.reshape(-1)).reshape(first.shape)


@decomposes(aten._embedding_bag_backward.default)
def _embedding_bag_backward(
    grad: Tensor,
    indices: Tensor,
    offsets: Tensor,
    offset2bag: Tensor,
    bag_size: Tensor,
    maximum_indices: Tensor,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor | None,
    padding_idx: int = -1,
) -> Tensor:
    """The dense gradient: a compiled program has no sparse tensors."""
    bag, _ = _bags(offsets, indices.shape[0], False)
    bag = bag.clamp(max=bag_size.shape[0] - 1)
    return _embedding_bag_dense_backward(
        grad,
        indices,
        bag,
        bag_size,
        maximum_indices,
        num_weights,
        scale_grad_by_freq,
        mode,
        per_sample_weights,
        padding_idx,
    )


@decomposes(aten._embedding_bag_dense_backward.default)
def _embedding_bag_dense_backward(
    grad: Tensor,
    indices: Tensor,
    offset2bag: Tensor,
    bag_size: Tensor,
    maximum_indices: Tensor,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    per_sample_weights: Tensor | None,
    padding_idx: int = -1,
) -> Tensor:
    """What flows back to a bag goes to its rows; of a maximum to the row it came from."""
    zeros = grad.new_zeros(num_weights, grad.shape[1])
    if mode == MAX:
        filled = torch.where((bag_size > 0).unsqueeze(1), grad, 0.0)
        return zeros.scatter_add(0, maximum_indices, filled)
    if mode == MEAN:
        grad = grad / bag_size.clamp(min=1).unsqueeze(1).to(grad.dtype)
    rows = grad.index_select(0, offset2bag)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    if scale_grad_by_freq:
        times = _divisors(indices, num_weights).index_select(0, indices)
        rows = rows / times.unsqueeze(1).to(rows.dtype)
    rows = torch.where((indices != padding_idx).unsqueeze(1), rows, 0.0)
    return zeros.index_add(0, indices, rows)


def _divisors(indices: Tensor, count: int) -> Tensor:
    """What the kernel divides the gradients of each of ``count`` rows by, if they are to be scaled by frequency.

    Not how often the row itself is looked up: of the nth row that is, how often that of the nth sorted index is.
    https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/EmbeddingBag.cpp
    """
    times = indices.new_zeros(count).scatter_add(0, indices, torch.ones_like(indices))
    place = torch.cumsum((times > 0).to(torch.int64), 0) - 1
    return times.index_select(0, torch.searchsorted(torch.cumsum(times, 0), place, right=True))


@decomposes(aten._embedding_bag_per_sample_weights_backward.default)
def _embedding_bag_per_sample_weights_backward(
    grad: Tensor,
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    offset2bag: Tensor,
    mode: int,
    padding_idx: int = -1,
) -> Tensor:
    """Of each row, its product with what flows back to its bag."""
    bag, _ = _bags(offsets, indices.shape[0], False)
    bag = bag.clamp(max=grad.shape[0] - 1)
    products = (grad.index_select(0, bag) * weight.index_select(0, indices)).sum(1)
    return torch.where(indices != padding_idx, products, 0.0)
