"""Elementwise arithmetic in StableHLO: one op each, or a formula of a few."""

from __future__ import annotations

import math
from collections.abc import Callable

from xdsl.dialects.builtin import IntegerType, Signedness, i1
from xdsl.ir import Operation

from torch2mlir.conversion import promotion
from torch2mlir.conversion.lowering import Number, Operand, Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import (
    Code,
    StablehloLowering,
    lowers,
    widened,
)
from torch2mlir.dialects import chlo
from torch2mlir.dialects import stablehlo as hlo

# one operand


def sign(lower: StablehloLowering, x: Tensor) -> Tensor:
    """-1, 0 or 1; 0 for NaN."""
    if promotion.is_unsigned(x.dtype):
        return lower.cast(lower.cast(x, i1), x.dtype)
    result = lower.apply(hlo.SignOp, x)
    if not promotion.is_float(x.dtype):
        return result
    # stablehlo.sign keeps NaN and the sign of a zero
    of_zero = lower.apply(hlo.OrOp, lower.compare("NE", x, x), lower.compare("EQ", x, 0))
    return lower.select(of_zero, 0, result)


def truncated(lower: StablehloLowering, x: Tensor) -> Tensor:
    """Rounded toward zero."""
    up, down = lower.apply(hlo.CeilOp, x), lower.apply(hlo.FloorOp, x)
    return lower.select(lower.compare("LT", x, 0), up, down)


def rounding(code: Code) -> Callable[[StablehloLowering, Tensor], Tensor]:
    """A rounding function; integers are what they are."""

    def round_(lower: StablehloLowering, x: Tensor) -> Tensor:
        if isinstance(x.dtype, IntegerType):
            return x
        return lower.apply(code, x) if isinstance(code, type) else code(lower, x)

    return round_


def logarithm(base: int) -> Callable[[StablehloLowering, Tensor], Tensor]:
    """``log(x) / log(base)``."""

    def log(lower: StablehloLowering, x: Tensor) -> Tensor:
        return lower.apply(hlo.DivOp, lower.apply(hlo.LogOp, x), math.log(base))

    return log


UNARY: dict[str, Code] = {
    "aten.acos": chlo.AcosOp,
    "aten.acosh": chlo.AcoshOp,
    "aten.asin": chlo.AsinOp,
    "aten.asinh": chlo.AsinhOp,
    "aten.atan": chlo.AtanOp,
    "aten.atanh": chlo.AtanhOp,
    "aten.bitwise_not": hlo.NotOp,
    "aten.ceil": rounding(hlo.CeilOp),
    "aten.cos": hlo.CosineOp,
    "aten.cosh": chlo.CoshOp,
    "aten.erf": chlo.ErfOp,
    "aten.exp": hlo.ExpOp,
    "aten.expm1": hlo.Expm1Op,
    "aten.floor": rounding(hlo.FloorOp),
    "aten.log": hlo.LogOp,
    "aten.log1p": hlo.Log1pOp,
    "aten.neg": hlo.NegOp,
    "aten.reciprocal": lambda lower, x: lower.apply(hlo.DivOp, 1, x),
    # NaN stays NaN
    "aten.relu": lambda lower, x: lower.apply(hlo.MaxOp, x, 0),
    # halves go to the even neighbour
    "aten.round": rounding(hlo.RoundNearestEvenOp),
    "aten.rsqrt": hlo.RsqrtOp,
    "aten.sigmoid": hlo.LogisticOp,
    "aten.sign": sign,
    "aten.sin": hlo.SineOp,
    "aten.sinh": chlo.SinhOp,
    "aten.sqrt": hlo.SqrtOp,
    "aten.tan": hlo.TanOp,
    "aten.tanh": hlo.TanhOp,
    "aten.trunc": rounding(truncated),
}
"""Ops computed in the type of their result: integers are converted before a function of real numbers."""

WIDENED_UNARY: dict[str, Code] = {
    "aten.log10": logarithm(10),
    "aten.log2": logarithm(2),
}
"""Formulas that round more than once, so half floats are computed in f32."""


def _unary(code: Code) -> Callable[[StablehloLowering, Tensor], Tensor]:
    def lower_unary(lower: StablehloLowering, x: Tensor) -> Tensor:
        return lower.elementwise(code, x, computed=lower.out.dtype)

    return lower_unary


