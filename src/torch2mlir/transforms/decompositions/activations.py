"""Activations and paddings whose gradients PyTorch leaves to kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.types import Number

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten


@decomposes(aten.hardshrink_backward.default, aten.softshrink_backward.default)
def _shrink_backward(grad: Tensor, x: Tensor, lambd: Number) -> Tensor:
    """Nothing flows back where the input lies within ``lambd``."""
    return torch.where((x >= -lambd) & (x <= lambd), 0.0, grad).to(grad.dtype)


@decomposes(aten.threshold_backward.default, gives_dtype=True)
def _threshold_backward(grad: Tensor, x: Tensor, threshold: Number) -> Tensor:
    """Nothing flows back where the input is not above the threshold; the types of both decide that of the result."""
    dtype = torch.result_type(grad, x)
    return torch.where(x <= threshold, 0, grad).to(dtype)


@decomposes(
    aten.replication_pad1d_backward.default,
    aten.replication_pad2d_backward.default,
    aten.replication_pad3d_backward.default,
)
def _replication_pad_backward(grad: Tensor, x: Tensor, padding: Sequence[Any]) -> Tensor:
    """Every copy of an edge flows back to it."""
    for axis in range(len(padding) // 2):
        dim = x.dim() - 1 - axis
        places = torch.arange(grad.shape[dim]) - padding[2 * axis]
        sizes = [*grad.shape[:dim], x.shape[dim], *grad.shape[dim + 1 :]]
        target = places.clamp(min=0, max=x.shape[dim] - 1)
        grad = grad.new_zeros(sizes).index_add(dim, target, grad)
    return grad
