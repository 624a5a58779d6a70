"""Python values as operands: constants of the torch dialect, each built once, and the types of lists."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
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

    def scalar(self, value: Any) -> SSAValue:
        """The value of a Python scalar: None, bool, int, float, complex, str, dtype, device, layout or
        memory format.

        Raises:
            CaptureError: the dialect has no constant of that kind.
        """
        if isinstance(value, _CODED):
            value = next((table[value] for table in _CODES if value in table), value)
        # 1, 1.0 and True are equal, as 0.0 and -0.0 are, and a NaN has a sign that its text lacks
        key = (
            type(value),
            repr(value),
            isinstance(value, float) and math.copysign(1, value),
        )
        known = self._known.get(key)
        if known is None:
            op = self._constant(value)
            self._insert(op)
            known = self._known[key] = op.results[0]
        return known

    def _constant(self, value: Any) -> Operation:
        match value:
            case None:
                return core.ConstantNoneOp.create(result_types=[t.none_type])
            case bool():
                return core.ConstantBoolOp.of(IntegerAttr(int(value), i1))
            case int() if -(2**63) <= value < 2**63:
                return core.ConstantIntOp.of(IntegerAttr(value, i64))
            case float():
                return core.ConstantFloatOp.of(FloatAttr(value, f64))
            case complex():
                parts = [self.scalar(value.real), self.scalar(value.imag)]
                number = registry_op(COMPLEX_NUMBER)
                assert number is not None
                return number.create(operands=parts, result_types=[t.number_type])
            case str():
                return core.ConstantStrOp.of(StringAttr(value))
            case torch.device():
                return core.ConstantDeviceOp.of(StringAttr(str(value)))
            case int():
                raise CaptureError(
                    f"{value} does not fit into the 64 bits of a number",
                    hint="compute with a float, or with a tensor of torch.uint64",
                )
        raise CaptureError(
            f"{value!r} ({type(value).__name__}) cannot be a constant of the torch dialect"
        )


_CODED = (torch.dtype, torch.memory_format, torch.layout)
_CODES: Sequence[Mapping[Any, int]] = (
    dtypes.SCALAR_TYPE,
    dtypes.MEMORY_FORMAT,
    dtypes.LAYOUT,
)
"""What PyTorch's operators take as numbers."""


def list_type(values: Sequence[SSAValue], empty: Attribute | None = None) -> t.ListType:
    """The type Torch-MLIR gives a list of values: tensors lose their shapes, None makes the element optional.

    ``empty`` is the type an empty list has elements of.
    """
    kinds = set[Attribute]()
    for value in values:
        kinds.add(t.vtensor(None, None) if isinstance(value.type, t.AnyTensorType) else value.type)
    optional = t.none_type in kinds
    kinds.discard(t.none_type)
    if len(kinds) > 1:
        raise CaptureError(f"a list cannot hold {', '.join(sorted(map(str, kinds)))} together")
    element = kinds.pop() if kinds else (empty or t.int_type)
    return t.ListType(t.OptionalType(element) if optional else element)