def _widened_unary(code: Code) -> Callable[[StablehloLowering, Tensor], Tensor]:
    def lower_unary(lower: StablehloLowering, x: Tensor) -> Tensor:
        return lower.elementwise(code, x, computed=widened(lower.out.dtype))

    return lower_unary


for _name, _code in UNARY.items():
    lowers(_name)(_unary(_code))
for _name, _code in WIDENED_UNARY.items():
    lowers(_name)(_widened_unary(_code))


@lowers("aten.abs")
def abs_(lower: StablehloLowering, x: Tensor) -> Tensor:
    """``|x|``; the magnitude of complex numbers."""
    if promotion.is_unsigned(x.dtype):
        return x
    if promotion.is_complex(x.dtype):
        return lower.part(hlo.AbsOp, x)
    return lower.apply(hlo.AbsOp, x)


@lowers("aten.signbit")
def signbit(lower: StablehloLowering, x: Tensor) -> Tensor:
    """Whether the sign is minus, that of zeros and NaN included."""
    if promotion.is_float(x.dtype):
        bits = IntegerType(promotion.bit_width(x.dtype), Signedness.SIGNED)
        x = lower.op(hlo.BitcastConvertOp, [x], x.sizes, bits)
    if promotion.is_unsigned(x.dtype):
        return lower.splat(False, x.sizes, i1)
    return lower.compare("LT", x, 0)


# two operands


def needs_carry(lower: StablehloLowering, rest: Tensor, divisor: Tensor) -> Tensor:
    """Whether a remainder is not zero and has not the sign of the divisor."""
    signs = (lower.compare("LT", x, 0) for x in (rest, divisor))
    return lower.apply(hlo.AndOp, lower.compare("NE", rest, 0), lower.apply(hlo.XorOp, *signs))


def remainder(lower: StablehloLowering, x: Tensor, y: Tensor) -> Tensor:
    """``x - floor(x / y) * y``: of the sign of ``y``, exact."""
    rest = lower.apply(hlo.RemOp, x, y)
    if promotion.is_unsigned(x.dtype):
        return rest
    return lower.select(needs_carry(lower, rest, y), lower.apply(hlo.AddOp, rest, y), rest)


def floor_division(lower: StablehloLowering, x: Tensor, y: Tensor) -> Tensor:
    """``floor(x / y)``."""
    quotient = lower.apply(hlo.DivOp, x, y)
    if promotion.is_unsigned(x.dtype):
        return quotient
    rest = lower.apply(hlo.RemOp, x, y)
    if promotion.is_float(x.dtype):
        return _float_floor_division(lower, x, y, quotient, rest)
    carried = lower.apply(hlo.SubtractOp, quotient, 1)
    return lower.select(needs_carry(lower, rest, y), carried, quotient)


def _float_floor_division(
    lower: StablehloLowering, x: Tensor, y: Tensor, quotient: Tensor, rest: Tensor
) -> Tensor:
    """Python's ``//``, right where ``x / y`` rounds up: from the exact remainder, to the nearest whole number."""
    whole = lower.apply(hlo.DivOp, lower.apply(hlo.SubtractOp, x, rest), y)
    carried = lower.apply(hlo.SubtractOp, whole, 1)
    whole = lower.select(needs_carry(lower, rest, y), carried, whole)
    floor = lower.apply(hlo.FloorOp, whole)
    too_low = lower.compare("GT", lower.apply(hlo.SubtractOp, whole, floor), 0.5)
    nearest = lower.select(too_low, lower.apply(hlo.AddOp, floor, 1), floor)
    # a zero of the quotient's sign
    zero = lower.apply(hlo.MulOp, quotient, 0)
    result = lower.select(lower.compare("EQ", whole, 0), zero, nearest)
    return lower.select(lower.compare("EQ", y, 0), quotient, result)


def truncated_division(lower: StablehloLowering, x: Tensor, y: Tensor) -> Tensor:
    """``x / y`` rounded toward zero."""
    quotient = lower.apply(hlo.DivOp, x, y)
    return truncated(lower, quotient) if promotion.is_float(x.dtype) else quotient


BINARY: dict[str, Code] = {
    "aten.bitwise_and": hlo.AndOp,
    "aten.bitwise_or": hlo.OrOp,
    "aten.bitwise_xor": hlo.XorOp,
    "aten.div": hlo.DivOp,
    "aten.fmod": hlo.RemOp,
    "aten.mul": hlo.MulOp,
    "aten.remainder": remainder,
}
"""Ops on tensors and on numbers, computed in the type of their result."""

