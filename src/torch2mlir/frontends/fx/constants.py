"""Python values as operands: constants of the torch dialect, each built once, and the types of lists."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

import torch
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, StringAttr, f64, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue

from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.ops import registry_op
from torch2mlir.dialects.torch.values import COMPLEX_NUMBER
from torch2mlir.errors import CaptureError
from torch2mlir.frontends import dtypes

Insert = Callable[[Operation], None]


class ConstantPool:
    """Makes constants through ``insert`` and hands out the same value for the same constant."""

    def __init__(self, insert: Insert) -> None:
        self._insert = insert
        self._known: dict[Hashable, SSAValue] = {}

    def _once(self, key: Hashable, make: Callable[[], Operation]) -> SSAValue:
        value = self._known.get(key)
        if value is None:
            op = make()
            self._insert(op)
            value = self._known[key] = op.results[0]
        return value

    def scalar(self, value: Any) -> SSAValue:
        """The value of a Python scalar: None, bool, int, float, complex, str, dtype, device, layout or
        memory format.

        Raises:
            CaptureError: the dialect has no constant of that kind.
        """
        match value:
            case None:
                return self._once(
                    None, lambda: core.ConstantNoneOp.create(result_types=[t.none_type])
                )
            case bool():
                make = core.ConstantBoolOp.of
                return self._once((bool, value), lambda: make(IntegerAttr(int(value), i1)))
            case int():
                return self._once(
                    (int, value), lambda: core.ConstantIntOp.of(IntegerAttr(value, i64))
                )
            case float():
                key = (float, value.hex(), math.copysign(1, value))
                return self._once(key, lambda: core.ConstantFloatOp.of(FloatAttr(value, f64)))
            case complex():
                parts = [self.scalar(value.real), self.scalar(value.imag)]
                number = registry_op(COMPLEX_NUMBER)
                assert number is not None
                make_number = partial(number.create, operands=parts, result_types=[t.number_type])
                return self._once((complex, *parts), make_number)
            case str():
                return self._once((str, value), lambda: core.ConstantStrOp.of(StringAttr(value)))
            case torch.dtype() if value in dtypes.SCALAR_TYPE:
                return self.scalar(dtypes.SCALAR_TYPE[value])
            case torch.memory_format() if value in dtypes.MEMORY_FORMAT:
                return self.scalar(dtypes.MEMORY_FORMAT[value])
            case torch.layout() if value in dtypes.LAYOUT:
                return self.scalar(dtypes.LAYOUT[value])
            case torch.device():
                make_device = core.ConstantDeviceOp.of
                return self._once(
                    ("device", str(value)), lambda: make_device(StringAttr(str(value)))
                )
        raise CaptureError(
            f"{value!r} ({type(value).__name__}) cannot be a constant of the torch dialect"
        )


def list_type(values: Sequence[SSAValue], empty: Attribute | None = None) -> t.ListType:
    """The type of a list of values; ``empty`` is the type an empty list has elements of."""
    return t.ListType(_element_type(values, empty))


def _element_type(values: Sequence[SSAValue], empty: Attribute | None) -> Attribute:
    """The element type Torch-MLIR gives a list: tensors lose their shapes, None makes it optional."""
    kinds = set[Attribute]()
    for value in values:
        kinds.add(t.vtensor(None, None) if isinstance(value.type, t.AnyTensorType) else value.type)
    optional = t.none_type in kinds
    kinds.discard(t.none_type)
    if len(kinds) > 1:
        raise CaptureError(f"a list cannot hold {', '.join(sorted(map(str, kinds)))} together")
    element = kinds.pop() if kinds else (empty or t.int_type)
    return t.OptionalType(element) if optional else element
