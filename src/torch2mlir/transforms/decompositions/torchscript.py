"""Ops of TorchScript's interpreter that PyTorch's dispatcher does not know: tensors made of Python numbers."""

from __future__ import annotations

from typing import Any

import torch

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten


@decomposes(torch.ops.prim.NumToTensor.Scalar, torch.ops.prim.NumToTensor.bool)
def _of_number(data: Any) -> Any:
    dtypes = {
        bool: torch.bool,
        torch.SymBool: torch.bool,
        int: torch.int64,
        torch.SymInt: torch.int64,
    }
    return aten.full([], data, dtype=dtypes.get(type(data), torch.float64), device="cpu")


@decomposes(aten.tensor.float)
def _of_float(data: float, *, dtype: Any = None, **_: Any) -> Any:
    return aten.full([], data, dtype=dtype or torch.get_default_dtype(), device="cpu")


@decomposes(aten.tensor.int)
def _of_int(data: int, *, dtype: Any = None, **_: Any) -> Any:
    return aten.full([], data, dtype=dtype or torch.int64, device="cpu")


@decomposes(aten.tensor.bool)
def _of_bool(data: bool, *, dtype: Any = None, **_: Any) -> Any:
    return aten.full([], data, dtype=dtype or torch.bool, device="cpu")
