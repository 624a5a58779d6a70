"""Elementwise ops in Linalg-on-Tensors: the formula of each, on one element."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import IntegerType, Signedness, i1

from torch2mlir.conversion import promotion
from torch2mlir.conversion.lowering import Operand, Scalar, Tensor
from torch2mlir.conversion.torch_to_linalg.complex import FUNCTIONS as FUNCTIONS_OF_COMPLEX
from torch2mlir.conversion.torch_to_linalg.lowering import (
    LinalgLowering,
    ScalarCode,
    lowers,
    widened,
)
from torch2mlir.conversion.torch_to_linalg.scalars import Scalars, is_unsigned

UnaryLowering = Callable[[LinalgLowering, Tensor], Tensor]

# one operand


def sigmoid(s: Scalars, x: Scalar) -> Scalar:
    """``1 / (1 + exp(-x))``."""
    one = s.constant(1, x.dtype)
    return s("div", one, s("add", s("exp", s("neg", x)), one))


def reciprocal(s: Scalars, x: Scalar) -> Scalar:
    """``1 / x``."""
    return s("div", 1, x)


def absolute(s: Scalars, x: Scalar) -> Scalar:
    """``|x|``; the magnitude of complex numbers."""
    if promotion.is_complex(x.dtype):
        return s.magnitude(x)
    return x if is_unsigned(x.dtype) else s("abs", x)


def negative(s: Scalars, x: Scalar) -> Scalar:
    """``-x``; integers wrap around."""
    return s("sub", 0, x) if isinstance(x.dtype, IntegerType) else s("neg", x)


def sign(s: Scalars, x: Scalar) -> Scalar:
    """-1, 0 or 1; 0 for NaN."""
    if promotion.is_bool(x.dtype):
        return x
    zero, one = s.constant(0, x.dtype), s.constant(1, x.dtype)
    not_positive = zero if is_unsigned(x.dtype) else s.select(s.compare("lt", x, zero), -1, zero)
    return s.select(s.compare("gt", x, zero), one, not_positive)


def is_inf(s: Scalars, x: Scalar) -> Scalar:
    """Whether ``x``, or a part of it, is infinite; never for integers."""
    if promotion.is_complex(x.dtype):
        real, imaginary = s.parts(x)
        return s("or", is_inf(s, real), is_inf(s, imaginary))
    if not promotion.is_float(x.dtype):
        return s.constant(False, i1)
    return s.compare("eq", s("abs", x), math.inf)


def is_nan(s: Scalars, x: Scalar) -> Scalar:
    """Whether ``x``, or a part of it, is NaN; never for integers."""
    if isinstance(x.dtype, IntegerType):
        return s.constant(False, i1)
    return s.compare("ne", x, x)


def sign_bit(s: Scalars, x: Scalar) -> Scalar:
    """Whether the sign is minus, that of zeros and NaN included."""
    if promotion.is_float(x.dtype):
        x = s.bits(x, IntegerType(promotion.bit_width(x.dtype), Signedness.SIGNED))
    return s.constant(False, i1) if is_unsigned(x.dtype) else s.compare("lt", x, 0)


def bitwise_not(s: Scalars, x: Scalar) -> Scalar:
    """All bits inverted; the opposite of a boolean."""
    return s("xor", x, -1)


def log10(s: Scalars, x: Scalar) -> Scalar:
    """``log(x) / log(10)``: engines without a C library have no math.log10."""
    return s("div", s("log", x), math.log(10))


def rounding(word: str) -> ScalarCode:
    """A rounding function; integers are what they are."""
    return lambda s, x: x if isinstance(x.dtype, IntegerType) else s(word, x)


def function(word: str) -> ScalarCode:
    """A function that is one op, or of complex numbers a formula."""
    formula = FUNCTIONS_OF_COMPLEX.get(word)

    def build(s: Scalars, x: Scalar) -> Scalar | Sequence[Scalar]:
        if formula is not None and promotion.is_complex(x.dtype):
            return formula(s, x)
        return s(word, x)

    return build


def asinh(s: Scalars, x: Scalar) -> Scalar | Sequence[Scalar]:
    """``log(|x| + sqrt(x * x + 1))`` of the sign of ``x``, without cancellation near 0 and overflow of the square.

    IREE's ``math.asinh`` takes the logarithm of ``x`` itself.
    """
    if promotion.is_complex(x.dtype):
        return function("asinh")(s, x)
    size = s("abs", x)
    is_large = s.compare("gt", size, _SQUARE_ALONE)
    near = s.select(is_large, 1, size)
    square = s("mul", near, near)
    beyond = s("div", square, s("add", s("sqrt", s("add", square, 1)), 1))
    far = s("add", s("log", size), math.log(2))
    return s("copysign", s.select(is_large, far, s("log1p", s("add", near, beyond))), x)


def acosh(s: Scalars, x: Scalar) -> Scalar | Sequence[Scalar]:
    """``log(x + sqrt(x * x - 1))``, which is ``log(2 x)`` where the square would overflow."""
    if promotion.is_complex(x.dtype):
        return function("acosh")(s, x)
    is_large = s.compare("gt", x, _SQUARE_ALONE)
    near = s("acosh", s.select(is_large, 1, x))
    return s.select(is_large, s("add", s("log", x), math.log(2)), near)


_SQUARE_ALONE = 2.0**28
"""From here on ``x * x + 1`` is ``x * x``, in doubles too."""

FUNCTIONS = (
    "acos asin atan atanh cos cosh erf exp expm1 log log1p log2 rsqrt sin sinh sqrt tan tanh"
)
"""ATen ops that are a word of the same name."""

UNARY: dict[str, ScalarCode] = {
    **{f"aten.{name}": function(name) for name in FUNCTIONS.split()},
    "aten.acosh": acosh,
    "aten.asinh": asinh,
    "aten.ceil": rounding("ceil"),
    "aten.floor": rounding("floor"),
    "aten.trunc": rounding("trunc"),
    # halves go to the even neighbour
    "aten.round": rounding("roundeven"),
    "aten.log10": log10,
    "aten.sigmoid": sigmoid,
    "aten.reciprocal": reciprocal,
    "aten.neg": negative,
    "aten.sign": sign,
    "aten.bitwise_not": bitwise_not,
    "aten.relu": lambda s, x: s("max", x, 0),
}
"""Ops computed in the type of their result."""

OF_THE_OPERAND: dict[str, ScalarCode] = {
    "aten.abs": absolute,
    "aten.isinf": is_inf,
    "aten.isnan": is_nan,
    "aten.signbit": sign_bit,
    "aten.logical_not": lambda s, x: s.compare("eq", x, 0),
}
"""Ops computed in the type of their operand."""


def _unary(code: ScalarCode) -> UnaryLowering:
    def lower_unary(lower: LinalgLowering, x: Tensor) -> Tensor:
        return lower.elementwise(code, x, computed=widened(lower.out.dtype))

    return lower_unary


def _of_the_operand(code: ScalarCode) -> UnaryLowering:
    def lower_unary(lower: LinalgLowering, x: Tensor) -> Tensor:
        return lower.elementwise(code, x)

    return lower_unary


for _name, _code in UNARY.items():
    lowers(_name)(_unary(_code))
for _name, _code in OF_THE_OPERAND.items():
    lowers(_name)(_of_the_operand(_code))

# two operands


def addition(s: Scalars, x: Scalar, y: Scalar) -> Scalar:
    """``x + y``; of booleans, whether one of them holds."""
    return s("or" if promotion.is_bool(x.dtype) else "add", x, y)


def of_different_signs(s: Scalars, remainder: Scalar, y: Scalar) -> Scalar:
    """Whether a remainder is not zero and has not the sign of the divisor."""
    signs = s("xor", s.compare("lt", remainder, 0), s.compare("lt", y, 0))
    return s("and", s.compare("ne", remainder, 0), signs)


def remainder(s: Scalars, x: Scalar, y: Scalar) -> Scalar:
    """``x - floor(x / y) * y``: of the sign of ``y``, exact."""
    rest = s("rem", x, y)
    if is_unsigned(x.dtype):
        return rest
    return s.select(of_different_signs(s, rest, y), s("add", rest, y), rest)


def floor_division(s: Scalars, x: Scalar, y: Scalar) -> Scalar:
    """``floor(x / y)``; on floats the formula of Python's ``//``, which is right where ``x / y`` rounds up."""
    if is_unsigned(x.dtype):
        return s("div", x, y)
    if not promotion.is_float(x.dtype):
        quotient = s("div", x, y)
        return s.select(of_different_signs(s, s("rem", x, y), y), s("sub", quotient, 1), quotient)
    rest, quotient = s("rem", x, y), s("div", x, y)
    exact = s("div", s("sub", x, rest), y)
    exact = s.select(of_different_signs(s, rest, y), s("sub", exact, 1), exact)
    floor = s("floor", exact)
    nearest = s.select(s.compare("gt", s("sub", exact, floor), 0.5), s("add", floor, 1), floor)
    zero = s("copysign", s.constant(0, x.dtype), quotient)
    result = s.select(s.compare("eq", exact, 0), zero, nearest)
    return s.select(s.compare("eq", y, 0), quotient, result)


