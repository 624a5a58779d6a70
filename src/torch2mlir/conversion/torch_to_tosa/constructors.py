"""Tensors made of numbers, in TOSA."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Attribute

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import si64, widened
from torch2mlir.conversion.lowering import Number, Scalar, Tensor
from torch2mlir.conversion.torch_to_tosa.casts import computed_dtype
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering, lowers
from torch2mlir.dialects import tosa
from torch2mlir.dialects.torch.dims import Dim


@lowers("aten.full")
def full(lower: TosaLowering, size: Any, value: Number | Dim | Scalar, *_: Any) -> Tensor:
    """One value everywhere."""
    return lower.splat(value, lower.out.sizes, lower.out.dtype)


@lowers("aten.scalar_tensor")
def scalar_tensor(lower: TosaLowering, value: Number | Dim | Scalar, *_: Any) -> Tensor:
    """A number as a rank-0 tensor."""
    return lower.splat(value, (), lower.out.dtype)


@lowers("aten.repeat_interleave.Tensor")
def repeat_interleave(lower: TosaLowering, repeats: Tensor, *_: Any) -> Tensor:
    """As many zeros as the only element of ``repeats`` says: no word of TOSA's."""
    lower.learn_size(lower.out.sizes[0], repeats)
    return lower.splat(0, lower.out.sizes, si64)


@lowers("aten.arange.start_step")
def arange(
    lower: TosaLowering,
    start: Number | Dim | Scalar,
    end: Any,
    step: Number | Dim | Scalar,
    *_: Any,
) -> Tensor:
    """``start + i * step``, a constant where everything is known; computed in f32 for narrower floats."""
    (size,), dtype = lower.out.sizes, lower.out.dtype
    if all(isinstance(number, int | float) for number in (start, step, size)):
        elements = [start + i * step for i in range(size)]  # type: ignore[arg-type, operator]
        return lower.elements(elements, (size,), dtype)  # type: ignore[arg-type]
    computed = _computed(dtype)
    count = lower.iota((size,), 0, computed)
    if step != 1:
        count = lower.elementwise(tosa.MulOp, count, lower.operand(step, computed))
    if start != 0:
        count = lower.elementwise(tosa.AddOp, count, lower.operand(start, computed))
    return lower.cast(count, dtype)


def _computed(dtype: Attribute) -> Attribute:
    return widened(dtype) if element_types.is_float(dtype) else computed_dtype(dtype)
