"""Tensors made from nothing but sizes."""

from __future__ import annotations

from typing import Any

import torch

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten


@decomposes(aten.arange.default)
def _arange(end: Any, **options: Any) -> Any:
    return aten.arange.start_step(0, end, 1, **options)


@decomposes(aten.arange.start)
def _arange_start(start: Any, end: Any, **options: Any) -> Any:
    return aten.arange.start_step(start, end, 1, **options)


@decomposes(aten.full_like.default)
def _full_like(a: Any, value: Any, *, dtype: Any = None, **_: Any) -> Any:
    return aten.full(a.shape, value, dtype=dtype or a.dtype, device=a.device)


@decomposes(aten.zeros_like.default, aten.empty_like.default)
def _zeros_like(a: Any, *, dtype: Any = None, **_: Any) -> Any:
    return aten.full(a.shape, 0, dtype=dtype or a.dtype, device=a.device)


@decomposes(aten.ones_like.default)
def _ones_like(a: Any, *, dtype: Any = None, **_: Any) -> Any:
    return aten.full(a.shape, 1, dtype=dtype or a.dtype, device=a.device)


@decomposes(aten.new_full.default)
def _new_full(a: Any, size: Any, value: Any, *, dtype: Any = None, **_: Any) -> Any:
    return aten.full(size, value, dtype=dtype or a.dtype, device=a.device)


@decomposes(aten.new_zeros.default, aten.new_empty.default)
def _new_zeros(a: Any, size: Any, *, dtype: Any = None, **_: Any) -> Any:
    return aten.full(size, 0, dtype=dtype or a.dtype, device=a.device)


@decomposes(aten.new_ones.default)
def _new_ones(a: Any, size: Any, *, dtype: Any = None, **_: Any) -> Any:
    return aten.full(size, 1, dtype=dtype or a.dtype, device=a.device)


@decomposes(aten.zeros.default, aten.empty.memory_format)
def _zeros(size: Any, *, dtype: Any = None, **_: Any) -> Any:
    """An uninitialised tensor may hold anything: zeros are what every engine agrees on."""
    return aten.full(size, 0, dtype=dtype or torch.get_default_dtype(), device="cpu")


@decomposes(aten.ones.default)
def _ones(size: Any, *, dtype: Any = None, **_: Any) -> Any:
    return aten.full(size, 1, dtype=dtype or torch.get_default_dtype(), device="cpu")


@decomposes(torch.ops.prims.scalar_tensor.default)
def _scalar_tensor(value: Any, *, dtype: Any = None, **_: Any) -> Any:
    return aten.scalar_tensor(value, dtype=dtype)
