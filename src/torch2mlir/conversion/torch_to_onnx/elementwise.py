"""Elementwise arithmetic in ONNX: one op each, or a formula of a few."""

from __future__ import annotations

import math
from collections.abc import Callable

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerType, Signedness, i1
from xdsl.ir import Attribute

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import si64, widened
from torch2mlir.conversion.lowering import Number, Operand, Tensor
from torch2mlir.conversion.torch_to_onnx.lowering import Code, OnnxLowering, lowers

ui64 = IntegerType(64, Signedness.UNSIGNED)

# one operand


def sign(lower: OnnxLowering, x: Tensor) -> Tensor:
    """-1, 0 or 1; 0 for NaN."""
    if not element_types.is_float(x.dtype):
        return lower.apply("Sign", x)
    positive, negative = lower.compare("Greater", x, 0), lower.compare("Less", x, 0)
    return lower.apply("Sub", lower.cast(positive, x.dtype), lower.cast(negative, x.dtype))


def truncated(lower: OnnxLowering, x: Tensor) -> Tensor:
    """Rounded toward zero."""
    up, down = lower.apply("Ceil", x), lower.apply("Floor", x)
    return lower.select(lower.compare("Less", x, 0), up, down)


def rounding(code: Code) -> Callable[[OnnxLowering, Tensor], Tensor]:
    """A rounding function; integers are what they are."""

    def round_(lower: OnnxLowering, x: Tensor) -> Tensor:
        return x if isinstance(x.dtype, IntegerType) else lower.apply(code, x)

    return round_


def logarithm(base: int) -> Callable[[OnnxLowering, Tensor], Tensor]:
    """``log(x) / log(base)``."""

    def log(lower: OnnxLowering, x: Tensor) -> Tensor:
        return lower.apply("Div", lower.apply("Log", x), math.log(base))

    return log


def bitwise_not(lower: OnnxLowering, x: Tensor) -> Tensor:
    """All bits turned over; of booleans, the other one."""
    return lower.apply("Not" if element_types.is_bool(x.dtype) else "BitwiseNot", x)


def negation(lower: OnnxLowering, x: Tensor) -> Tensor:
    """``-x``; ONNX negates no unsigned integers, which wrap around."""
    return lower.apply("Sub", 0, x) if element_types.is_unsigned(x.dtype) else lower.apply("Neg", x)


def expm1(lower: OnnxLowering, x: Tensor) -> Tensor:
    """``(u - 1) * x / log(u)`` with ``u = e**x`` as rounded, which cancels the rounding (Kahan).

    ``x`` itself where ``u`` is 1, ``u - 1`` where that is -1 or infinite.
    """
    u = lower.apply("Exp", x)
    excess = lower.apply("Sub", u, 1)
    corrected = lower.apply("Mul", excess, lower.apply("Div", x, lower.apply("Log", u)))
    far = lower.apply("Or", lower.compare("Equal", excess, -1), lower.compare("Equal", u, math.inf))
    rest = lower.select(far, excess, corrected)
    return lower.select(lower.compare("Equal", excess, 0), x, rest)


def log1p(lower: OnnxLowering, x: Tensor) -> Tensor:
    """``log(u) * x / (u - 1)`` with ``u = 1 + x`` as rounded, which cancels the rounding (Kahan).

    ``x`` itself where ``u`` is 1, ``log(u)`` where ``u`` is ``x``, infinity included.
    """
    u = lower.apply("Add", x, 1)
    excess, log = lower.apply("Sub", u, 1), lower.apply("Log", u)
    corrected = lower.apply("Mul", log, lower.apply("Div", x, excess))
    large = lower.select(lower.compare("Equal", u, x), log, corrected)
    return lower.select(lower.compare("Equal", excess, 0), x, large)


