"""Reductions in their full forms."""

from __future__ import annotations

from typing import Any

import torch

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten


@decomposes(aten.any.default, aten.any.dim)
def _any(a: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    return aten.any.dims(a, list(range(a.dim())) if dim is None else [dim], keepdim)


@decomposes(aten.all.default, aten.all.dim)
def _all(a: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    return aten.all.dims(a, list(range(a.dim())) if dim is None else [dim], keepdim)


decomposes(aten._is_any_true.default)(aten.any)
decomposes(aten._is_all_true.default)(aten.all)


@decomposes(aten.sum.default)
def _sum_all(a: Any, *, dtype: Any = None) -> Any:
    return aten.sum.dim_IntList(a, list(range(a.dim())), False, dtype=dtype)


@decomposes(aten.mean.default)
def _mean_all(a: Any, *, dtype: Any = None) -> Any:
    return aten.mean.dim(a, list(range(a.dim())), False, dtype=dtype)


@decomposes(aten.max.default)
def _max(a: Any) -> Any:
    return aten.amax(a, list(range(a.dim())))


@decomposes(aten.min.default)
def _min(a: Any) -> Any:
    return aten.amin(a, list(range(a.dim())))
