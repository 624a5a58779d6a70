"""Python values of TorchScript programs, constants of the code and attributes of objects, as operations."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import torch
from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute, Operation, SSAValue

from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.errors import CaptureError
from torch2mlir.frontends import dtypes
from torch2mlir.frontends.fx.constants import ConstantPool
from torch2mlir.frontends.weights import constant_literal, identity, tensor_literal

_QUANTIZED: dict[torch.dtype, Attribute] = {
    torch.qint8: t.QInt8Type(),
    torch.quint8: t.QUInt8Type(),
    torch.qint32: t.QInt32Type(),
}


def contained(type: Attribute) -> Attribute:
    """The type under ``!torch.optional``."""
    return type.contained if isinstance(type, t.OptionalType) else type


class ValueImporter:
    """Makes values through ``insert``; a tensor that is met again is the same value.

    Args:
        insert: called with every new op, in order.
    """

    def __init__(self, insert: Callable[[Operation], None]) -> None:
        self._insert = insert
        self._tensors: dict[Hashable, SSAValue] = {}

    def _added(self, op: Operation) -> SSAValue:
        self._insert(op)
        return op.results[0]

    def of(self, value: Any, type: Attribute, name: str | None = None) -> SSAValue:
        """The value of a Python object of a TorchScript type.

        Args:
            value: the object.
            type: the dialect's type of it.
            name: where the program keeps it, by which weights are called; None for constants of the code.

        Raises:
            CaptureError: the dialect cannot say the value.
        """
        type = contained(type)
        if isinstance(value, torch.Tensor):
            return self.tensor(value, name)
        if isinstance(value, Mapping) and isinstance(type, t.DictType):
            return self._dict(value, type, name)
        if isinstance(value, tuple) and isinstance(type, t.TupleType):
            return self._tuple(value, type, name)
        if isinstance(value, list | tuple) and isinstance(type, t.ListType):
            return self._list(value, type, name)
        if isinstance(type, t.FloatType) and isinstance(value, int):
            value = float(value)
        if isinstance(value, torch._C.ScriptObject):
            return self._packed_parameters(value, name)
        return ConstantPool(self._insert).scalar(value)

    def _list(self, values: Sequence[Any], type: t.ListType, name: str | None) -> SSAValue:
        items = [self.of(v, type.contained, _member(name, i)) for i, v in enumerate(values)]
        return self._added(core.PrimListConstructOp.create(operands=items, result_types=[type]))

    def _tuple(self, values: Sequence[Any], type: t.TupleType, name: str | None) -> SSAValue:
        pairs = zip(values, type.contained.data, strict=True)
        items = [self.of(v, kind, _member(name, i)) for i, (v, kind) in enumerate(pairs)]
        own = t.TupleType(ArrayAttr([item.type for item in items]))
        return self._added(core.PrimTupleConstructOp.create(operands=items, result_types=[own]))

    def _dict(self, values: Mapping[Any, Any], type: t.DictType, name: str | None) -> SSAValue:
        keys = [self.of(key, type.key) for key in values]
        items = [self.of(v, type.value, _member(name, k)) for k, v in values.items()]
        op = core.PrimDictConstructOp.create(operands=[*keys, *items], result_types=[type])
        return self._added(op)

    def tensor(self, tensor: torch.Tensor, name: str | None = None) -> SSAValue:
        """``torch.tensor.literal`` of a tensor, whose elements stay where they are."""
        key = id(tensor) if tensor.is_quantized else identity(tensor)
        known = self._tensors.get(key)
        if known is None:
            make = self._quantized if tensor.is_quantized else self._literal
            known = self._tensors[key] = make(tensor, name)
        return known

    def _literal(self, tensor: torch.Tensor, name: str | None) -> SSAValue:
        if tensor.layout is not torch.strided:
            raise CaptureError(
                f"tensors of layout {tensor.layout} are not supported",
                hint="call .to_dense() first",
            )
        literal = constant_literal(tensor) if name is None else tensor_literal(tensor, name)
        type = t.NonValueTensorType.of(tuple(tensor.shape), dtypes.element_type(tensor.dtype))
        return self._added(
            core.NonValueTensorLiteralOp.create(
                result_types=[type], properties=dict(literal.properties)
            )
        )

    def _quantized(self, tensor: torch.Tensor, name: str | None) -> SSAValue:
        if tensor.qscheme() is not torch.per_tensor_affine or tensor.dtype not in _QUANTIZED:
            raise CaptureError(
                f"a quantized tensor of {tensor.dtype}, {tensor.qscheme()}, cannot be a constant",
                hint="quantize per tensor",
            )
        scalars = ConstantPool(self._insert)
        operands = [
            self._literal(tensor.int_repr(), name),
            scalars.scalar(tensor.q_scale()),
            scalars.scalar(tensor.q_zero_point()),
        ]
        type = t.NonValueTensorType.of(tuple(tensor.shape), _QUANTIZED[tensor.dtype])
        op = core.PerTensorAffineCreateOp.create(operands=operands, result_types=[type])
        return self._added(op)

    def _packed_parameters(self, packed: Any, name: str | None) -> SSAValue:
        if not packed._has_method("__getstate__"):
            raise CaptureError(f"an object of class {packed._type()} cannot be in the program")
        try:
            weight, bias = torch.ops.quantized.linear_unpack(packed)
        except RuntimeError as error:
            raise CaptureError(
                f"an object of class {packed._type().qualified_name()} cannot be in the program",
                hint="only packed parameters of quantized linear layers can",
            ) from error
        operands = [self.tensor(weight, _member(name, "weight"))]
        if bias is not None:
            operands.append(self.tensor(bias, _member(name, "bias")))
        op = core.LinearParamsCreateOp.create(
            operands=operands, result_types=[t.LinearParamsType()]
        )
        return self._added(op)


def _member(name: str | None, part: Any) -> str | None:
    return None if name is None else f"{name}.{part}"
