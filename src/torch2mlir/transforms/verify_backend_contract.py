"""``torch-verify-backend-contract-no-decompositions``: the contract but for the set of ops.

Values only: no global slots, no tensors that can be written; and of every tensor the rank and the dtype.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass

from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.placing import ops_in
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.object_graph import (
    GlobalSlotModuleInitializerOp,
    InitializeGlobalSlotsOp,
    NnModuleOp,
)
from torch2mlir.errors import BackendContractError

_WRITTEN = (
    "annotate arguments with torch.type_bound; a tensor that is written in place must not be used by another name for "
    "the same memory afterwards (the operand of a reshape or of a branch or loop that hands it on, a list it is in): "
    "write x = x + 1 instead of x += 1 there"
)
_SLOTS = "a slot that is public, set or written in place is state: the contract has none, make it an argument"
_OBJECTS = "run torchscript-module-to-torch-backend-pipeline, which globalizes objects"
_TYPES = "annotate the function's arguments with full types and run torch-refine-types"


def type_problem(type: Attribute) -> tuple[str, str] | None:
    """What is wrong with the type of a value, and what to do."""
    match type:
        case t.ValueTensorType():
            if type.sizes is None:
                return f"tensor with unknown rank: {type}", _TYPES
            if type.dtype is None:
                return f"tensor with unknown dtype: {type}", _TYPES
        case t.NonValueTensorType():
            return f"tensor with reference semantics: {type}", _WRITTEN
        case t.NnModuleType():
            return f"object: {type}", _OBJECTS
        case t.ListType() | t.OptionalType() if isinstance(type.contained, t.NonValueTensorType):
            return f"tensors with reference semantics: {type}", _WRITTEN
    return None


def _violation(op: Operation, message: str, hint: str) -> BackendContractError:
    return BackendContractError(
        f"unsupported by backend contract: {message}",
        op=str(op).splitlines()[0],
        location=describe(op.location),
        dialect="torch (backend contract)",
        hint=hint,
    )


def _types(op: Operation) -> Iterator[Attribute]:
    yield from op.result_types
    for region in op.regions:
        for block in region.blocks:
            yield from block.arg_types


def _boundary_problem(type: Attribute) -> str | None:
    """What is wrong with the type of a function's result."""
    if isinstance(type, t.TupleType | t.DictType | t.ListType | t.OptionalType | t.UnionType):
        return f"a function that returns a {type}"
    return None


def verify_backend_contract(module: ModuleOp) -> None:
    """Checks everything but which ops there are.

    Raises:
        BackendContractError: names the first op that violates the contract.
    """
    for member in module.ops:
        if isinstance(member, NnModuleOp):
            raise _violation(member, "objects", _OBJECTS)
        if isinstance(member, GlobalSlotModuleInitializerOp):
            end = member.body.block.last_op
            names = end.slot_names.data if isinstance(end, InitializeGlobalSlotsOp) else ()
            slots = ", ".join(str(name) for name in names)
            raise _violation(end or member, f"module initializers, of the slots {slots}", _SLOTS)
    for op in ops_in(module):
        for type in _types(op):
            if (problem := type_problem(type)) is not None:
                raise _violation(op, *problem)
        if isinstance(op, ReturnOp):
            for type in op.operand_types:
                if (message := _boundary_problem(type)) is not None:
                    hint = "return tensors, numbers, or a tuple of them (torch-adjust-calling-conventions)"
                    raise _violation(op, message, hint)


def is_value_program(module: ModuleOp) -> bool:
    """Whether there is nothing that only TorchScript programs have: rounds of simplification would find nothing."""
    for member in module.ops:
        if not isinstance(member, FuncOp):
            return False
        for op in ops_in(member):
            if op.name == "func.call":
                return False
            for type in _types(op):
                if type.name in _SCRIPTED:
                    return False
    return True


_SCRIPTED = {
    each.name
    for each in (
        t.NonValueTensorType,
        t.OptionalType,
        t.TupleType,
        t.DictType,
        t.UnionType,
        t.AnyType,
        t.NnModuleType,
    )
}


@dataclass(frozen=True)
class VerifyBackendContractNoDecompositionsPass(ModulePass):
    """See the module's docstring."""

    name = "torch-verify-backend-contract-no-decompositions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        verify_backend_contract(op)
