"""``torch-prepare-for-globalize-object-graph``: method calls and calls of function values become plain calls."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.dialects.func import CallOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from torch2mlir.dialects.func_ext import CallIndirectOp, ConstantOp
from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.placing import place_before
from torch2mlir.dialects.rows import RowOp
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.object_graph import CallMethodOp, ClassTypeOp, MethodOp
from torch2mlir.errors import PassError


def _methods(module: ModuleOp) -> dict[tuple[str, str], SymbolRefAttr]:
    """Class and method name -> the function that implements it."""
    return {
        (cls.sym_name.data, member.method_name.data): member.function
        for cls in module.ops
        if isinstance(cls, ClassTypeOp)
        for member in cls.body.block.ops
        if isinstance(member, MethodOp)
    }


def _call(op: Operation, callee: SymbolRefAttr, arguments: list[SSAValue]) -> None:
    """Puts a direct call in the place of ``op``."""
    call = CallOp(callee, arguments, op.result_types)
    call.location = op.location
    place_before(op, call)
    for old, new in zip(op.results, call.results, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    op.detach()
    op.erase()


@dataclass(frozen=True)
class PrepareForGlobalizeObjectGraphPass(ModulePass):
    """See the module's docstring.

    Raises:
        PassError: a method that the receiver's class does not have is called.
    """

    name = "torch-prepare-for-globalize-object-graph"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        methods = _methods(op)
        functions = list[RowOp]()
        for inner in list(op.walk()):
            if isinstance(inner, CallMethodOp):
                type = inner.receiver.type
                name = type.class_name.data if isinstance(type, t.NnModuleType) else ""
                callee = methods.get((name, inner.method_name.data))
                if callee is None:
                    raise PassError(
                        f"the class '{name}' has no method '{inner.method_name.data}'",
                        op=str(inner),
                        location=describe(inner.location),
                        hint="declare it with torch.method in its torch.class_type",
                    )
                _call(inner, callee, [inner.receiver, *inner.arguments])
            elif isinstance(inner, CallIndirectOp) and isinstance(inner.callee.owner, ConstantOp):
                _call(inner, inner.callee.owner.value, list(inner.arguments))
            elif isinstance(inner, ConstantOp):
                functions.append(inner)
        for function in functions:
            if function.result.first_use is None:
                function.detach()
                function.erase()
