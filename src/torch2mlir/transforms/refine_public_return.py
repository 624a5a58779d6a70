"""``torch-refine-public-return``: public functions return values, with the types that are known of them."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.symbols import retype_function
from torch2mlir.transforms.adjust_calling_conventions import cast_tensor


def _precise(value: SSAValue) -> SSAValue:
    """The value before casts that only forget what is known of it."""
    while isinstance(value.owner, core.CastLikeOp):
        source = value.owner.operands[0]
        if _knows(value) > _knows(source):
            break
        value = source
    return value


def _knows(value: SSAValue) -> int:
    """How much a type says of a tensor."""
    type = value.type
    if not isinstance(type, t.AnyTensorType):
        return 0
    sizes = type.sizes
    known = 0 if sizes is None else 1 + sum(size is not None for size in sizes)
    return known + (type.dtype is not None)


def _is_only_read(value: SSAValue) -> bool:
    """Whether a new tensor is only cast, read and returned."""
    for use in value.uses:
        op = use.operation
        if isinstance(op, core.CastLikeOp):
            if not _is_only_read(op.results[0]):
                return False
        elif not isinstance(op, core.CopyToValueTensorOp | ReturnOp):
            return False
    return True


def _returned(builder: Builder, value: SSAValue) -> SSAValue:
    value = _precise(value)
    if not isinstance(value.type, t.NonValueTensorType):
        return value
    owner = value.owner
    if isinstance(owner, core.CopyToNonValueTensorOp) and _is_only_read(value):
        return _precise(owner.operands[0])
    return cast_tensor(builder, value, t.vtensor(value.type.sizes, value.type.dtype))


@dataclass(frozen=True)
class RefinePublicReturnPass(ModulePass):
    """See the module's docstring; a function that is called keeps its type."""

    name = "torch-refine-public-return"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        called = {c.callee.string_value() for c in op.walk() if isinstance(c, CallOp)}
        for function in op.ops:
            if (
                not isinstance(function, FuncOp)
                or function.sym_visibility == StringAttr("private")
                or function.sym_name.data in called
                or len(function.body.blocks) != 1
            ):
                continue
            end = function.body.block.last_op
            if isinstance(end, ReturnOp):
                builder = Builder(InsertPoint.before(end))
                end.operands = [_returned(builder, operand) for operand in end.operands]
                retype_function(function)
