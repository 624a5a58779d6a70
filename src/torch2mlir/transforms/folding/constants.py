"""Constants from Python values, and putting one value in the place of another of a wider type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, StringAttr, f64, i1, i64
from xdsl.dialects.func import CallOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue

from torch2mlir.dialects.placing import place_before
from torch2mlir.dialects.set_type import set_type
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t

_TYPED_USERS = (
    core.PrimIfYieldOp,
    core.PrimLoopOp,
    core.PrimLoopConditionOp,
    CallOp,
    ReturnOp,
    core.PrimListConstructOp,
    core.PrimTupleConstructOp,
    core.PrimDictConstructOp,
)
"""Ops whose operands' types are also written down elsewhere."""


def constant(value: Any, type: Attribute, location: Any = None) -> core.ConstantOp:
    """The constant for a Python None, bool, int, float or str; strings of device type are devices."""
    match value:
        case None:
            return core.ConstantNoneOp.create(result_types=[t.none_type], location=location)
        case bool():
            return core.ConstantBoolOp.of(IntegerAttr(int(value), i1), location)
        case int():
            return core.ConstantIntOp.of(IntegerAttr(value, i64), location)
        case float():
            return core.ConstantFloatOp.of(FloatAttr(value, f64), location)
        case str():
            cls = core.ConstantDeviceOp if type == t.device_type else core.ConstantStrOp
            return cls.of(StringAttr(value), location)
    raise ValueError(f"no constant of the dialect holds {value!r}")


def insert_before(op: Operation, new: Operation) -> None:
    """Inserts an op before another one, with its line."""
    new.location = op.location
    place_before(op, new)


def put_in_place(old: SSAValue, new: SSAValue) -> None:
    """Gives the users of a value another one; those that need the old type get it with ``torch.derefine``."""
    if old.type == new.type:
        old.replace_all_uses_with(new)
        return
    for use in list(old.uses):
        user = use.operation
        if isinstance(user, _TYPED_USERS):
            user.operands[use.index] = as_type(new, old.type, user)
        else:
            user.operands[use.index] = new


def retype(value: SSAValue, type: Attribute) -> None:
    """Gives a value a more specific type; those that need the old one get it with a cast."""
    old = value.type
    set_type(value, type)
    for use in list(value.uses):
        if isinstance(use.operation, _TYPED_USERS):
            use.operation.operands[use.index] = as_type(value, old, use.operation)


def as_type(value: SSAValue, type: Attribute, user: Operation) -> SSAValue:
    """The value under a wider type, cast before the op that needs it so."""
    tensors = isinstance(value.type, t.AnyTensorType) and isinstance(type, t.AnyTensorType)
    cast = core.TensorStaticInfoCastOp if tensors else core.DerefineOp
    op = cast.create(operands=[value], result_types=[type])
    insert_before(user, op)
    return op.results[0]


def list_before(op: Operation, members: Sequence[SSAValue], type: Attribute) -> SSAValue:
    """A list of these members, made before an op."""
    new = core.PrimListConstructOp.create(operands=members, result_types=[type])
    insert_before(op, new)
    return new.results[0]


def int_before(op: Operation, value: int) -> SSAValue:
    """An int, made before an op."""
    new = constant(value, t.int_type)
    insert_before(op, new)
    return new.results[0]
