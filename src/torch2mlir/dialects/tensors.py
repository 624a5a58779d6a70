"""What is asked of values and attributes that are known to be of builtin tensors and lists of integers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, SSAValue


def tensor_type(value: SSAValue) -> TensorType[Attribute]:
    """The type of a ranked tensor.

    Raises:
        TypeError: the value is none.
    """
    if not isinstance(value.type, TensorType):
        raise TypeError(f"a ranked tensor is expected, not a {value.type}")
    return value.type


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The sizes of a ranked tensor, -1 for those known at run time."""
    return tensor_type(value).get_shape()


def element_of(value: SSAValue) -> Attribute:
    """The element type of a ranked tensor."""
    return tensor_type(value).element_type


@lru_cache(maxsize=4096)
def _i64_array(values: tuple[int, ...]) -> DenseArrayBase[IntegerType]:
    return DenseArrayBase.from_list(i64, values)


def i64_array(values: Sequence[int]) -> DenseArrayBase[IntegerType]:
    """``array<i64: ...>``: dimensions, strides, sizes."""
    return _i64_array(tuple(values))


def integers(attribute: Attribute) -> Sequence[int]:
    """The numbers of ``array<i64: ..>`` or ``dense<..>``.

    Raises:
        TypeError: the attribute is neither.
    """
    if not isinstance(attribute, DenseArrayBase | DenseIntOrFPElementsAttr):
        raise TypeError(f"a list of integers is expected, not {attribute}")
    return attribute.get_values()


def integer(attribute: Attribute) -> int:
    """The number of ``1 : i64``.

    Raises:
        TypeError: the attribute is no integer.
    """
    if not isinstance(attribute, IntegerAttr):
        raise TypeError(f"an integer is expected, not {attribute}")
    return attribute.value.data
