"""Elementwise ops for which TOSA has more than the words of :mod:`.words`."""

from __future__ import annotations

from xdsl.dialects.builtin import Float64Type, f32

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import si32
from torch2mlir.conversion.expressions import Expr
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering, lowers
from torch2mlir.dialects import tosa


@lowers("aten.round")
def round(lower: TosaLowering, x: Tensor) -> Tensor:
    """To the nearest, halves to even: what ``tosa.cast`` to i32 does, which loses the sign of a zero.

    From ``2**23`` on every f32 is whole.
    """
    if not element_types.is_float(x.dtype):
        return x
    if isinstance(x.dtype, Float64Type):
        lower.fail("TOSA has no 64-bit floats", "convert the model and its inputs to float32")
    value = Expr(lower.words, lower.cast(x, f32))
    integer = lower.elementwise(tosa.CastOp, value.value, dtype=si32)
    whole = Expr(lower.words, lower.elementwise(tosa.CastOp, integer, dtype=f32))
    whole = whole.equals(0.0).where(value.of("trunc"), whole)
    return lower.cast((abs(value) < 2.0**23).where(whole, value).value, x.dtype)
