"""Python lists: whether one is written after it was made, by any name it goes by, and how many members are taken."""

from __future__ import annotations

from xdsl.dialects.func import CallOp, ReturnOp
from xdsl.ir import Operation, SSAValue, Use

from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.ops import PURE, RegistryOp

_CONTAINERS = (t.ListType, t.OptionalType, t.TupleType, t.DictType, t.UnionType, t.AnyType)
_COPIES = "add.t copy.t list.t mul.left_t mul.right_ slice.t keys.str values.str items.str size"
_FRESH = {f"torch.aten.{name}" for name in _COPIES.split()}
"""Ops on lists and dicts that give a new one."""


def is_written(value: SSAValue) -> bool:
    """Whether some op may change the list or dict after it was made."""
    seen = set[SSAValue]()
    work = [value]
    while work:
        name = work.pop()
        if name in seen:
            continue
        seen.add(name)
        for use in name.uses:
            if _writes(use):
                return True
            work += names_after(use)
    return False


def parts_taken(op: Operation) -> int | None:
    """How many members a program takes of the list that an op gives, if it unpacks it and does nothing else with it."""
    if len(op.results) != 1:
        return None
    counts = {
        len(use.operation.results) if isinstance(use.operation, core.PrimListUnpackOp) else None
        for use in op.results[0].uses
    }
    return counts.pop() if len(counts) == 1 else None


def _writes(use: Use) -> bool:
    op = use.operation
    if isinstance(op, RegistryOp):
        if op.traits is PURE or op.schema.is_variadic:
            return False
        arguments = op.schema.arguments
        return use.index < len(arguments) and arguments[use.index].is_written
    if isinstance(op, core.OperatorOp):
        # libraries outside of PyTorch's own write to tensors only
        return op.op_name.startswith(("torch.aten.", "torch.prim."))
    return isinstance(op, CallOp) or op.name == "torch.prim.SetAttr"


def names_after(use: Use) -> list[SSAValue]:
    """What else the list is called after this use."""
    op = use.operation
    if isinstance(op, ReturnOp) or op.name in _FRESH:
        return []
    if isinstance(op, core.PrimLoopOp):
        return [op.regions[0].block.args[use.index - 1], op.results[use.index - 2]]
    if isinstance(op, core.PrimLoopConditionOp):
        loop, carried = _parent(op), use.index - 1
        return [loop.regions[0].block.args[1 + carried], loop.results[carried]]
    if isinstance(op, core.PrimIfYieldOp):
        return [_parent(op).results[use.index]]
    return [result for result in op.results if isinstance(result.type, _CONTAINERS)]


def _parent(op: Operation) -> Operation:
    parent = op.parent_op()
    if parent is None:
        raise ValueError(f"{op.name} outside of an op")
    return parent
