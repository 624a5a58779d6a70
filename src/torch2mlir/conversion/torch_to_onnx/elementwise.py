"""Elementwise ops for which ONNX has more than the words of :mod:`.words`."""

from __future__ import annotations

from torch2mlir.conversion import elementwise
from torch2mlir.conversion.lowering import Number, Operand, Tensor
from torch2mlir.conversion.torch_to_onnx.lowering import OnnxLowering, lowers


@lowers("aten.clamp", "aten.clamp.Tensor")
def clamp(lower: OnnxLowering, x: Tensor, low: Operand | None, high: Operand | None) -> Tensor:
    """``Clip`` between two numbers in order."""
    out = lower.out
    if isinstance(low, Number) and isinstance(high, Number) and low <= high:  # type: ignore[operator]
        bounds = [lower.splat(bound, (), out.dtype) for bound in (low, high)]
        return lower.node("Clip", x, *bounds, sizes=out.sizes, dtype=out.dtype)
    return elementwise.clamp(lower, x, low, high)
