"""``inline``: calls of functions of the module become the functions' bodies; private ones without calls disappear."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from torch2mlir.dialects.placing import place_before
from torch2mlir.transforms.symbol_dce import SymbolDcePass, is_private, symbols


def _callees(function: FuncOp) -> set[str]:
    return {op.callee.string_value() for op in function.walk() if isinstance(op, CallOp)}


def _recursive(functions: dict[str, FuncOp]) -> set[str]:
    """The functions that call themselves, directly or through others."""
    calls = {name: _callees(function) & functions.keys() for name, function in functions.items()}
    found = set[str]()
    for name in functions:
        seen, work = set[str](), list(calls[name])
        while work:
            callee = work.pop()
            if callee not in seen:
                seen.add(callee)
                work += calls[callee]
        if name in seen:
            found.add(name)
    return found


def _move(call: CallOp, callee: FuncOp) -> None:
    """Puts a function's body in the place of its only call; the function is left without one."""
    body = callee.body.block
    for argument, value in zip(body.args, call.arguments, strict=True):
        argument.replace_all_uses_with(value)
    for op in list(body.ops):
        op.detach()
        if isinstance(op, ReturnOp):
            for result, value in zip(call.results, op.operands, strict=True):
                result.replace_all_uses_with(value)
            op.erase()
        else:
            place_before(call, op)
    for each in (call, callee):
        each.detach()
        each.erase()


def _inline(call: CallOp, callee: FuncOp) -> None:
    """Puts a copy of a function's body in the place of a call."""
    body = callee.body.block
    copies = dict[SSAValue, SSAValue](zip(body.args, call.arguments, strict=True))
    for op in body.ops:
        if isinstance(op, ReturnOp):
            for result, value in zip(call.results, op.operands, strict=True):
                result.replace_all_uses_with(copies.get(value, value))
            break
        clone = op.clone(copies)
        for old, new in zip(op.walk(), clone.walk(), strict=True):
            new.location = old.location
        place_before(call, clone)
    call.detach()
    call.erase()


@dataclass(frozen=True)
class InlinePass(ModulePass):
    """See the module's docstring; functions of several blocks and recursive ones are left as calls."""

    name = "inline"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = {
            f.sym_name.data: f for f in op.ops if isinstance(f, FuncOp) and len(f.body.blocks) == 1
        }
        recursive = _recursive(functions)
        references = Counter(
            symbol
            for inner in op.walk()
            for attribute in (*inner.properties.values(), *inner.attributes.values())
            for symbol in symbols(attribute)
        )
        done = set[str]()

        def visit(name: str) -> None:
            """Inlines what a function calls, the callees' own calls first."""
            if name in done:
                return
            done.add(name)
            calls: list[Operation] = [c for c in functions[name].walk() if isinstance(c, CallOp)]
            for call in calls:
                callee = call.callee.string_value() if isinstance(call, CallOp) else ""
                if callee in functions and callee not in recursive and isinstance(call, CallOp):
                    visit(callee)
                    function = functions[callee]
                    only = is_private(function) and references[callee] == 1
                    (_move if only else _inline)(call, function)

        for name in functions:
            visit(name)
        SymbolDcePass().apply(ctx, op)