UNARY: dict[str, Code] = {
    "aten.acos": "Acos",
    "aten.acosh": "Acosh",
    "aten.asin": "Asin",
    "aten.asinh": "Asinh",
    "aten.atan": "Atan",
    "aten.atanh": "Atanh",
    "aten.bitwise_not": bitwise_not,
    "aten.ceil": rounding("Ceil"),
    "aten.cos": "Cos",
    "aten.cosh": "Cosh",
    "aten.erf": "Erf",
    "aten.exp": "Exp",
    "aten.floor": rounding("Floor"),
    "aten.log": "Log",
    "aten.neg": negation,
    "aten.reciprocal": "Reciprocal",
    "aten.relu": lambda lower, x: (
        lower.apply("Relu", x) if element_types.is_float(x.dtype) else lower.apply("Max", x, 0)
    ),
    # halves go to the even neighbour
    "aten.round": rounding("Round"),
    "aten.sigmoid": "Sigmoid",
    "aten.sign": sign,
    "aten.sin": "Sin",
    "aten.sinh": "Sinh",
    "aten.sqrt": "Sqrt",
    "aten.tan": "Tan",
    "aten.tanh": "Tanh",
    "aten.trunc": rounding(truncated),
}
"""Ops computed in the type of their result: integers are converted before a function of real numbers."""

WIDENED_UNARY: dict[str, Code] = {
    "aten.expm1": expm1,
    "aten.log10": logarithm(10),
    "aten.log1p": log1p,
    "aten.log2": logarithm(2),
    "aten.rsqrt": lambda lower, x: lower.apply("Reciprocal", lower.apply("Sqrt", x)),
}
"""Formulas that round more than once, so half floats are computed in f32."""


def _unary(code: Code) -> Callable[[OnnxLowering, Tensor], Tensor]:
    def lower_unary(lower: OnnxLowering, x: Tensor) -> Tensor:
        return lower.elementwise(code, x, computed=lower.out.dtype)

    return lower_unary


def _widened_unary(code: Code) -> Callable[[OnnxLowering, Tensor], Tensor]:
    def lower_unary(lower: OnnxLowering, x: Tensor) -> Tensor:
        return lower.elementwise(code, x, computed=widened(lower.out.dtype))

    return lower_unary


for _name, _code in UNARY.items():
    lowers(_name)(_unary(_code))
for _name, _code in WIDENED_UNARY.items():
    lowers(_name)(_widened_unary(_code))


@lowers("aten.abs")
def abs_(lower: OnnxLowering, x: Tensor) -> Tensor:
    """``|x|``."""
    if element_types.is_unsigned(x.dtype):
        return x
    if element_types.is_float(x.dtype):
        return lower.apply("Abs", x)
    return lower.apply("Max", x, lower.apply("Neg", x))  # OpenVINO folds Abs of integers to them


# two operands


def integer_divisor(lower: OnnxLowering, x: Tensor, y: Tensor) -> Tensor:
    """A divisor that processors take: 1 where it is 0, which PyTorch refuses, or the least number's -1.

    A division of integers that a processor does not take ends the process in ONNX Runtime.
    """
    if element_types.is_float(x.dtype) or _is_harmless_divisor(y):
        return y
    refused = lower.compare("Equal", y, 0)
    if not element_types.is_unsigned(x.dtype):
        least = lower.compare("Equal", x, element_types.lowest(x.dtype))
        overflow = lower.apply("And", least, lower.compare("Equal", y, -1))
        refused = lower.apply("Or", refused, overflow)
    return lower.select(refused, 1, y)


def _is_harmless_divisor(y: Tensor) -> bool:
    """Whether a divisor is a constant that is neither 0 nor -1."""
    value = getattr(y.value.owner, "properties", {}).get("value")
    if y.rank or not isinstance(value, DenseIntOrFPElementsAttr):
        return False
    return value.get_values()[0] not in (0, -1)


def quotient(lower: OnnxLowering, x: Tensor, y: Tensor) -> Tensor:
    """``x / y``, of integers toward zero."""
    return lower.apply("Div", x, integer_divisor(lower, x, y))


