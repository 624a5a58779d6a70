"""Facts about the element types of the torch dialect: kinds, bits, bounds."""

from __future__ import annotations

import math
import struct
from typing import TypeGuard

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    ComplexType,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    Signedness,
    f32,
    i1,
)
from xdsl.ir import Attribute

si64 = IntegerType(64, Signedness.SIGNED)
si32 = IntegerType(32, Signedness.SIGNED)

Float = Float16Type | BFloat16Type | Float32Type | Float64Type


def is_float(dtype: Attribute) -> TypeGuard[Float]:
    """Whether elements are real floating-point numbers."""
    return isinstance(dtype, Float)


def is_complex(dtype: Attribute) -> TypeGuard[ComplexType[Float]]:
    """Whether elements are complex."""
    return isinstance(dtype, ComplexType)


def part_of(dtype: Attribute) -> Attribute:
    """The element type of the parts of complex elements."""
    assert is_complex(dtype)
    return dtype.element_type


def is_bool(dtype: Attribute) -> bool:
    """Whether elements are booleans."""
    return dtype == i1


def is_integer(dtype: Attribute) -> TypeGuard[IntegerType]:
    """Whether elements are integers, not booleans."""
    return isinstance(dtype, IntegerType) and dtype != i1


def is_unsigned(dtype: Attribute) -> bool:
    """Whether elements are unsigned integers or booleans."""
    return dtype == i1 or (
        isinstance(dtype, IntegerType) and dtype.signedness.data == Signedness.UNSIGNED
    )


def bit_width(dtype: Attribute) -> int:
    """Bits of one element."""
    if isinstance(dtype, ComplexType):
        return 2 * bit_width(dtype.element_type)
    if isinstance(dtype, IntegerType):
        return dtype.width.data
    if isinstance(dtype, AnyFloat):
        return dtype.bitwidth
    raise ValueError(f"{dtype} is not an element type")


def storage_bits(dtype: Attribute) -> int:
    """Bits of one element in PyTorch's memory, where a boolean is a byte."""
    return 8 if is_bool(dtype) else bit_width(dtype)


def lowest(dtype: Attribute) -> float | int:
    """The least element, with which a maximum starts."""
    if is_float(dtype):
        return -math.inf
    return 0 if is_unsigned(dtype) else -(1 << (bit_width(dtype) - 1))


def highest(dtype: Attribute) -> float | int:
    """The greatest element, with which a minimum starts."""
    if is_float(dtype):
        return math.inf
    return (1 << (bit_width(dtype) - (not is_unsigned(dtype)))) - 1


def category(dtype: Attribute) -> int:
    """0 bool, 1 integer, 2 float, 3 complex."""
    if is_bool(dtype):
        return 0
    return 1 if is_integer(dtype) else 2 if is_float(dtype) else 3


def whole(dtype: IntegerType) -> IntegerType:
    """The integers that floats become on their way to ``dtype``: narrow ones wrap around, as in PyTorch's kernels."""
    if is_unsigned(dtype) or bit_width(dtype) == 64:
        return si64
    return IntegerType(32, dtype.signedness)


def widened(dtype: Attribute) -> Attribute:
    """What sums and formulas of an element type are computed in: f32 for half floats, as PyTorch does on CPU."""
    return f32 if isinstance(dtype, Float16Type | BFloat16Type) else dtype


def in_range(value: float, dtype: Float) -> float:
    """A number as far as an element type holds it: infinite where it is too large, as PyTorch converts it."""
    if isinstance(dtype, Float64Type) or abs(value) < _TOO_LARGE[type(dtype)]:
        return value
    return math.nan if math.isnan(value) else math.copysign(math.inf, value)


_TOO_LARGE = {
    Float16Type: 65520.0,
    BFloat16Type: float.fromhex("0x1.ffp127"),
    Float32Type: float.fromhex("0x1.ffffffp127"),
}
"""The first numbers that are rounded to infinity: half a unit of the last place above the largest of a type."""


def neutral(word: str, dtype: Attribute) -> bool | float | int:
    """The element that changes nothing: what combining elements by ``add mul max min or and`` starts from."""
    if word in ("max", "min"):
        return lowest(dtype) if word == "max" else highest(dtype)
    return {"add": 0, "mul": 1, "or": False, "and": True}[word]


def as_element(number: float, element: Attribute) -> float:
    """A number as PyTorch's kernels take it: integers wrap around, of 16-bit floats it is the nearest."""
    if not isinstance(number, int) or not isinstance(element, IntegerType) or element == i1:
        return rounded(number, element)
    least = int(lowest(element))
    return (number - least) % (1 << bit_width(element)) + least


def rounded(number: float, element: Attribute) -> float:
    """The nearest number of a 16-bit float type, of two the even one; of other types, the number itself."""
    if not isinstance(element, Float16Type | BFloat16Type) or not math.isfinite(number):
        return number
    if abs(number) >= _TOO_LARGE[type(element)]:
        return math.copysign(math.inf, number)
    if isinstance(element, Float16Type):
        return float(struct.unpack("<e", struct.pack("<e", number))[0])
    (bits,) = struct.unpack("<I", struct.pack("<f", number))
    bits += 0x7FFF + (bits >> 16 & 1)
    return float(struct.unpack("<f", struct.pack("<I", bits & 0xFFFF0000))[0])
