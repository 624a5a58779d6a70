"""Elementwise arithmetic in StableHLO."""

from __future__ import annotations

import math
from collections.abc import Callable

from xdsl.ir import Attribute, Operation

from torch2mlir.conversion import promotion
from torch2mlir.conversion.lowering import Number, Operand, Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering, lowers
from torch2mlir.dialects import chlo
from torch2mlir.dialects import stablehlo as hlo

UNARY: dict[str, type[Operation]] = {
    "aten.acos": chlo.AcosOp,
    "aten.acosh": chlo.AcoshOp,
    "aten.asin": chlo.AsinOp,
    "aten.asinh": chlo.AsinhOp,
    "aten.atan": chlo.AtanOp,
    "aten.atanh": chlo.AtanhOp,
    "aten.bitwise_not": hlo.NotOp,
    "aten.cos": hlo.CosineOp,
    "aten.cosh": chlo.CoshOp,
    "aten.erf": chlo.ErfOp,
    "aten.exp": hlo.ExpOp,
    "aten.expm1": hlo.Expm1Op,
    "aten.log": hlo.LogOp,
    "aten.log1p": hlo.Log1pOp,
    "aten.neg": hlo.NegOp,
    "aten.rsqrt": hlo.RsqrtOp,
    "aten.sigmoid": hlo.LogisticOp,
    "aten.sin": hlo.SineOp,
    "aten.sinh": chlo.SinhOp,
    "aten.sqrt": hlo.SqrtOp,
    "aten.tan": hlo.TanOp,
    "aten.tanh": hlo.TanhOp,
}
"""On the result's element type: an integer operand of a function is converted first."""

ROUNDING: dict[str, type[Operation]] = {
    "aten.ceil": hlo.CeilOp,
    "aten.floor": hlo.FloorOp,
    "aten.round": hlo.RoundNearestEvenOp,
}
"""Integers stay as they are."""

BINARY: dict[str, type[Operation]] = {
    "aten.atan2": hlo.Atan2Op,
    "aten.fmod.Tensor": hlo.RemOp,
    "aten.fmod.Scalar": hlo.RemOp,
    "aten.maximum": hlo.MaxOp,
    "aten.minimum": hlo.MinOp,
    "aten.mul.Tensor": hlo.MulOp,
    "aten.mul.Scalar": hlo.MulOp,
    "aten.div.Tensor": hlo.DivOp,
    "aten.div.Scalar": hlo.DivOp,
    **{
        f"aten.bitwise_{name}.{overload}": op
        for name, op in (("and", hlo.AndOp), ("or", hlo.OrOp), ("xor", hlo.XorOp))
        for overload in ("Tensor", "Scalar")
    },
}
"""Both operands on the result's element type. Maximum and minimum give NaN if either is NaN."""

Unary = Callable[[StablehloLowering, Tensor], Tensor]
Binary = Callable[[StablehloLowering, Operand, Operand], Tensor]


def _unary(op_class: type[Operation]) -> Unary:
    def lower_unary(lower: StablehloLowering, x: Tensor) -> Tensor:
        return lower.elementwise(op_class, lower.operand(x, lower.out.dtype))

    return lower_unary


def _rounding(op_class: type[Operation]) -> Unary:
    def lower_rounding(lower: StablehloLowering, x: Tensor) -> Tensor:
        return lower.elementwise(op_class, x) if promotion.is_float(x.dtype) else x

    return lower_rounding


def _binary(op_class: type[Operation]) -> Binary:
    def lower_binary(lower: StablehloLowering, x: Operand, y: Operand) -> Tensor:
        return lower.elementwise(op_class, *lower.operands(x, y))

    return lower_binary


for _name, _op in UNARY.items():
    lowers(_name)(_unary(_op))
for _name, _op in ROUNDING.items():
    lowers(_name)(_rounding(_op))
for _name, _op in BINARY.items():
    lowers(_name)(_binary(_op))