def fmod(lower: OnnxLowering, x: Tensor, y: Tensor) -> Tensor:
    """The rest of a division toward zero: of the sign of ``x``."""
    if element_types.is_float(x.dtype):
        return lower.apply("Mod", x, y, fmod=1)
    divisor = integer_divisor(lower, x, y)  # ONNX Runtime's rest of integers rounds to 53 bits
    whole = lower.apply("Mul", lower.apply("Div", x, divisor), divisor)
    return lower.apply("Sub", x, whole)


def needs_carry(lower: OnnxLowering, rest: Tensor, divisor: Tensor) -> Tensor:
    """Whether a remainder is not zero and has not the sign of the divisor."""
    signs = (lower.compare("Less", x, 0) for x in (rest, divisor))
    whole = lower.compare("Equal", rest, 0)
    return lower.apply("And", lower.apply("Not", whole), lower.apply("Xor", *signs))


def remainder(lower: OnnxLowering, x: Tensor, y: Tensor) -> Tensor:
    """``x - floor(x / y) * y``: of the sign of ``y``, exact."""
    if not element_types.is_float(x.dtype):
        return lower.apply("Mod", x, integer_divisor(lower, x, y))
    rest = fmod(lower, x, y)
    return lower.select(needs_carry(lower, rest, y), lower.apply("Add", rest, y), rest)


def floor_division(lower: OnnxLowering, x: Tensor, y: Tensor) -> Tensor:
    """``floor(x / y)``."""
    if element_types.is_float(x.dtype):
        return _float_floor_division(lower, x, y)
    if element_types.is_unsigned(x.dtype):
        return quotient(lower, x, y)
    rest = fmod(lower, x, y)
    whole = quotient(lower, x, y)
    carried = lower.apply("Sub", whole, 1)
    return lower.select(needs_carry(lower, rest, y), carried, whole)


def _float_floor_division(lower: OnnxLowering, x: Tensor, y: Tensor) -> Tensor:
    """Python's ``//``, right where ``x / y`` rounds up: from the exact remainder, to the nearest whole number."""
    exact, rest = lower.apply("Div", x, y), fmod(lower, x, y)
    whole = lower.apply("Div", lower.apply("Sub", x, rest), y)
    carried = lower.apply("Sub", whole, 1)
    whole = lower.select(needs_carry(lower, rest, y), carried, whole)
    floor = lower.apply("Floor", whole)
    too_low = lower.compare("Greater", lower.apply("Sub", whole, floor), 0.5)
    nearest = lower.select(too_low, lower.apply("Add", floor, 1), floor)
    # a zero of the quotient's sign
    zero = lower.apply("Mul", exact, 0)
    result = lower.select(lower.compare("Equal", whole, 0), zero, nearest)
    return lower.select(lower.compare("Equal", y, 0), exact, result)


def truncated_division(lower: OnnxLowering, x: Tensor, y: Tensor) -> Tensor:
    """``x / y`` rounded toward zero."""
    whole = quotient(lower, x, y)
    return truncated(lower, whole) if element_types.is_float(x.dtype) else whole


def bitwise(on_booleans: str, on_integers: str) -> Code:
    """A bitwise operator; ONNX has others of the same meaning for booleans."""

    def code(lower: OnnxLowering, x: Tensor, y: Tensor) -> Tensor:
        return lower.apply(on_booleans if element_types.is_bool(x.dtype) else on_integers, x, y)

    return code


def product(lower: OnnxLowering, x: Tensor, y: Tensor) -> Tensor:
    """``x * y``; of booleans, both."""
    return lower.apply("And" if element_types.is_bool(x.dtype) else "Mul", x, y)


BINARY: dict[str, Code] = {
    "aten.bitwise_and": bitwise("And", "BitwiseAnd"),
    "aten.bitwise_or": bitwise("Or", "BitwiseOr"),
    "aten.bitwise_xor": bitwise("Xor", "BitwiseXor"),
    "aten.div": quotient,
    "aten.fmod": fmod,
    "aten.mul": product,
    "aten.remainder": remainder,
}
"""Ops on tensors and on numbers, computed in the type of their result."""


