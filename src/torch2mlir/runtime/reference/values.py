"""How the reference engine holds a value: MLIR types as numpy dtypes, literals as arrays.

Every scalar and every tensor is a numpy array (a scalar has rank 0) of its element type's dtype. Types
numpy lacks are held in a wider one and brought back into range after every op by :func:`fit`:
``bf16`` and ``f8`` in float32, ``i4`` and the like in the next power of two. Integers without a sign are held signed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from xdsl.dialects.builtin import (
    ArrayAttr,
    BFloat16Type,
    ComplexType,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    ShapedType,
    Signedness,
    TensorType,
)
from xdsl.ir import Attribute

from torch2mlir.dialects.weights import WeightAttr
from torch2mlir.errors import EngineError

Array = np.ndarray[Any, np.dtype[Any]]
Resources = Callable[[str], bytes | None]
"""The bytes of a ``dense_resource`` by its name, None for an unknown one."""

_FLOATS: dict[type[Attribute], type[np.floating[Any]]] = {
    Float16Type: np.float16,
    Float32Type: np.float32,
    Float64Type: np.float64,
}
_NARROW: dict[type[Attribute], torch.dtype] = {
    BFloat16Type: torch.bfloat16,
    Float8E4M3FNType: torch.float8_e4m3fn,
    Float8E4M3FNUZType: torch.float8_e4m3fnuz,
    Float8E5M2Type: torch.float8_e5m2,
    Float8E5M2FNUZType: torch.float8_e5m2fnuz,
}
_NARROW_COMPLEX: dict[type[Attribute], torch.dtype] = {Float16Type: torch.complex32}
"""Floats, and parts of complex numbers, that numpy lacks; PyTorch rounds to them."""
_COMPLEX = {Float32Type: np.complex64, Float64Type: np.complex128}


def element_type(type_: Attribute) -> Attribute:
    """The type of one element of a tensor type; a scalar type is its own."""
    return type_.get_element_type() if isinstance(type_, ShapedType) else type_  # type: ignore[attr-defined]


def _narrow(type_: Attribute) -> torch.dtype | None:
    """The dtype of the elements of a type if numpy lacks it."""
    kind = element_type(type_)
    if isinstance(kind, ComplexType):
        return _NARROW_COMPLEX.get(type(kind.element_type))
    return _NARROW.get(type(kind))


def bit_width(type_: Attribute) -> int:
    """The width of an integer type in bits; ``index`` has 64."""
    kind = element_type(type_)
    return kind.width.data if isinstance(kind, IntegerType) else 64


def dtype_of(type_: Attribute) -> np.dtype[Any]:
    """The dtype that holds values (or elements) of a type.

    Raises:
        EngineError: numpy has nothing to hold it in.
    """
    kind = element_type(type_)
    if isinstance(kind, IndexType):
        return np.dtype(np.int64)
    if isinstance(kind, IntegerType) and kind.width.data <= 64:
        if kind.width.data == 1:
            return np.dtype(np.bool_)
        size = next(size for size in (8, 16, 32, 64) if size >= kind.width.data)
        unsigned = kind.signedness.data == Signedness.UNSIGNED
        return np.dtype(f"{'uint' if unsigned else 'int'}{size}")
    if narrow := _narrow(kind):
        return np.dtype(np.complex64 if narrow.is_complex else np.float32)
    if type(kind) in _FLOATS:
        return np.dtype(_FLOATS[type(kind)])
    if isinstance(kind, ComplexType) and type(kind.element_type) in _COMPLEX:
        return np.dtype(_COMPLEX[type(kind.element_type)])
    raise EngineError(
        f"the reference engine has no values of type {kind}",
        hint="cast the model to bool, an integer dtype, float8 to float64, or a complex one",
    )


def held_dtype(dtype: torch.dtype) -> torch.dtype:
    """The dtype that holds values of another: a wider one if numpy lacks it."""
    if dtype in _NARROW_COMPLEX.values():
        return torch.complex64
    return torch.float32 if dtype in _NARROW.values() else dtype


def _rounded(array: Array, dtype: torch.dtype) -> Array:
    """The nearest value of a narrow dtype for every element, in the dtype that holds them."""
    wide = torch.from_numpy(np.array(array, np.complex64 if dtype.is_complex else np.float32))
    rounded = wide.to(dtype).to(wide.dtype)
    if dtype is torch.bfloat16:  # PyTorch gives every NaN a sign
        rounded = rounded.where(~wide.isnan(), wide)
    return rounded.numpy()


def fit(value: Any, type_: Attribute) -> Array:
    """A computed value as one of ``type_``: converted, wrapped or rounded to what the type can hold."""
    kind = element_type(type_)
    array = np.asarray(value)
    dtype = dtype_of(kind)
    if narrow := _narrow(kind):
        return _rounded(array, narrow)
    if dtype == np.bool_ and array.dtype != np.bool_:
        return (array.astype(np.int64) & 1) != 0
    if array.dtype != dtype:
        array = array.astype(dtype)
    if isinstance(kind, IntegerType) and dtype != np.bool_:
        unused = dtype.itemsize * 8 - kind.width.data
        if unused:
            array = np.asarray((array << unused) >> unused)
    return array


def unsigned(array: Array) -> Array:
    """The same bits read as unsigned integers."""
    if array.dtype == np.bool_:
        return array.astype(np.uint8)
    return array.view(f"u{array.dtype.itemsize}") if array.dtype.kind == "i" else array


def signed(array: Array) -> Array:
    """The same bits read as signed integers; a true ``i1`` is -1."""
    if array.dtype == np.bool_:
        return np.negative(array.astype(np.int8))
    return array.view(f"i{array.dtype.itemsize}") if array.dtype.kind == "u" else array


def zero_extended(array: Array, type_: Attribute) -> Array:
    """An integer of type ``type_`` read as unsigned, the bits beyond its width cleared."""
    bits = unsigned(array)
    width = bit_width(type_)
    return bits if width in (1, 8, 16, 32, 64) else bits & bits.dtype.type((1 << width) - 1)


def undefined(shape: tuple[int, ...], type_: Attribute) -> Array:
    """The contents of a tensor nobody has written: NaN or the lowest integer, so that its use shows."""
    dtype = dtype_of(type_)
    if dtype.kind in "fc":
        poison: Any = np.nan
    else:
        poison = True if dtype.kind == "b" else np.iinfo(dtype).min
    return np.broadcast_to(fit(poison, type_), shape)


def literal_to_array(literal: Attribute, type_: Attribute, resources: Resources) -> Array:
    """Decodes a literal of type ``type_``; dense ones share the literal's memory where the format allows.

    Args:
        literal: an integer, float, ``[re, im]``, dense, ``dense_resource`` or weight attribute.
        type_: the type of the value, which a weight or resource does not always repeat.
        resources: where ``dense_resource`` blobs are.

    Raises:
        EngineError: an unknown kind of literal, a missing resource, or one of the wrong size.
    """
    shape = type_.get_shape() if isinstance(type_, TensorType) else ()
    match literal:
        case IntegerAttr():
            return fit(np.array(literal.value.data & 0xFFFF_FFFF_FFFF_FFFF, np.uint64), type_)
        case FloatAttr():
            return fit(np.array(literal.value.data), type_)
        case ArrayAttr(data=(FloatAttr() as real, FloatAttr() as imaginary)):
            return fit(complex(real.value.data, imaginary.value.data), type_)
        case DenseIntOrFPElementsAttr():
            return from_bytes(literal.data.data, type_, shape)
        case WeightAttr():
            return from_bytes(literal.source.data.view(), type_, shape)
        case DenseResourceAttr():
            name = literal.resource_handle.data
            blob = resources(name)
            if blob is None:
                raise EngineError(
                    f"the contents of dense_resource<{name}> are not in the module",
                    hint="write the module with inline weights, or pass the weights along",
                )
            return from_bytes(blob, type_, shape)
    raise EngineError(
        f"the reference engine cannot read a literal of kind {type(literal).__name__}"
    )


def from_bytes(data: bytes | memoryview, type_: Attribute, shape: tuple[int, ...]) -> Array:
    """Row-major little-endian elements; one element alone stands for all (a splat)."""
    kind = element_type(type_)
    dtype = dtype_of(kind)
    count = int(np.prod(shape, dtype=np.int64))
    array: Array
    if narrow := _narrow(kind):
        array = torch.frombuffer(bytearray(data), dtype=narrow).to(held_dtype(narrow)).numpy()
    elif dtype == np.bool_:
        array = _booleans(np.frombuffer(data, np.uint8), count)
    else:
        array = np.frombuffer(data, dtype)
    if array.size == 1 and count != 1:
        return np.broadcast_to(array.reshape(()), shape)
    if array.size != count:
        raise EngineError(f"a literal of type {type_} has {array.size} elements instead of {count}")
    return array.reshape(shape)


def to_bytes(array: Array, type_: Attribute) -> bytes:
    """The elements as they are in memory, row-major."""
    narrow = _narrow(type_)
    if narrow is None:
        return array.tobytes()
    stored = as_narrow(np.array(array, order="C"), narrow)
    return stored.reshape(-1).view(torch.uint8).numpy().tobytes()


def as_narrow(array: Array, dtype: torch.dtype) -> torch.Tensor:
    """Elements that are held in a wider dtype in their own one, where a NaN keeps its sign and its bits."""
    if dtype is not torch.bfloat16:
        return torch.from_numpy(array).to(dtype)
    upper = np.asarray(np.right_shift(array.view(np.uint32), 16), np.uint16)
    bits = np.asarray(np.where(np.isnan(array), upper | 0x40, upper), np.uint16)
    return torch.from_numpy(bits).view(dtype)


def _booleans(data: np.ndarray[Any, np.dtype[np.uint8]], count: int) -> Array:
    """One byte for every boolean, or eight of them to a byte."""
    if data.size < count and data.size == (count + 7) // 8:
        data = np.unpackbits(data, count=count, bitorder="little")
    return data != 0