def truncated_division(s: Scalars, x: Scalar, y: Scalar) -> Scalar:
    """``x / y`` rounded toward zero."""
    quotient = s("div", x, y)
    return s("trunc", quotient) if promotion.is_float(x.dtype) else quotient


def two(word: str) -> ScalarCode:
    """A function of two operands that is one op."""
    return lambda s, x, y: s(word, x, y)


def atan2(s: Scalars, y: Scalar, x: Scalar) -> Scalar:
    """The angle of ``(x, y)``, of the sign of ``y``.

    IREE takes the arc tangent of the quotient: NaN for 0 / 0 and inf / inf, and without the sign of a zero.
    """
    rise = s("abs", y)
    infinite = s("and", is_inf(s, x), is_inf(s, y))
    none = s("and", s.compare("eq", x, 0), s.compare("eq", y, 0))
    x = s.select(s("or", infinite, none), s("copysign", 1, x), x)
    return s("copysign", s("atan2", s.select(infinite, 1, rise), x), y)


BINARY: dict[str, ScalarCode] = {
    "aten.mul": two("mul"),
    "aten.div": two("div"),
    "aten.fmod": two("rem"),
    "aten.remainder": remainder,
    "aten.bitwise_and": two("and"),
    "aten.bitwise_or": two("or"),
    "aten.bitwise_xor": two("xor"),
}
"""Ops on tensors and on numbers, computed in the type of their result."""

