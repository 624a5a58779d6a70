"""What ops do to memory: which operands they write, and whose memory their results may share."""

from __future__ import annotations

from enum import Enum, auto

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue

from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.object_graph import (
    InitializeGlobalSlotsOp,
    PrintOp,
    ToListOp,
)
from torch2mlir.dialects.torch.ops import RegistryOp
from torch2mlir.dialects.torch.schema import is_new_tensor
from torch2mlir.dialects.torch.values import Values


class Effect(Enum):
    """What is known of an op."""

    VALUE = auto()
    """It reads its operands; its results are new."""
    ALIAS = auto()
    """It writes nothing; its results may be its operands, parts of them, or contain them."""
    WRITE = auto()
    """It writes some operands, see :func:`written`."""
    UNKNOWN = auto()


def is_mutable(type: Attribute) -> bool:
    """Whether a value of this type can be changed, or has parts that can."""
    match type:
        case t.OptionalType():
            return is_mutable(type.contained)
        case t.TupleType() | t.UnionType():
            return any(is_mutable(member) for member in type.contained.data)
        case _:
            return isinstance(type, t.NonValueTensorType | t.ListType | t.DictType | t.AnyType)


_VALUE_OPS = (
    core.ConstantOp,
    core.LiteralOp,
    core.CopyOp,
    core.RuntimeAssertOp,
    core.SymbolicIntOp,
    core.BindSymbolicShapeOp,
    core.PromoteDtypesOp,
    PrintOp,
    ToListOp,
    ReturnOp,  # a function that is called from outside hands out copies
    InitializeGlobalSlotsOp,
)
_ALIAS_OPS = (
    core.PrimListConstructOp,
    core.PrimDictConstructOp,
    core.PrimTupleConstructOp,
    core.PrimListUnpackOp,
    core.CastLikeOp,
    core.PerTensorAffineCreateOp,
    core.LinearParamsCreateOp,
    core.PrimIfYieldOp,
    core.PrimLoopConditionOp,
)

_ASK_FOR_IDENTITY = {"torch.aten.__is__", "torch.aten.__isnot__"}
"""Ops that ask whether two values are one object, which is not a question about their contents."""

_RUNNING_STATISTICS = {
    "torch.aten.batch_norm": (5, (3, 4)),
    "torch.aten.native_batch_norm": (5, (3, 4)),
    "torch.aten.instance_norm": (5, (3, 4)),
}
"""Ops that write operands when a flag is set, although their schema does not say so: flag, operands."""


def _flag(value: SSAValue) -> bool | None:
    """A constant bool, or None."""
    owner = value.owner
    return owner.value if isinstance(owner, core.ConstantBoolOp) else None


def written(op: Operation) -> tuple[int, ...]:
    """The operands an op writes to."""
    if isinstance(op, core.OverwriteTensorContentsOp):
        return (1,)
    if not isinstance(op, RegistryOp) or op.schema.is_variadic:
        return ()
    if (statistics := _RUNNING_STATISTICS.get(op.name)) is not None:
        flag, places = statistics
        known = _flag(op.operands[flag])
        return tuple(i for i in places if known is not False and is_mutable(op.operands[i].type))
    return tuple(
        index
        for index, argument in enumerate(op.schema.arguments)
        if argument.is_written and index < len(op.operands)
    )


def _holds_anything(type: str) -> bool:
    """Whether a schema type is that of a container or of any value: what goes in may come out."""
    return type in ("t", "Any") or type.startswith(("t[", "Any[", "Dict("))


def _may_be_view(op: RegistryOp) -> bool:
    if not op.schema.is_undeclared_view:
        return op.schema.is_view
    values = Values()
    return not is_new_tensor(op.name, [values.of(operand) for operand in op.operands])


def effect(op: Operation) -> Effect:
    """What an op does; control flow and calls are for the caller to follow."""
    if isinstance(op, RegistryOp):
        if written(op):
            return Effect.WRITE
        if op.name in _ASK_FOR_IDENTITY:
            tensors = all(isinstance(o.type, t.NonValueTensorType) for o in op.operands)
            return Effect.UNKNOWN if tensors else Effect.VALUE
        if not any(is_mutable(result.type) for result in op.results):
            return Effect.VALUE
        holds = any(_holds_anything(argument.type) for argument in op.schema.arguments)
        return Effect.ALIAS if _may_be_view(op) or holds else Effect.VALUE
    if isinstance(op, _VALUE_OPS):
        return Effect.VALUE
    if isinstance(op, _ALIAS_OPS):
        return Effect.ALIAS
    if isinstance(op, core.OverwriteTensorContentsOp):
        return Effect.WRITE
    return Effect.UNKNOWN