def is_negative(lower: OnnxLowering, x: Tensor) -> Tensor:
    """Whether the sign is minus, that of zero included."""
    below = lower.compare("Less", lower.apply("Reciprocal", x), 0)
    zero = lower.apply("And", lower.compare("Equal", x, 0), below)
    return lower.apply("Or", lower.compare("Less", x, 0), zero)


@lowers("aten.signbit")
def signbit(lower: OnnxLowering, x: Tensor) -> Tensor:
    """Whether the sign is minus, that of zeros and NaNs included."""
    if not element_types.is_float(x.dtype):
        return lower.cast(lower.compare("Less", lower.cast(x, si64), 0), i1)
    bits = IntegerType(element_types.bit_width(x.dtype), Signedness.SIGNED)
    whole = lower.node("BitCast", x, sizes=x.sizes, dtype=bits, to=lower.element_type(bits))
    return lower.compare("Less", whole, 0)


def atan2(lower: OnnxLowering, y: Tensor, x: Tensor) -> Tensor:
    """The angle of the point ``(x, y)``: from the arc tangent of a quotient up to 1; zeros count by their sign."""
    height, width = lower.apply("Abs", y), lower.apply("Abs", x)
    smaller, larger = lower.apply("Min", height, width), lower.apply("Max", height, width)
    equal = lower.compare("Equal", smaller, larger)
    ratio = lower.select(equal, 1, lower.apply("Div", smaller, larger))
    ratio = lower.select(lower.compare("Equal", larger, 0), 0, ratio)
    angle = lower.apply("Atan", ratio)
    steep = lower.compare("Greater", height, width)
    angle = lower.select(
        steep, lower.apply("Sub", lower.splat(math.pi / 2, (), x.dtype), angle), angle
    )
    back = lower.apply("Sub", lower.splat(math.pi, (), x.dtype), angle)
    full = lower.select(is_negative(lower, x), back, angle)
    result = lower.select(is_negative(lower, y), lower.apply("Neg", full), full)
    undefined = lower.apply(
        "Or", lower.apply("IsNaN", x, dtype=i1), lower.apply("IsNaN", y, dtype=i1)
    )
    return lower.select(undefined, math.nan, result)


BINARY_ON_TENSORS: dict[str, Code] = {
    "aten.atan2": atan2,
    # NaN where an operand is
    "aten.maximum": bitwise("Or", "Max"),
    "aten.minimum": bitwise("And", "Min"),
}
"""Ops on tensors, computed in the type of their result; formulas in f32 for half floats."""


def _binary(
    code: Code, computed_in: Callable[[Attribute], Attribute]
) -> Callable[[OnnxLowering, Operand, Operand], Tensor]:
    def lower_binary(lower: OnnxLowering, x: Operand, y: Operand) -> Tensor:
        return lower.elementwise(code, x, y, computed=computed_in(lower.out.dtype))

    return lower_binary


for _name, _code in BINARY.items():
    lowers(f"{_name}.Tensor", f"{_name}.Scalar")(_binary(_code, lambda dtype: dtype))
for _name, _code in BINARY_ON_TENSORS.items():
    lowers(_name)(_binary(_code, widened))

# shifts, which ONNX has of unsigned integers


def _shifted(lower: OnnxLowering, x: Tensor, count: Tensor, direction: str) -> Tensor:
    """``x`` shifted as 64 bits without a sign; counts outside of them are held inside."""
    inside = lower.apply("Min", lower.apply("Max", count, 0), 63)
    bits = [lower.cast(each, ui64) for each in (x, inside)]
    return lower.cast(lower.apply("BitShift", *bits, direction=direction), x.dtype)


def shift_left(lower: OnnxLowering, x: Tensor, count: Tensor) -> Tensor:
    """``x << count``; 0 for counts outside of the element."""
    shifted = _shifted(lower, x, count, "LEFT")
    return lower.select(_is_count(lower, x, count), shifted, 0)


