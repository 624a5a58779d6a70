"""Reductions in their full forms."""

from __future__ import annotations

import torch
from torch import Tensor

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten


@decomposes(aten.any.default, aten.any.dim)
def _any(a: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    return aten.any.dims(a, list(range(a.dim())) if dim is None else [dim], keepdim)


@decomposes(aten.all.default, aten.all.dim)
def _all(a: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    return aten.all.dims(a, list(range(a.dim())) if dim is None else [dim], keepdim)


decomposes(aten._is_any_true.default)(aten.any)
decomposes(aten._is_all_true.default)(aten.all)


@decomposes(aten.sum.default)
def _sum_all(a: Tensor, *, dtype: torch.dtype | None = None) -> Tensor:
    return aten.sum.dim_IntList(a, list(range(a.dim())), False, dtype=dtype)


@decomposes(aten.mean.default)
def _mean_all(a: Tensor, *, dtype: torch.dtype | None = None) -> Tensor:
    return aten.mean.dim(a, list(range(a.dim())), False, dtype=dtype)


@decomposes(aten.max.default)
def _max(a: Tensor) -> Tensor:
    return aten.amax(a, list(range(a.dim())))


@decomposes(aten.min.default)
def _min(a: Tensor) -> Tensor:
    return aten.amin(a, list(range(a.dim())))
