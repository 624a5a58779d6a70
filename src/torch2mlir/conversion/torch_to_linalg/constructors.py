"""Tensors made of numbers, in Linalg-on-Tensors."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import Float64Type, f32, f64
from xdsl.ir import Attribute

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import si64
from torch2mlir.conversion.lowering import Number, Scalar, Tensor
from torch2mlir.conversion.torch_to_linalg.lowering import LinalgLowering, lowers
from torch2mlir.conversion.torch_to_linalg.scalars import Scalars
from torch2mlir.dialects.torch.dims import Dim


@lowers("aten.full")
def full(lower: LinalgLowering, size: Any, value: Number | Dim | Scalar, *_: Any) -> Tensor:
    """One value everywhere."""
    return lower.splat(value, lower.out.sizes, lower.out.dtype)


@lowers("aten.scalar_tensor")
def scalar_tensor(lower: LinalgLowering, value: Number | Dim | Scalar, *_: Any) -> Tensor:
    """A number as a rank-0 tensor."""
    return lower.splat(value, (), lower.out.dtype)


@lowers("aten.repeat_interleave.Tensor")
def repeat_interleave(lower: LinalgLowering, repeats: Tensor, *_: Any) -> Tensor:
    """As many zeros as the only element of ``repeats`` says."""
    count = lower.reshape(lower.cast(repeats, si64), ())
    lower.learn_size(lower.out.sizes[0], count)
    return lower.splat(0, lower.out.sizes, si64)


@lowers("aten.arange.start_step")
def arange(
    lower: LinalgLowering,
    start: Number | Dim | Scalar,
    end: Any,
    step: Number | Dim | Scalar,
    *_: Any,
) -> Tensor:
    """``start + i * step``; computed in f32 for narrower floats."""
    computed = _computed(lower.out.dtype)
    scale = [] if step == 1 else [step]
    offset = [] if start == 0 else [start]

    def build(s: Scalars, *given: Scalar) -> Scalar:
        position = s.cast(s.index(0), computed)
        if scale:
            position = s("mul", position, given[0])
        return s("add", given[-1], position) if offset else position

    return lower.elementwise(build, *scale, *offset, computed=computed)


def _computed(dtype: Attribute) -> Attribute:
    if element_types.is_float(dtype):
        return f64 if isinstance(dtype, Float64Type) else f32
    return dtype