def shift_right(lower: OnnxLowering, x: Tensor, count: Tensor) -> Tensor:
    """``x >> count`` with the sign coming in; nothing but the sign is left for counts outside of the element.

    A negative number is turned over before and after: then zeros come in.
    """
    if element_types.is_unsigned(x.dtype):
        shifted = _shifted(lower, x, count, "RIGHT")
        return lower.select(_is_count(lower, x, count), shifted, 0)
    negative = lower.compare("Less", x, 0)
    positive = lower.select(negative, lower.apply("BitwiseNot", x), x)
    shifted = _shifted(lower, positive, count, "RIGHT")
    shifted = lower.select(_is_count(lower, x, count), shifted, 0)
    return lower.select(negative, lower.apply("BitwiseNot", shifted), shifted)


def _is_count(lower: OnnxLowering, x: Tensor, count: Tensor) -> Tensor:
    """Whether an element has so many bits to shift by."""
    below = lower.compare("Less", count, element_types.bit_width(x.dtype))
    if element_types.is_unsigned(count.dtype):
        return below
    return lower.apply("And", lower.compare("GreaterOrEqual", count, 0), below)


for _name, _code in {"left": shift_left, "right": shift_right}.items():
    _names = (f"aten.bitwise_{_name}_shift.{overload}" for overload in ("Tensor", "Tensor_Scalar"))
    lowers(*_names)(_binary(_code, lambda dtype: dtype))


@lowers("aten.add.Tensor", "aten.add.Scalar")
def add(lower: OnnxLowering, x: Operand, y: Operand, alpha: Operand) -> Tensor:
    """``x + alpha * y``; of booleans, either."""
    return _sum(lower, "Add", x, y, alpha)


@lowers("aten.sub.Tensor", "aten.sub.Scalar")
def sub(lower: OnnxLowering, x: Operand, y: Operand, alpha: Operand) -> Tensor:
    """``x - alpha * y``."""
    return _sum(lower, "Sub", x, y, alpha)


def _sum(lower: OnnxLowering, name: str, x: Operand, y: Operand, alpha: Operand) -> Tensor:
    dtype = lower.out.dtype
    if element_types.is_bool(dtype):
        name = {"Add": "Or", "Sub": "Xor"}[name]
    if alpha == 1:
        return lower.elementwise(name, x, y, computed=dtype)

    def scaled(lower: OnnxLowering, x: Tensor, y: Tensor, alpha: Tensor) -> Tensor:
        return lower.apply(name, x, lower.apply(product, y, alpha))

    return lower.elementwise(scaled, x, y, alpha, computed=widened(dtype))


ROUNDING_MODES: dict[str | None, Code] = {
    None: quotient,
    "floor": floor_division,
    "trunc": truncated_division,
}


@lowers("aten.div.Tensor_mode", "aten.div.Scalar_mode")
def div_mode(lower: OnnxLowering, x: Operand, y: Operand, rounding_mode: str | None) -> Tensor:
    """``x / y``, rounded down, toward zero or not."""
    code = ROUNDING_MODES[rounding_mode]
    return lower.elementwise(code, x, y, computed=widened(lower.out.dtype))


# powers

ROOTS: dict[float, Code] = {
    0.5: "Sqrt",
    -0.5: WIDENED_UNARY["aten.rsqrt"],
    -1: "Reciprocal",
}
"""Exponents of real numbers that are an op of their own."""


@lowers("aten.pow.Tensor_Tensor", "aten.pow.Tensor_Scalar", "aten.pow.Scalar")
def power(lower: OnnxLowering, x: Operand, exponent: Operand) -> Tensor:
    """``x ** exponent``; integers wrap around, and to a negative power are 0 unless ``x`` is 1 or -1."""
    dtype = lower.out.dtype
    if isinstance(exponent, int | float):
        if exponent in ROOTS and element_types.is_float(dtype):
            return lower.elementwise(ROOTS[exponent], x, computed=widened(dtype))
        if exponent == int(exponent) and 0 <= exponent <= (
            3 if element_types.is_float(dtype) else 64
        ):
            count = int(exponent)
            return lower.elementwise(
                lambda lower, x: product_power(lower, x, count), x, computed=widened(dtype)
            )
    if element_types.is_float(dtype):
        return lower.elementwise("Pow", x, exponent, computed=widened(dtype))
    return lower.elementwise(integer_power, x, exponent, computed=dtype)


