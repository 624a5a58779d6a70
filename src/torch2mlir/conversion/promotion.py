"""PyTorch's type promotion on the dialect's element types.

https://pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc
"""

from __future__ import annotations

import math
from collections.abc import Sequence

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

_FLOATS: tuple[type[Attribute], ...] = (Float16Type, BFloat16Type, Float32Type, Float64Type)


def is_float(dtype: Attribute) -> bool:
    """Whether elements are real floating-point numbers."""
    return isinstance(dtype, _FLOATS)


def is_complex(dtype: Attribute) -> bool:
    """Whether elements are complex."""
    return isinstance(dtype, ComplexType)


def is_bool(dtype: Attribute) -> bool:
    """Whether elements are booleans."""
    return dtype == i1


def is_integer(dtype: Attribute) -> bool:
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


def _join(a: Attribute, b: Attribute) -> Attribute:
    """The smallest type both convert to."""
    if a == b:
        return a
    if category(a) != category(b):
        low, high = sorted((a, b), key=category)
        if is_complex(high) and is_float(low):
            return ComplexType(_join(high.element_type, low))  # type: ignore[attr-defined, type-var]
        return high
    if is_complex(a):
        return ComplexType(_join(a.element_type, b.element_type))  # type: ignore[attr-defined, type-var]
    if {type(a), type(b)} == {Float16Type, BFloat16Type}:
        return f32
    narrow, wide = sorted((a, b), key=bit_width)
    if is_integer(a) and is_unsigned(a) != is_unsigned(b):
        unsigned, signed = (a, b) if is_unsigned(a) else (b, a)
        return (
            signed if bit_width(signed) > bit_width(unsigned) else _signed(2 * bit_width(unsigned))
        )
    return wide if bit_width(wide) > bit_width(narrow) else a


def _signed(width: int) -> Attribute:
    return IntegerType(min(width, 64), Signedness.SIGNED)


def scalar_dtype(value: object) -> Attribute:
    """The type a Python number has on its own: bool, int64, float32 (PyTorch's default) or complex64."""
    if isinstance(value, bool):
        return i1
    if isinstance(value, float):
        return f32
    return ComplexType(f32) if isinstance(value, complex) else si64


def promote(
    tensors: Sequence[tuple[Attribute, int]], scalars: Sequence[Attribute] = ()
) -> Attribute:
    """The type PyTorch computes in.

    Args:
        tensors: element type and rank of each tensor operand; rank 0 counts less than higher ranks.
        scalars: types of Python numbers, as :func:`scalar_dtype` gives them; they count least.
    """
    priorities = (
        [dtype for dtype, rank in tensors if rank > 0],
        [dtype for dtype, rank in tensors if rank == 0],
        list(scalars),
    )
    result: Attribute | None = None
    for group in priorities:
        if not group:
            continue
        joined = group[0]
        for dtype in group[1:]:
            joined = _join(joined, dtype)
        if result is None:
            result = joined
        elif category(joined) > category(result):
            # a float result keeps the width of a lower-priority operand only when it brought the category
            result = (
                joined if not (is_complex(joined) and is_float(result)) else _join(joined, result)
            )
    if result is None:
        raise ValueError("nothing to promote")
    return result