@lowers("aten.abs")
def abs_(lower: StablehloLowering, x: Tensor) -> Tensor:
    """``|x|``; the modulus of complex numbers."""
    if promotion.is_unsigned(x.dtype):
        return x
    return lower.op(hlo.AbsOp, [x], x.sizes, lower.out.dtype)


@lowers("aten.sign")
def sign(lower: StablehloLowering, x: Tensor) -> Tensor:
    """-1, 0 or 1; NaN stays NaN."""
    if promotion.is_unsigned(x.dtype):
        return lower.cast(lower.cast(x, lower.bool), x.dtype)
    return lower.elementwise(hlo.SignOp, x)


@lowers("aten.trunc")
def trunc(lower: StablehloLowering, x: Tensor) -> Tensor:
    """Toward zero."""
    if not promotion.is_float(x.dtype):
        return x
    return lower.truncated(x)


@lowers("aten.reciprocal")
def reciprocal(lower: StablehloLowering, x: Tensor) -> Tensor:
    """``1 / x``."""
    one = lower.splat(1, (), lower.out.dtype)
    return lower.elementwise(hlo.DivOp, one, lower.operand(x, lower.out.dtype))


@lowers("aten.relu")
def relu(lower: StablehloLowering, x: Tensor) -> Tensor:
    """``max(x, 0)``; NaN stays NaN."""
    return lower.elementwise(hlo.MaxOp, x, lower.splat(0, (), x.dtype))


def _logarithm(base: float) -> Unary:
    def lower_log(lower: StablehloLowering, x: Tensor) -> Tensor:
        logarithm = lower.elementwise(hlo.LogOp, lower.operand(x, lower.out.dtype))
        scale = lower.splat(1 / math.log(base), (), lower.out.dtype)
        return lower.elementwise(hlo.MulOp, logarithm, scale)

    return lower_log


lowers("aten.log2")(_logarithm(2))
lowers("aten.log10")(_logarithm(10))


@lowers("aten.add.Tensor", "aten.add.Scalar")
def add(lower: StablehloLowering, x: Operand, y: Operand, alpha: Operand) -> Tensor:
    """``x + alpha * y``."""
    a, b = lower.operands(x, y)
    return lower.elementwise(hlo.AddOp, a, _scaled(lower, b, alpha))


@lowers("aten.sub.Tensor", "aten.sub.Scalar")
def sub(lower: StablehloLowering, x: Operand, y: Operand, alpha: Operand) -> Tensor:
    """``x - alpha * y``."""
    a, b = lower.operands(x, y)
    return lower.elementwise(hlo.SubtractOp, a, _scaled(lower, b, alpha))


def _scaled(lower: StablehloLowering, x: Tensor, alpha: Operand) -> Tensor:
    if alpha == 1:
        return x
    factor = lower.broadcast_to(lower.operand(alpha, x.dtype), x.sizes)
    return lower.op(hlo.MulOp, [x, factor], x.sizes, x.dtype)


@lowers("aten.div.Tensor_mode", "aten.div.Scalar_mode")
def div_mode(lower: StablehloLowering, x: Operand, y: Operand, mode: str | None) -> Tensor:
    """Division rounded toward zero (``trunc``) or down (``floor``), or not at all."""
    a, b = (lower.broadcast_to(t, lower.out.sizes) for t in lower.operands(x, y))
    if mode is None:
        return lower.elementwise(hlo.DivOp, a, b)
    if mode == "floor":
        return _floor_div(lower, a, b)
    quotient = lower.elementwise(hlo.DivOp, a, b)
    return lower.truncated(quotient) if promotion.is_float(a.dtype) else quotient


def _floor_div(lower: StablehloLowering, a: Tensor, b: Tensor) -> Tensor:
    """Down; for floats as PyTorch does, from the exact remainder, so that rounding of ``a / b`` does not show."""
    remainder = _remainder(lower, a, b)
    quotient = lower.elementwise(hlo.DivOp, lower.elementwise(hlo.SubtractOp, a, remainder), b)
    if not promotion.is_float(a.dtype):
        return quotient
    whole = lower.elementwise(hlo.RoundNearestEvenOp, quotient)
    zero = lower.splat(0, a.sizes, a.dtype)
    by_zero = lower.compare("EQ", b, zero)
    plain = lower.elementwise(hlo.DivOp, a, b)
    return lower.select(by_zero, plain, whole)