BINARY_ON_TENSORS: dict[str, ScalarCode] = {
    "aten.atan2": atan2,
    # NaN where an operand is
    "aten.maximum": two("max"),
    "aten.minimum": two("min"),
}
"""Ops on tensors, computed in the type of their result."""


def _binary(code: ScalarCode) -> Callable[..., Tensor]:
    def lower_binary(lower: LinalgLowering, x: Operand, y: Operand) -> Tensor:
        return lower.elementwise(code, x, y, computed=widened(lower.out.dtype))

    return lower_binary


for _name, _code in BINARY.items():
    lowers(f"{_name}.Tensor", f"{_name}.Scalar")(_binary(_code))
for _name, _code in BINARY_ON_TENSORS.items():
    lowers(_name)(_binary(_code))


def shift_left(s: Scalars, x: Scalar, count: Scalar) -> Scalar:
    """``x << count``; 0 for counts outside of the element, which arith leaves undefined."""
    return s.select(is_count(s, x, count), s("shl", x, count), 0)


def shift_right(s: Scalars, x: Scalar, count: Scalar) -> Scalar:
    """``x >> count`` with the sign coming in; nothing but the sign is left for counts outside of the element."""
    rest = s.constant(0, x.dtype)
    if not is_unsigned(x.dtype):
        rest = s("shr", x, promotion.bit_width(x.dtype) - 1)
    return s.select(is_count(s, x, count), s("shr", x, count), rest)


def is_count(s: Scalars, x: Scalar, count: Scalar) -> Scalar:
    """Whether an element has so many bits to shift by."""
    below = s.compare("lt", count, promotion.bit_width(x.dtype))
    return below if is_unsigned(count.dtype) else s("and", s.compare("ge", count, 0), below)


def _shift(word: str, of_tensors: ScalarCode) -> Callable[..., Tensor]:
    def lower_shift(lower: LinalgLowering, x: Operand, count: Operand) -> Tensor:
        dtype = lower.out.dtype
        constant = isinstance(count, int) and 0 <= count < promotion.bit_width(dtype)
        code = two(word) if constant else of_tensors
        return lower.elementwise(code, x, count, computed=dtype)

    return lower_shift


for _direction, _word, _code in (("left", "shl", shift_left), ("right", "shr", shift_right)):
    lowers(
        f"aten.bitwise_{_direction}_shift.Tensor", f"aten.bitwise_{_direction}_shift.Tensor_Scalar"
    )(_shift(_word, _code))


