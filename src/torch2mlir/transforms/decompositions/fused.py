"""Ops that PyTorch keeps for one fused kernel or one call of its own, as the ops they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten


@decomposes(aten._add_relu.Tensor, aten._add_relu.Scalar)
def _add_relu(a: Any, b: Any, *, alpha: Any = 1) -> Any:
    return torch.relu(torch.add(a, b, alpha=alpha))


@decomposes(aten._aminmax.default)
def _aminmax(a: Any) -> Any:
    return torch.amin(a), torch.amax(a)


@decomposes(aten._aminmax.dim)
def _aminmax_dim(a: Any, dim: int, keepdim: bool = False) -> Any:
    return torch.amin(a, dim, keepdim), torch.amax(a, dim, keepdim)


@decomposes(aten._convolution.default)
def _convolution(*args: Any) -> Any:
    return aten.convolution(*args[:9])


@decomposes(aten.conv_tbc.default)
def _conv_tbc(x: Any, weight: Any, bias: Any, pad: int = 0) -> Any:
    """``x`` is ``[time, batch, channels]``, ``weight`` ``[width, in, out]``."""
    out = torch.conv1d(x.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad)
    return out.permute(2, 0, 1)


@decomposes(aten._int_mm.default)
def _int_mm(a: Any, b: Any) -> Any:
    return aten.mm(a.to(torch.int32), b.to(torch.int32))


@decomposes(aten.mm.dtype)
def _mm_in(a: Any, b: Any, dtype: Any) -> Any:
    return aten.mm(a.to(dtype), b.to(dtype))


@decomposes(aten.bmm.dtype)
def _bmm_in(a: Any, b: Any, dtype: Any) -> Any:
    return aten.bmm(a.to(dtype), b.to(dtype))


@decomposes(aten._masked_scale.default)
def _masked_scale(a: Any, mask: Any, scale: float) -> Any:
    return a * mask * scale


@decomposes(aten._stack.default)
def _stack(tensors: Sequence[Tensor], dim: int = 0) -> Any:
    return torch.stack(list(tensors), dim)


@decomposes(aten._index_put_impl.default)
def _index_put_impl(a: Any, indices: Any, values: Any, accumulate: bool = False, *_: Any) -> Any:
    return aten.index_put(a, indices, values, accumulate)
