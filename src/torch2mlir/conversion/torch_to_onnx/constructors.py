"""Tensors made of numbers, in ONNX."""

from __future__ import annotations

from typing import Any

from torch2mlir.contract.element_types import si64, widened
from torch2mlir.conversion.lowering import Number, Scalar, Tensor
from torch2mlir.conversion.torch_to_onnx.lowering import OnnxLowering, lowers
from torch2mlir.dialects.torch.dims import Dim


@lowers("aten.full")
def full(lower: OnnxLowering, size: Any, value: Number | Dim | Scalar, *_: Any) -> Tensor:
    """One value everywhere."""
    return lower.splat(value, lower.out.sizes, lower.out.dtype)


@lowers("aten.scalar_tensor")
def scalar_tensor(lower: OnnxLowering, value: Number | Dim | Scalar, *_: Any) -> Tensor:
    """A number as a rank-0 tensor."""
    return lower.splat(value, (), lower.out.dtype)


@lowers("aten.repeat_interleave.Tensor")
def repeat_interleave(lower: OnnxLowering, repeats: Tensor, *_: Any) -> Tensor:
    """As many zeros as the only element of ``repeats`` says."""
    count = lower.reshape(lower.cast(repeats, si64), ())
    lower.learn_size(lower.out.sizes[0], count)
    return lower.splat(0, lower.out.sizes, si64)


@lowers("aten.arange.start_step")
def arange(
    lower: OnnxLowering,
    start: Number | Dim | Scalar,
    end: Any,
    step: Number | Dim | Scalar,
    *_: Any,
) -> Tensor:
    """``start + i * step``, of integers with fractions cut off both; half floats in f32."""
    dtype, sizes = lower.out.dtype, lower.out.sizes
    computed = widened(dtype)
    result = lower.iota(sizes, 0, computed)
    if step != 1:
        result = lower.apply("Mul", result, lower.splat(step, (), computed))
    if start != 0:
        result = lower.apply("Add", result, lower.splat(start, (), computed))
    return lower.cast(result, dtype)