@lowers("aten.add.Tensor", "aten.add.Scalar")
def add(lower: LinalgLowering, x: Operand, y: Operand, alpha: Operand) -> Tensor:
    """``x + alpha * y``."""
    return _sum(lower, addition, x, y, alpha)


@lowers("aten.sub.Tensor", "aten.sub.Scalar")
def sub(lower: LinalgLowering, x: Operand, y: Operand, alpha: Operand) -> Tensor:
    """``x - alpha * y``."""
    return _sum(lower, two("sub"), x, y, alpha)


def _sum(lower: LinalgLowering, code: ScalarCode, x: Operand, y: Operand, alpha: Operand) -> Tensor:
    computed = widened(lower.out.dtype)
    if alpha == 1:
        return lower.elementwise(code, x, y, computed=computed)
    return lower.elementwise(
        lambda s, x, y, alpha: code(s, x, s("mul", y, alpha)), x, y, alpha, computed=computed
    )


ROUNDING_MODES: dict[str | None, ScalarCode] = {
    None: two("div"),
    "floor": floor_division,
    "trunc": truncated_division,
}


@lowers("aten.div.Tensor_mode", "aten.div.Scalar_mode")
def div_mode(lower: LinalgLowering, x: Operand, y: Operand, rounding_mode: str | None) -> Tensor:
    """``x / y``, rounded down, toward zero or not."""
    code = ROUNDING_MODES[rounding_mode]
    return lower.elementwise(code, x, y, computed=widened(lower.out.dtype))


def _comparison(predicate: str) -> Callable[..., Tensor]:
    def lower_comparison(lower: LinalgLowering, x: Operand, y: Operand) -> Tensor:
        computed = lower.computed_dtype(x, y)
        return lower.elementwise(
            lambda s, x, y: s.compare(predicate, x, y), x, y, computed=computed
        )

    return lower_comparison


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    lowers(f"aten.{_name}.Tensor", f"aten.{_name}.Scalar")(_comparison(_name))


def _logical(word: str) -> Callable[..., Tensor]:
    def lower_logical(lower: LinalgLowering, x: Operand, y: Operand) -> Tensor:
        return lower.elementwise(two(word), x, y, computed=i1)

    return lower_logical


for _name in ("and", "or", "xor"):
    lowers(f"aten.logical_{_name}")(_logical(_name))

# powers

SIMPLE_POWERS: dict[float, ScalarCode] = {
    0.5: function("sqrt"),
    1: lambda s, x: x,
    2: lambda s, x: s("mul", x, x),
    3: lambda s, x: s("mul", s("mul", x, x), x),
    -0.5: function("rsqrt"),
    -1: reciprocal,
    -2: lambda s, x: s("div", 1, s("mul", x, x)),
}
"""Exponents PyTorch's own kernel treats apart."""

INTEGER_POWERS: dict[float, ScalarCode] = {
    exponent: SIMPLE_POWERS[exponent] for exponent in (1, 2, 3)
}
LARGEST_WHOLE_POWER = 64
"""Up to here a power is better multiplied than computed by logarithms."""


@lowers("aten.pow.Tensor_Scalar")
def power_of_number(lower: LinalgLowering, x: Tensor, exponent: Operand) -> Tensor:
    """``x ** exponent``, by multiplication for small whole exponents."""
    dtype = widened(lower.out.dtype)
    if exponent == 0:
        return lower.splat(1, lower.out.sizes, lower.out.dtype)
    if not isinstance(exponent, int | float):
        return power(lower, x, exponent)
    simple = INTEGER_POWERS if isinstance(dtype, IntegerType) else SIMPLE_POWERS
    if exponent in simple:
        return lower.elementwise(simple[exponent], x, computed=dtype)
    if promotion.is_float(dtype):
        if float(exponent).is_integer() and abs(exponent) <= LARGEST_WHOLE_POWER:
            whole = int(exponent)
            return lower.elementwise(lambda s, x: s.whole_power(x, whole), x, computed=dtype)
        return lower.elementwise(two("pow"), x, exponent, computed=dtype)
    return power(lower, x, exponent)


