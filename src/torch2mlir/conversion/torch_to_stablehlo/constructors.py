"""Tensors from numbers in StableHLO."""

from __future__ import annotations

from typing import Any

from torch2mlir.conversion import promotion
from torch2mlir.conversion.lowering import Operand, Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering, lowers
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.torch.dims import Dim


@lowers("aten.full")
def full(lower: StablehloLowering, sizes: Any, value: Any, *_: Any) -> Tensor:
    """One value everywhere."""
    return lower.splat(value, lower.out.sizes, lower.out.dtype)


@lowers("aten.scalar_tensor")
def scalar_tensor(lower: StablehloLowering, value: Any, *_: Any) -> Tensor:
    """A number as a tensor of rank 0."""
    return lower.splat(value, (), lower.out.dtype)


@lowers("aten.arange.start_step")
def arange(
    lower: StablehloLowering, start: Operand, end: Operand, step: Operand, *_: Any
) -> Tensor:
    """``start + i * step``; computed in the widest type of the result's kind, as PyTorch."""
    dtype, sizes = lower.out.dtype, lower.out.sizes
    whole = all(isinstance(v, int | Dim) for v in (start, step))
    computed = dtype if whole or promotion.is_float(dtype) else lower.f64
    result = lower.iota(sizes, 0, computed)
    if step != 1:
        result = lower.op(hlo.MulOp, [result, lower.splat(step, sizes, computed)], sizes, computed)
    if start != 0:
        result = lower.op(hlo.AddOp, [result, lower.splat(start, sizes, computed)], sizes, computed)
    return lower.cast(result, dtype)
