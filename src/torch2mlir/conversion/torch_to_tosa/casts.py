"""Conversions of element types, as ``Tensor.to`` does them, in the pairs that TOSA has.

``tosa.cast`` rounds a float to the nearest integer and saturates, where PyTorch truncates and wraps; it has no pair of
i64 and a float, nor of the two half floats, and takes every integer as signed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float64Type,
    IntegerType,
    Signedness,
    f32,
)
from xdsl.ir import Attribute

from torch2mlir.contract.element_types import (
    bit_width,
    is_bool,
    is_float,
    is_integer,
    is_unsigned,
    si32,
    si64,
)
from torch2mlir.conversion.expressions import Expr
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.dialects import tosa

if TYPE_CHECKING:
    from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering

si8 = IntegerType(8, Signedness.SIGNED)
_HIGH = float(1 << 32)
"""What the upper half of an i64 counts."""


def computed_dtype(dtype: Attribute) -> Attribute:
    """The element type in which TOSA computes with elements of a type."""
    if is_bool(dtype):
        return si32
    if not is_integer(dtype):
        return dtype
    width = bit_width(dtype) + is_unsigned(dtype)
    return si32 if width <= 32 else si64


def cast(lower: TosaLowering, x: Tensor, dtype: Attribute) -> Tensor:
    """``x`` with its elements converted to another element type."""
    if lower.element_type(x.dtype) == lower.element_type(dtype):
        return Tensor(x.value, x.sizes, dtype)
    if isinstance(x.dtype, Float64Type) or isinstance(dtype, Float64Type):
        return _cast_f64(lower, x, dtype)
    if is_bool(dtype):
        return _to_bool(lower, x)
    if is_bool(x.dtype):
        return _direct(lower, x, si32, dtype) if is_float(dtype) else _direct(lower, x, dtype)
    if is_float(x.dtype):
        return _from_float(lower, x, dtype)
    return _int_to_float(lower, x, dtype) if is_float(dtype) else _int_to_int(lower, x, dtype)


def _direct(lower: TosaLowering, x: Tensor, *dtypes: Attribute) -> Tensor:
    """One ``tosa.cast`` after the other; none for equal types."""
    for dtype in dtypes:
        x = x if x.dtype == dtype else lower.elementwise(tosa.CastOp, x, dtype=dtype)
    return x


def _to_bool(lower: TosaLowering, x: Tensor) -> Tensor:
    """``x != 0``; ``tosa.cast`` has it for integers, not for floats."""
    if not is_float(x.dtype):
        return _direct(lower, x, IntegerType(1))
    return lower.compare("ne", x, 0)


def _cast_f64(lower: TosaLowering, x: Tensor, dtype: Attribute) -> Tensor:
    if isinstance(dtype, Float64Type):
        if is_integer(x.dtype) or is_bool(x.dtype):
            return lower.convert_f64(cast(lower, x, si64), dtype)
        return lower.convert_f64(x, dtype)
    if is_float(dtype):
        return lower.convert_f64(x, dtype)
    if is_bool(dtype):
        lower.fail("TOSA has no 64-bit floats", "convert the model and its inputs to float32")
    return cast(lower, lower.convert_f64(x, si64), dtype)


def _from_float(lower: TosaLowering, x: Tensor, dtype: Attribute) -> Tensor:
    if is_float(dtype):
        halves = {type(x.dtype), type(dtype)} == {Float16Type, BFloat16Type}
        return _direct(lower, x, f32, dtype) if halves else _direct(lower, x, dtype)
    whole = Expr(lower.words, _direct(lower, x, f32)).of("trunc")
    if bit_width(computed_dtype(dtype)) == 64:
        return _int_to_int(lower, _float_to_long(lower, whole), dtype)
    return _int_to_int(lower, _direct(lower, whole.value, si32), dtype)


def _float_to_long(lower: TosaLowering, whole: Expr) -> Tensor:
    """``high * 2**32 + low`` with both in 32 bits; splitting a whole f32 so is exact."""
    high = (whole * (1 / _HIGH) + 0.5).of("floor")
    low = whole - high * _HIGH
    upper, rest = (Expr(lower.words, _direct(lower, e.value, si32, si64)) for e in (high, low))
    found: Tensor = (upper.of("shl", 32) + rest).value
    return found


def _int_to_float(lower: TosaLowering, x: Tensor, dtype: Attribute) -> Tensor:
    """Rounded once, as PyTorch rounds; an i64 in parts, unless it comes from i32."""
    x = lower.narrowed.get(x.value, x)
    x = _int_to_int(lower, x, computed_dtype(x.dtype))
    if bit_width(x.dtype) < 64:
        return _direct(lower, x, dtype)
    return _direct(lower, _long_to_float(lower, x), dtype)


def _long_to_float(lower: TosaLowering, x: Tensor) -> Tensor:
    """``high * 2**24 + low``, of which both are exact in f32, of an i64 that has 48 bits.

    One that has more loses 16 of them first; the last bit that stays tells whether there was any among them, which is
    all that rounding to the 24 bits of an f32 asks of them.
    """
    whole = Expr(lower.words, x)
    any_lost = (whole.of("and", 0xFFFF) + 0xFFFF).of("shr", 16)
    shorter = whole.of("shr", 16) | any_lost
    is_short = whole.of("shr", 46).equals(whole.of("shr", 63))
    whole = is_short.where(whole, shorter)
    one = whole.constant(1.0, f32)
    scale = is_short.where(one, 65536.0)
    high, low = (
        Expr(lower.words, _direct(lower, part.value, si32, f32))
        for part in (whole.of("shr", 24), whole.of("and", 0xFFFFFF))
    )
    found: Tensor = ((high * float(1 << 24) + low) * scale).value
    return found


def _int_to_int(lower: TosaLowering, x: Tensor, dtype: Attribute) -> Tensor:
    """Through i32, the one type with all pairs; the bits of a narrow unsigned are masked."""
    if lower.element_type(x.dtype) == lower.element_type(dtype):
        return Tensor(x.value, x.sizes, dtype)
    x = lower.narrowed.get(x.value, x)
    if is_unsigned(x.dtype) and bit_width(x.dtype) < bit_width(dtype):
        wide = computed_dtype(x.dtype)
        mask = lower.splat((1 << bit_width(x.dtype)) - 1, (1,) * x.rank, wide)
        signed = IntegerType(bit_width(x.dtype), Signedness.SIGNED)
        extended = _int_to_int(lower, Tensor(x.value, x.sizes, signed), wide)
        return _int_to_int(lower, lower.elementwise(tosa.BitwiseAndOp, extended, mask), dtype)
    through = [si32] if 64 in (bit_width(x.dtype), bit_width(dtype)) else []
    result = _direct(lower, x, *through, dtype)
    if bit_width(x.dtype) < bit_width(dtype) == 64:
        lower.narrowed[result.value] = x
    return result
