"""Elementwise ops for which StableHLO has more than the words of :mod:`.words`."""

from __future__ import annotations

from torch2mlir.conversion import elementwise
from torch2mlir.conversion.lowering import Number, Operand, Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering, lowers
from torch2mlir.dialects import stablehlo as hlo


@lowers("aten.clamp", "aten.clamp.Tensor")
def clamp(lower: StablehloLowering, x: Tensor, low: Operand | None, high: Operand | None) -> Tensor:
    """``stablehlo.clamp`` between two numbers; it takes scalars as bounds."""
    if isinstance(low, Number) and isinstance(high, Number) and low == low and high == high:
        out = lower.out
        bounds = [lower.splat(bound, (), out.dtype) for bound in (low, high)]
        return lower.op(hlo.ClampOp, [bounds[0], x, bounds[1]], out.sizes, out.dtype)
    return elementwise.clamp(lower, x, low, high)
