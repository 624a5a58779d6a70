"""PyTorch dtypes and the torch dialect's element types."""

from __future__ import annotations

import torch
from xdsl.dialects.builtin import (
    BFloat16Type,
    ComplexType,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    Signedness,
    i1,
)
from xdsl.ir import Attribute

from torch2mlir.errors import CaptureError


def _signed(width: int) -> IntegerType:
    return IntegerType(width, Signedness.SIGNED)


def _unsigned(width: int) -> IntegerType:
    return IntegerType(width, Signedness.UNSIGNED)


TO_ELEMENT_TYPE: dict[torch.dtype, Attribute] = {
    torch.float32: Float32Type(),
    torch.float64: Float64Type(),
    torch.float16: Float16Type(),
    torch.bfloat16: BFloat16Type(),
    torch.bool: i1,
    torch.int8: _signed(8),
    torch.int16: _signed(16),
    torch.int32: _signed(32),
    torch.int64: _signed(64),
    torch.uint8: _unsigned(8),
    torch.uint16: _unsigned(16),
    torch.uint32: _unsigned(32),
    torch.uint64: _unsigned(64),
    torch.complex32: ComplexType(Float16Type()),
    torch.complex64: ComplexType(Float32Type()),
    torch.complex128: ComplexType(Float64Type()),
}
FROM_ELEMENT_TYPE: dict[Attribute, torch.dtype] = {v: k for k, v in TO_ELEMENT_TYPE.items()}

SCALAR_TYPE: dict[torch.dtype, int] = {
    torch.uint8: 0,
    torch.int8: 1,
    torch.int16: 2,
    torch.int32: 3,
    torch.int64: 4,
    torch.float16: 5,
    torch.float32: 6,
    torch.float64: 7,
    torch.complex32: 8,
    torch.complex64: 9,
    torch.complex128: 10,
    torch.bool: 11,
    torch.qint8: 12,
    torch.quint8: 13,
    torch.qint32: 14,
    torch.bfloat16: 15,
    torch.uint16: 27,
    torch.uint32: 28,
    torch.uint64: 29,
}
"""The number ``at::ScalarType`` (c10/core/ScalarType.h) gives a dtype: how it travels as ``torch.constant.int``."""
FROM_SCALAR_TYPE: dict[int, torch.dtype] = {v: k for k, v in SCALAR_TYPE.items()}

MEMORY_FORMAT: dict[torch.memory_format, int] = {
    torch.contiguous_format: 0,
    torch.preserve_format: 1,
    torch.channels_last: 2,
    torch.channels_last_3d: 3,
}
FROM_MEMORY_FORMAT = {v: k for k, v in MEMORY_FORMAT.items()}
LAYOUT: dict[torch.layout, int] = {torch.strided: 0, torch.sparse_coo: 1, torch.sparse_csr: 2}
FROM_LAYOUT = {v: k for k, v in LAYOUT.items()}


def element_type(dtype: torch.dtype) -> Attribute:
    """The dialect's element type of a dtype.

    Raises:
        CaptureError: the dtype has no element type (a quantized or float8 one).
    """
    try:
        return TO_ELEMENT_TYPE[dtype]
    except KeyError:
        raise CaptureError(
            f"tensors of {dtype} have no counterpart in the torch dialect",
            hint="cast to a supported dtype, or use quantized_decomposed ops for quantized models",
        ) from None


def tensor_of(number: complex, beside: torch.Tensor | None) -> torch.Tensor:
    """A tensor without dimensions in the place of a Python number.

    A number has no say in the dtype beside a tensor of its kind. A tensor without dimensions has beside another one: it
    gets the dtype that the number leads to, in which an integer may wrap around.

    Args:
        number: an int, float, bool or complex.
        beside: the tensor it is computed with, if there is one.
    """
    tensor = torch.tensor(number)
    return (
        tensor if beside is None or beside.dim() else tensor.to(torch.result_type(beside, number))
    )
