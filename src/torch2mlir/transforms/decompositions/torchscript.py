"""Python numbers made into tensors, and numbers that tell of whole tensors."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.types import Number

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten


@decomposes(torch.ops.prim.NumToTensor.Scalar, torch.ops.prim.NumToTensor.bool)
def _of_number(data: Any) -> Tensor:
    dtypes = {
        bool: torch.bool,
        torch.SymBool: torch.bool,
        int: torch.int64,
        torch.SymInt: torch.int64,
    }
    return aten.full([], data, dtype=dtypes.get(type(data), torch.float64), device="cpu")


@decomposes(aten.tensor.float)
def _of_float(data: float, *, dtype: torch.dtype | None = None, **_: object) -> Tensor:
    return aten.full([], data, dtype=dtype or torch.get_default_dtype(), device="cpu")


@decomposes(aten.tensor.int)
def _of_int(data: int, *, dtype: torch.dtype | None = None, **_: object) -> Tensor:
    return aten.full([], data, dtype=dtype or torch.int64, device="cpu")


@decomposes(aten.tensor.bool)
def _of_bool(data: bool, *, dtype: torch.dtype | None = None, **_: object) -> Tensor:
    return aten.full([], data, dtype=dtype or torch.bool, device="cpu")


@decomposes(aten.equal.default)
def _equal(a: Tensor, b: Tensor) -> Number:
    """Whether the shapes and all elements are equal; NaN is equal to nothing."""
    if a.dim() != b.dim() or any(size != other for size, other in zip(a.shape, b.shape)):
        return False
    return (a == b).all().item()


@decomposes(aten.allclose.default)
def _allclose(
    a: Tensor, b: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Number:
    return torch.isclose(a, b, rtol, atol, equal_nan).all().item()
