"""Elementwise ops of one tensor, choices and conversions in TOSA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float64Type, FloatAttr, f32, i1
from xdsl.ir import Attribute, Operation

from torch2mlir.conversion import promotion
from torch2mlir.conversion.lowering import Operand, Tensor
from torch2mlir.conversion.torch_to_tosa import transcendental
from torch2mlir.conversion.torch_to_tosa.casts import si32, truncate
from torch2mlir.conversion.torch_to_tosa.expressions import Expr
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering, lowers
from torch2mlir.dialects import tosa

FLOAT: dict[str, Callable[[Expr], Expr]] = {
    "aten.acos": transcendental.acos,
    "aten.acosh": transcendental.acosh,
    "aten.asin": transcendental.asin,
    "aten.asinh": transcendental.asinh,
    "aten.atan": transcendental.atan,
    "aten.atanh": transcendental.atanh,
    "aten.cos": Expr.cos,
    "aten.cosh": transcendental.cosh,
    "aten.erf": lambda x: x.of(tosa.ErfOp),
    "aten.exp": Expr.exp,
    "aten.expm1": transcendental.expm1,
    "aten.log": Expr.log,
    "aten.log10": transcendental.log10,
    "aten.log1p": transcendental.log1p,
    "aten.log2": transcendental.log2,
    "aten.reciprocal": Expr.reciprocal,
    "aten.rsqrt": Expr.rsqrt,
    "aten.sigmoid": lambda x: x.of(tosa.SigmoidOp),
    "aten.sin": Expr.sin,
    "aten.sinh": transcendental.sinh,
    "aten.sqrt": Expr.sqrt,
    "aten.tan": transcendental.tan,
    "aten.tanh": Expr.tanh,
}
"""Functions of floats; integers are converted first, half precision computes in f32."""


def float_dtype(dtype: Attribute) -> Attribute:
    """The type PyTorch computes functions of floats in: f32 for half precision."""
    return f32 if isinstance(dtype, Float16Type | BFloat16Type) else dtype


def _float(formula: Callable[[Expr], Expr]) -> Callable[..., Tensor]:
    def lower_float(lower: TosaLowering, x: Tensor) -> Tensor:
        computed = lower.cast(x, float_dtype(lower.out.dtype))
        return lower.cast(formula(Expr(lower, computed)).tensor, lower.out.dtype)

    return lower_float


for _name, _formula in FLOAT.items():
    lowers(_name)(_float(_formula))


ROUNDING: dict[str, type[Operation]] = {"aten.ceil": tosa.CeilOp, "aten.floor": tosa.FloorOp}


def _rounding(op_class: type[Operation]) -> Callable[..., Tensor]:
    def lower_rounding(lower: TosaLowering, x: Tensor) -> Tensor:
        return lower.elementwise(op_class, x) if promotion.is_float(x.dtype) else x

    return lower_rounding


for _name, _op in ROUNDING.items():
    lowers(_name)(_rounding(_op))


@lowers("aten.trunc")
def trunc(lower: TosaLowering, x: Tensor) -> Tensor:
    """Rounded towards zero; integers stay."""
    return truncate(lower, x) if promotion.is_float(x.dtype) else x


@lowers("aten.round")
def round(lower: TosaLowering, x: Tensor) -> Tensor:
    """To the nearest, halves to even: what ``tosa.cast`` to i32 does, which loses the sign of a zero.

    From ``2**23`` on every f32 is whole.
    """
    if not promotion.is_float(x.dtype):
        return x
    if isinstance(x.dtype, Float64Type):
        lower.fail("TOSA has no 64-bit floats", "convert the model and its inputs to float32")
    value = Expr(lower, lower.cast(x, f32))
    integer = lower.elementwise(tosa.CastOp, value.tensor, dtype=si32)
    whole = Expr(lower, lower.elementwise(tosa.CastOp, integer, dtype=f32))
    whole = whole.equals(0.0).where(Expr(lower, truncate(lower, value.tensor)), whole)
    return lower.cast((abs(value) < 2.0**23).where(whole, value).tensor, x.dtype)


@lowers("aten.abs")
def absolute(lower: TosaLowering, x: Tensor) -> Tensor:
    """``|x|``; the lowest integer and unsigned ones stay."""
    return x if promotion.is_unsigned(x.dtype) else lower.elementwise(tosa.AbsOp, x)


@lowers("aten.neg")
def negate(lower: TosaLowering, x: Tensor) -> Tensor:
    """``-x``; integers as ``0 - x``, since ``tosa.negate`` saturates the lowest one."""
    if promotion.is_float(x.dtype):
        return lower.elementwise(tosa.NegateOp, x)
    return lower.elementwise(tosa.SubOp, lower.operand(0, x.dtype), x)


@lowers("aten.relu")
def relu(lower: TosaLowering, x: Tensor) -> Tensor:
    """``max(x, 0)``, NaN stays NaN."""
    return lower.elementwise(tosa.MaximumOp, x, lower.operand(0, x.dtype))


@lowers("aten.sign")
def sign(lower: TosaLowering, x: Tensor) -> Tensor:
    """``(x > 0) - (x < 0)``, so 0 for NaN."""
    if promotion.is_bool(x.dtype):
        return x
    value, zero = Expr(lower, x), lower.operand(0, x.dtype)
    lowest = Expr(lower, lower.operand(-1, x.dtype))
    below = (value < 0).where(lowest, Expr(lower, zero))
    return (value > 0).where(Expr(lower, lower.operand(1, x.dtype)), below).tensor


@lowers("aten.signbit")
def signbit(lower: TosaLowering, x: Tensor) -> Tensor:
    """Whether the sign is minus, that of zeros included; TOSA cannot read that of NaN, which counts as plus."""
    if promotion.is_unsigned(x.dtype):
        return lower.splat(False, x.sizes, i1)
    value = Expr(lower, x)
    return (transcendental.is_negative(value) if promotion.is_float(x.dtype) else value < 0).tensor


@lowers("aten.bitwise_not")
def bitwise_not(lower: TosaLowering, x: Tensor) -> Tensor:
    """``~x``; of booleans, not."""
    op_class = tosa.LogicalNotOp if promotion.is_bool(x.dtype) else tosa.BitwiseNotOp
    return lower.elementwise(op_class, x)


@lowers("aten.logical_not")
def logical_not(lower: TosaLowering, x: Tensor) -> Tensor:
    """``x == 0``."""
    return lower.elementwise(tosa.LogicalNotOp, lower.cast(x, i1))


@lowers("aten.isnan")
def isnan(lower: TosaLowering, x: Tensor) -> Tensor:
    """``x != x``."""
    if not promotion.is_float(x.dtype):
        return lower.splat(False, x.sizes, i1)
    return lower.elementwise(tosa.LogicalNotOp, lower.compare(tosa.EqualOp, x, x))


@lowers("aten.isinf")
def isinf(lower: TosaLowering, x: Tensor) -> Tensor:
    """``|x|`` is infinity."""
    if not promotion.is_float(x.dtype):
        return lower.splat(False, x.sizes, i1)
    return abs(Expr(lower, x)).equals(float("inf")).tensor


@lowers("aten.where.self")
def where(lower: TosaLowering, condition: Tensor, on_true: Tensor, on_false: Tensor) -> Tensor:
    """Elementwise choice; all three operands broadcast together."""
    dtype = lower.out.dtype
    chosen = lower.select(
        lower.cast(condition, i1), lower.operand(on_true, dtype), lower.operand(on_false, dtype)
    )
    return lower.broadcast_to(chosen, lower.out.sizes)


@lowers("aten.clamp", "aten.clamp.Tensor")
def clamp(lower: TosaLowering, x: Tensor, low: Operand | None, high: Operand | None) -> Tensor:
    """``min(max(x, low), high)``; NaN stays NaN. Two float constants in order are ``tosa.clamp``'s."""
    dtype = lower.out.dtype
    x = lower.operand(x, dtype)
    if _is_number(low) and _is_number(high) and promotion.is_float(dtype) and low <= high:  # type: ignore[operator]
        bounds = {"min_val": _bound(low, dtype), "max_val": _bound(high, dtype)}
        return lower.elementwise(tosa.ClampOp, x, properties=bounds)
    if low is not None:
        x = lower.elementwise(tosa.MaximumOp, x, lower.operand(low, dtype))
    if high is not None:
        x = lower.elementwise(tosa.MinimumOp, x, lower.operand(high, dtype))
    return x


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


def _bound(value: Any, dtype: Attribute) -> FloatAttr[Any]:
    return FloatAttr(float(value), dtype)


@lowers("prims.convert_element_type")
def convert_element_type(lower: TosaLowering, x: Tensor, dtype: int) -> Tensor:
    """``x.to(dtype)``."""
    return lower.cast(x, lower.out.dtype)


@lowers("aten.view.dtype")
def view_dtype(lower: TosaLowering, x: Tensor, dtype: int) -> Tensor:
    """The bits of each element as one of another type: only between integers, TOSA has no bit cast."""
    wanted = lower.out.dtype
    if promotion.storage_bits(x.dtype) != promotion.storage_bits(wanted):
        lower.fail("the elements have another width")
    if promotion.is_float(x.dtype) != promotion.is_float(wanted):
        lower.fail("TOSA cannot read the bits of a float as an integer, nor the other way round")
    return lower.cast(x, wanted)