@lowers("aten.pow.Tensor_Tensor", "aten.pow.Scalar")
def power(lower: LinalgLowering, x: Operand, exponent: Operand) -> Tensor:
    """``x ** exponent`` in the type of the result."""
    dtype = widened(lower.out.dtype)
    if isinstance(dtype, IntegerType):
        code: ScalarCode = integer_power
    elif promotion.is_complex(dtype) or (isinstance(x, int | float) and x > 1):
        code = two("pow")
    else:
        code = float_power
    return lower.elementwise(code, x, exponent, computed=dtype)


def float_power(s: Scalars, x: Scalar, exponent: Scalar) -> Scalar:
    """C's ``pow``: a negative number has whole powers only, and 1 is what it is to any power, NaN included.

    math.powf says the same, but engines compute it as ``exp(exponent * log(x))``, which is for positive numbers.
    """
    magnitude = s("abs", x)
    size = s.select(s.compare("eq", magnitude, 1), 1, s("pow", magnitude, exponent))
    size = s.select(s.compare("eq", exponent, 0), 1, size)
    whole = s.compare("eq", s("floor", exponent), exponent)
    half = s("mul", exponent, 0.5)
    odd = s("and", whole, s.compare("ne", s("floor", half), half))
    negative = s.select(odd, s("copysign", size, x), size)
    finite = s("and", s.compare("lt", x, 0), s.compare("ne", magnitude, math.inf))
    undefined = s("and", finite, s.not_(whole))
    return s.select(undefined, math.nan, negative)


def integer_power(s: Scalars, x: Scalar, exponent: Scalar) -> Scalar:
    """By repeated squaring, a step for each bit of the exponent; the negative exponents apart."""
    result: Scalar = s.constant(1, x.dtype)
    square, width = x, promotion.bit_width(x.dtype)
    for bit in range(width if is_unsigned(x.dtype) else width - 1):
        if bit:
            square = s("mul", square, square)
        mask = s("and", exponent, 1 << bit)
        result = s.select(s.compare("ne", mask, 0), s("mul", result, square), result)
    if is_unsigned(x.dtype):
        return result
    odd = s.compare("ne", s("and", exponent, 1), 0)
    inverse = s.select(s.compare("eq", x, 1), 1, s.constant(0, x.dtype))
    of_minus_one = s.select(odd, -1, s.constant(1, x.dtype))
    inverse = s.select(s.compare("eq", x, -1), of_minus_one, inverse)
    return s.select(s.compare("lt", exponent, 0), inverse, result)


# choosing and converting


@lowers("aten.where.self")
def where(lower: LinalgLowering, condition: Tensor, on_true: Tensor, on_false: Tensor) -> Tensor:
    """Elementwise select; all three operands broadcast together."""
    dtype = lower.out.dtype

    def build(s: Scalars, c: Scalar, x: Scalar, y: Scalar) -> Scalar:
        return s.select(s.cast(c, i1), s.cast(x, dtype), s.cast(y, dtype))

    return lower.elementwise(build, condition, on_true, on_false)


@lowers("aten.clamp", "aten.clamp.Tensor")
def clamp(lower: LinalgLowering, x: Tensor, low: Operand | None, high: Operand | None) -> Tensor:
    """``min(max(x, low), high)``, NaN where an operand is; a bound may be missing."""
    bounds = [(word, bound) for word, bound in (("max", low), ("min", high)) if bound is not None]

    def build(s: Scalars, x: Scalar, *limits: Scalar) -> Scalar:
        for (word, _), limit in zip(bounds, limits, strict=True):
            x = s(word, x, limit)
        return x

    return lower.elementwise(build, x, *(bound for _, bound in bounds), computed=lower.out.dtype)


@lowers("prims.convert_element_type")
def convert_element_type(lower: LinalgLowering, x: Tensor, dtype: Any) -> Tensor:
    """``Tensor.to`` another element type."""
    return lower.cast(x, lower.out.dtype)


@lowers("aten.view.dtype")
def view_dtype(lower: LinalgLowering, x: Tensor, dtype: Any) -> Tensor:
    """The bits of each element as one of another type of the same width."""
    wanted = lower.out.dtype
    if promotion.storage_bits(x.dtype) != promotion.storage_bits(wanted):
        lower.fail("the elements have another width")
    if promotion.is_bool(x.dtype) or promotion.is_bool(wanted):
        return lower.cast(x, wanted)
    return lower.elementwise(lambda s, element: s.bits(element, wanted), x, computed=x.dtype)
