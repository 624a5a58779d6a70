"""PyTorch's type promotion on the dialect's element types; tested against ``torch.result_type`` for every pair.

The compiler core does without PyTorch, so a comparison, whose result does not tell what it is computed in, needs this.
https://pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from xdsl.dialects.builtin import (
    BFloat16Type,
    ComplexType,
    Float16Type,
    IntegerType,
    Signedness,
    f32,
    i1,
)
from xdsl.ir import Attribute

from torch2mlir.contract.element_types import (
    bit_width,
    category,
    is_complex,
    is_float,
    is_integer,
    is_unsigned,
    si64,
)


def _join(a: Attribute, b: Attribute) -> Attribute:
    """The smallest type both convert to."""
    if a == b:
        return a
    if category(a) != category(b):
        low, high = sorted((a, b), key=category)
        if is_complex(high) and is_float(low):
            return ComplexType(_join(high.element_type, low))  # type: ignore[type-var]
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
    groups = (
        [dtype for dtype, rank in tensors if rank > 0],
        [dtype for dtype, rank in tensors if rank == 0],
        list(scalars),
    )
    joined = [reduce(_join, group) for group in groups if group]
    if not joined:
        raise ValueError("nothing to promote")
    result = joined.pop()
    while joined:
        result = _over(joined.pop(), result)
    return result


def _over(first: Attribute, second: Attribute) -> Attribute:
    """What operands that count more and operands that count less give: the kind of the second, the width of the first.

    ``c10::result_type``'s ``combine_categories``.
    """
    if is_complex(first) or (is_float(first) and not is_complex(second)):
        return first
    if is_float(first):
        return ComplexType(f32 if isinstance(first, BFloat16Type) else first)
    return _join(first, second) if category(second) > category(first) else first