def product_power(lower: OnnxLowering, x: Tensor, exponent: int) -> Tensor:
    """By squaring."""
    result: Tensor | None = None
    while exponent:
        if exponent & 1:
            result = x if result is None else lower.apply(product, result, x)
        exponent >>= 1
        if exponent:
            x = lower.apply(product, x, x)
    return lower.splat(1, (), x.dtype) if result is None else result


def integer_power(lower: OnnxLowering, x: Tensor, exponent: Tensor) -> Tensor:
    """By squaring, wrapping around: ONNX Runtime's ``Pow`` of integers rounds to 53 bits."""
    one: Tensor = lower.splat(1, (), x.dtype)
    result, factor = one, x

    def bit_of(bit: int) -> Tensor:
        return lower.cast(lower.apply("BitwiseAnd", exponent, 1 << bit), i1)

    unsigned = element_types.is_unsigned(x.dtype)
    for bit in range(element_types.bit_width(x.dtype) - (not unsigned)):
        result = lower.select(bit_of(bit), lower.apply("Mul", result, factor), result)
        factor = lower.apply("Mul", factor, factor)
    if unsigned:
        return result
    alternating = lower.select(bit_of(0), x, one)
    rest = lower.select(lower.compare("Equal", x, -1), alternating, 0)
    fraction = lower.select(lower.compare("Equal", x, 1), one, rest)
    return lower.select(lower.compare("Less", exponent, 0), fraction, result)


# choosing and converting


@lowers("aten.where.self")
def where(lower: OnnxLowering, condition: Tensor, on_true: Operand, on_false: Operand) -> Tensor:
    """Elementwise select; all three operands broadcast together."""
    out = lower.out
    branches = [lower.operand(x, out.dtype) for x in (on_true, on_false)]
    chosen = lower.select(lower.cast(condition, i1), *branches)
    return lower.broadcast_to(chosen, out.sizes)


@lowers("aten.clamp", "aten.clamp.Tensor")
def clamp(lower: OnnxLowering, x: Tensor, low: Operand | None, high: Operand | None) -> Tensor:
    """``min(max(x, low), high)``, NaN where an operand is; a bound may be missing."""
    out = lower.out
    if isinstance(low, Number) and isinstance(high, Number) and low <= high:  # type: ignore[operator]
        bounds = [lower.splat(bound, (), out.dtype) for bound in (low, high)]
        operands = [lower.cast(x, out.dtype), *bounds]
        return lower.node("Clip", *operands, sizes=out.sizes, dtype=out.dtype)
    for name, bound in (("Max", low), ("Min", high)):
        if bound is not None:
            x = lower.elementwise(name, x, bound, computed=out.dtype)
    return lower.cast(x, out.dtype)


@lowers("prims.convert_element_type")
def convert_element_type(lower: OnnxLowering, x: Tensor, dtype: int) -> Tensor:
    """``Tensor.to`` another element type."""
    return lower.cast(x, lower.out.dtype)


@lowers("aten.view.dtype")
def view_dtype(lower: OnnxLowering, x: Tensor, dtype: int) -> Tensor:
    """The bits of each element as one of another type of the same width."""
    wanted = lower.out.dtype
    if element_types.storage_bits(x.dtype) != element_types.storage_bits(wanted):
        lower.fail("the elements have another width")
    if element_types.is_bool(x.dtype) or element_types.is_bool(wanted):
        return lower.cast(x, wanted)
    if element_types.is_float(x.dtype) == element_types.is_float(wanted):
        return lower.cast(x, wanted)  # an integer of the other signedness
    return lower.node("BitCast", x, sizes=x.sizes, dtype=wanted, to=lower.element_type(wanted))