@lowers("aten.remainder.Tensor", "aten.remainder.Scalar")
def remainder(lower: StablehloLowering, x: Operand, y: Operand) -> Tensor:
    """Of the sign of the divisor, as Python's ``%``."""
    return _remainder(
        lower, *(lower.broadcast_to(t, lower.out.sizes) for t in lower.operands(x, y))
    )


def _remainder(lower: StablehloLowering, a: Tensor, b: Tensor) -> Tensor:
    truncated = lower.elementwise(hlo.RemOp, a, b)
    if promotion.is_unsigned(a.dtype):
        return truncated
    zero = lower.splat(0, a.sizes, a.dtype)
    signs_differ = lower.logical(
        hlo.XorOp, lower.compare("LT", truncated, zero), lower.compare("LT", b, zero)
    )
    adjust = lower.logical(hlo.AndOp, lower.compare("NE", truncated, zero), signs_differ)
    return lower.select(adjust, lower.elementwise(hlo.AddOp, truncated, b), truncated)


@lowers("aten.pow.Tensor_Scalar")
def pow_scalar(lower: StablehloLowering, x: Tensor, exponent: Operand) -> Tensor:
    """``x ** exponent``; small exponents as the products they are."""
    base = lower.operand(x, lower.out.dtype)
    if exponent == 2:
        return lower.elementwise(hlo.MulOp, base, base)
    if exponent == 3:
        return lower.elementwise(hlo.MulOp, lower.elementwise(hlo.MulOp, base, base), base)
    if exponent == 0.5 and promotion.is_float(base.dtype):
        return lower.elementwise(hlo.SqrtOp, base)
    return power(lower, x, exponent)


@lowers("aten.pow.Tensor_Tensor", "aten.pow.Scalar")
def power(lower: StablehloLowering, x: Operand, exponent: Operand) -> Tensor:
    """``x ** exponent`` on the result's element type."""
    return lower.elementwise(hlo.PowOp, *lower.operands(x, exponent))


@lowers("aten.where.self")
def where(
    lower: StablehloLowering, condition: Tensor, on_true: Operand, on_false: Operand
) -> Tensor:
    """Elementwise select; all three operands broadcast together."""
    branches = lower.operands(on_true, on_false)
    return lower.elementwise(hlo.SelectOp, condition, *branches, dtype=lower.out.dtype)


@lowers("aten.clamp", "aten.clamp.Tensor")
def clamp(lower: StablehloLowering, x: Tensor, low: Operand | None, high: Operand | None) -> Tensor:
    """``min(max(x, low), high)``; NaN stays NaN."""
    dtype = lower.out.dtype
    result = lower.operand(x, dtype)
    for op_class, bound in ((hlo.MaxOp, low), (hlo.MinOp, high)):
        if bound is not None:
            result = lower.elementwise(
                op_class, result, lower.operand(_in_range(bound, dtype), dtype)
            )
    return result


def _in_range(bound: Operand, dtype: Attribute) -> Operand:
    """Infinite bounds of integers are their extremes."""
    if isinstance(bound, float) and promotion.is_integer(dtype) and math.isinf(bound):
        bits = promotion.bit_width(dtype)
        unsigned = promotion.is_unsigned(dtype)
        largest = 2 ** (bits if unsigned else bits - 1) - 1
        smallest = 0 if unsigned else -largest - 1
        extreme: Number = largest if bound > 0 else smallest
        return extreme
    return bound


@lowers("prims.convert_element_type")
def convert_element_type(lower: StablehloLowering, x: Tensor, dtype: int) -> Tensor:
    """Elements converted as ``Tensor.to`` does."""
    return lower.cast(x, lower.out.dtype)
