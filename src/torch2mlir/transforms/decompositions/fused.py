"""Ops that PyTorch keeps for one fused kernel or one call of its own, as the ops they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.types import Number

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten


@decomposes(aten._add_relu.Tensor, aten._add_relu.Scalar)
def _add_relu(a: Tensor, b: Any, *, alpha: Number = 1) -> Tensor:
    return torch.relu(torch.add(a, b, alpha=alpha))


@decomposes(aten._aminmax.default)
def _aminmax(a: Tensor) -> tuple[Tensor, Tensor]:
    return torch.amin(a), torch.amax(a)


@decomposes(aten._aminmax.dim)
def _aminmax_dim(a: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    return torch.amin(a, dim, keepdim), torch.amax(a, dim, keepdim)


@decomposes(aten._convolution.default)
def _convolution(*args: Any) -> Tensor:
    return aten.convolution(*args[:9])


@decomposes(aten.conv_tbc.default)
def _conv_tbc(x: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """``x`` is ``[time, batch, channels]``, ``weight`` ``[width, in, out]``."""
    out = torch.conv1d(x.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad)
    return out.permute(2, 0, 1)


@decomposes(aten._int_mm.default)
def _int_mm(a: Tensor, b: Tensor) -> Tensor:
    return aten.mm(a.to(torch.int32), b.to(torch.int32))


@decomposes(aten.mm.dtype)
def _mm_in(a: Tensor, b: Tensor, dtype: torch.dtype) -> Tensor:
    return aten.mm(a.to(dtype), b.to(dtype))


@decomposes(aten.bmm.dtype)
def _bmm_in(a: Tensor, b: Tensor, dtype: torch.dtype) -> Tensor:
    return aten.bmm(a.to(dtype), b.to(dtype))


@decomposes(aten._masked_scale.default)
def _masked_scale(a: Tensor, mask: Tensor, scale: float) -> Tensor:
    return a * mask * scale


@decomposes(aten._stack.default)
def _stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    return torch.stack(list(tensors), dim)


@decomposes(aten._index_put_impl.default)
def _index_put_impl(
    a: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: bool = False,
    *_: object,
) -> Tensor:
    return aten.index_put(a, indices, values, accumulate)