BINARY_ON_TENSORS: dict[str, Code] = {
    "aten.atan2": hlo.Atan2Op,
    # NaN where an operand is
    "aten.maximum": hlo.MaxOp,
    "aten.minimum": hlo.MinOp,
}
"""Ops on tensors, computed in the type of their result."""


def _binary(code: Code) -> Callable[[StablehloLowering, Operand, Operand], Tensor]:
    def lower_binary(lower: StablehloLowering, x: Operand, y: Operand) -> Tensor:
        return lower.elementwise(code, x, y, computed=lower.out.dtype)

    return lower_binary


for _name, _code in BINARY.items():
    lowers(f"{_name}.Tensor", f"{_name}.Scalar")(_binary(_code))
for _name, _code in BINARY_ON_TENSORS.items():
    lowers(_name)(_binary(_code))


def shift_left(lower: StablehloLowering, x: Tensor, count: Tensor) -> Tensor:
    """``x << count``; 0 for counts outside of the element."""
    shifted = lower.apply(hlo.ShiftLeftOp, x, count)
    return lower.select(_is_count(lower, x, count), shifted, 0)


def shift_right(lower: StablehloLowering, x: Tensor, count: Tensor) -> Tensor:
    """``x >> count`` with the sign coming in; nothing but the sign is left for counts outside of the element."""
    rest: Tensor | int = 0
    if not promotion.is_unsigned(x.dtype):
        last = promotion.bit_width(x.dtype) - 1
        rest = lower.apply(hlo.ShiftRightArithmeticOp, x, last)
    shifted = lower.apply(_right_shift(x), x, count)
    return lower.select(_is_count(lower, x, count), shifted, rest)


def _right_shift(x: Tensor) -> type[Operation]:
    unsigned = promotion.is_unsigned(x.dtype)
    return hlo.ShiftRightLogicalOp if unsigned else hlo.ShiftRightArithmeticOp


def _is_count(lower: StablehloLowering, x: Tensor, count: Tensor) -> Tensor:
    """Whether an element has so many bits to shift by."""
    below = lower.compare("LT", count, promotion.bit_width(x.dtype))
    if promotion.is_unsigned(count.dtype):
        return below
    return lower.apply(hlo.AndOp, lower.compare("GE", count, 0), below)


def _shift(
    by_constant: Code, by_tensor: Code
) -> Callable[[StablehloLowering, Operand, Operand], Tensor]:
    def lower_shift(lower: StablehloLowering, x: Operand, count: Operand) -> Tensor:
        dtype = lower.out.dtype
        inside = isinstance(count, int) and 0 <= count < promotion.bit_width(dtype)
        return lower.elementwise(by_constant if inside else by_tensor, x, count, computed=dtype)

    return lower_shift


def _shift_right_inside(lower: StablehloLowering, x: Tensor, count: Tensor) -> Tensor:
    return lower.apply(_right_shift(x), x, count)


SHIFTS: dict[str, tuple[Code, Code]] = {
    "aten.bitwise_left_shift": (hlo.ShiftLeftOp, shift_left),
    "aten.bitwise_right_shift": (_shift_right_inside, shift_right),
}
"""By a constant inside of the element, by anything."""

for _name, _how in SHIFTS.items():
    lowers(f"{_name}.Tensor", f"{_name}.Tensor_Scalar")(_shift(*_how))


@lowers("aten.add.Tensor", "aten.add.Scalar")
def add(lower: StablehloLowering, x: Operand, y: Operand, alpha: Operand) -> Tensor:
    """``x + alpha * y``."""
    return _sum(lower, hlo.AddOp, x, y, alpha)


@lowers("aten.sub.Tensor", "aten.sub.Scalar")
def sub(lower: StablehloLowering, x: Operand, y: Operand, alpha: Operand) -> Tensor:
    """``x - alpha * y``."""
    return _sum(lower, hlo.SubtractOp, x, y, alpha)


def _sum(
    lower: StablehloLowering, op_class: type[Operation], x: Operand, y: Operand, alpha: Operand
) -> Tensor:
    dtype = lower.out.dtype
    if alpha == 1:
        return lower.elementwise(op_class, x, y, computed=dtype)

    def scaled(lower: StablehloLowering, x: Tensor, y: Tensor, alpha: Tensor) -> Tensor:
        return lower.apply(op_class, x, lower.apply(hlo.MulOp, y, alpha))

    return lower.elementwise(scaled, x, y, alpha, computed=widened(dtype))


ROUNDING_MODES: dict[str | None, Code] = {
    None: hlo.DivOp,
    "floor": floor_division,
    "trunc": truncated_division,
}


@lowers("aten.div.Tensor_mode", "aten.div.Scalar_mode")
def div_mode(lower: StablehloLowering, x: Operand, y: Operand, rounding_mode: str | None) -> Tensor:
    """``x / y``, rounded down, toward zero or not."""
    code = ROUNDING_MODES[rounding_mode]
    return lower.elementwise(code, x, y, computed=widened(lower.out.dtype))


# powers

ROOTS: dict[float, Code] = {
    0.5: hlo.SqrtOp,
    -0.5: hlo.RsqrtOp,
    -1: lambda lower, x: lower.apply(hlo.DivOp, 1, x),
}
"""Exponents of real numbers that are an op of their own."""


def cube(lower: StablehloLowering, x: Tensor) -> Tensor:
    """``x * x * x``."""
    return lower.apply(hlo.MulOp, lower.apply(hlo.MulOp, x, x), x)


@lowers("aten.pow.Tensor_Tensor", "aten.pow.Tensor_Scalar", "aten.pow.Scalar")
def power(lower: StablehloLowering, x: Operand, exponent: Operand) -> Tensor:
    """``x ** exponent``; integers wrap around, and to a negative power are 0 unless ``x`` is 1 or -1."""
    dtype = lower.out.dtype
    match exponent:
        case 0:
            return lower.splat(1, lower.out.sizes, dtype)
        case 1:
            return lower.operand(x, dtype)
        case 2:
            return lower.elementwise(
                lambda lower, x: lower.apply(hlo.MulOp, x, x), x, computed=dtype
            )
        case 3:
            return lower.elementwise(cube, x, computed=widened(dtype))
        case int() | float() if exponent in ROOTS and not isinstance(dtype, IntegerType):
            return lower.elementwise(ROOTS[exponent], x, computed=dtype)
    return lower.elementwise(hlo.PowOp, x, exponent, computed=dtype)


# choosing and converting


@lowers("aten.where.self")
def where(
    lower: StablehloLowering, condition: Tensor, on_true: Operand, on_false: Operand
) -> Tensor:
    """Elementwise select; all three operands broadcast together."""
    out = lower.out
    chosen = [
        lower.broadcast_to(lower.operand(x, out.dtype), out.sizes) for x in (on_true, on_false)
    ]
    predicate = lower.cast(condition, i1)
    if predicate.rank:
        predicate = lower.broadcast_to(predicate, out.sizes)
    return lower.op(hlo.SelectOp, [predicate, *chosen], out.sizes, out.dtype)


@lowers("aten.clamp", "aten.clamp.Tensor")
def clamp(lower: StablehloLowering, x: Tensor, low: Operand | None, high: Operand | None) -> Tensor:
    """``min(max(x, low), high)``, NaN where an operand is; a bound may be missing."""
    out = lower.out
    if isinstance(low, Number) and isinstance(high, Number) and low == low and high == high:
        bounds = [lower.splat(bound, (), out.dtype) for bound in (low, high)]
        operands = [bounds[0], lower.cast(x, out.dtype), bounds[1]]
        return lower.op(hlo.ClampOp, operands, out.sizes, out.dtype)
    for op_class, bound in ((hlo.MaxOp, low), (hlo.MinOp, high)):
        if bound is not None:
            x = lower.elementwise(op_class, x, bound, computed=out.dtype)
    return x


@lowers("prims.convert_element_type")
def convert_element_type(lower: StablehloLowering, x: Tensor, dtype: int) -> Tensor:
    """``Tensor.to`` another element type."""
    return lower.cast(x, lower.out.dtype)


@lowers("aten.view.dtype")
def view_dtype(lower: StablehloLowering, x: Tensor, dtype: int) -> Tensor:
    """The bits of each element as one of another type of the same width."""
    wanted = lower.out.dtype
    if promotion.storage_bits(x.dtype) != promotion.storage_bits(wanted):
        lower.fail("the elements have another width")
    if promotion.is_bool(x.dtype) or promotion.is_bool(wanted):
        return lower.cast(x, wanted)
    return lower.op(hlo.BitcastConvertOp, [x], x.sizes, wanted)
