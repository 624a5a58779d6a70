"""Which op of a program an engine's compiler stumbles over, where the compiler itself does not say it.

Of the beginnings of a program, each with what the rest needs of it as results, the shortest that is refused ends in
that op. It is looked for by halves, for a few seconds at most: this is on the way to an error.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import FunctionType, IndexType, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from torch2mlir.dialects.locations import describe
from torch2mlir.errors import EngineError
from torch2mlir.runtime.lowered import LoweredFunction

_SECONDS = 10.0
_MOST_OPS = 2000


def with_model_line(
    error: EngineError, function: LoweredFunction, compile: Callable[[LoweredFunction], object]
) -> EngineError:
    """The error of a compiler with the op it is about and the line of the model that this comes from.

    Args:
        error: what the compiler said of the whole program.
        function: the program.
        compile: has the compiler at it, and raises EngineError.
    """
    ops = list(function.entry.body.block.ops)
    if function.source is not None or len(ops) > _MOST_OPS:
        return error
    refused = _first_refused(function, ops, compile, error.message)
    location = describe(refused.location) if refused is not None else None
    if refused is None or location is None:
        return error
    operands = ", ".join(str(operand.type) for operand in refused.operands)
    return EngineError(
        error.message,
        op=f"{refused.name} : ({operands})",
        location=location,
        dialect=error.dialect,
        hint=error.hint,
    )


def _first_refused(
    function: LoweredFunction,
    ops: Sequence[Operation],
    compile: Callable[[LoweredFunction], object],
    message: str,
) -> Operation | None:
    """The last op of the shortest beginning that is refused alike; that of the whole program, if no beginning is.

    None if there was no time to find it.
    """
    end = time.monotonic() + _SECONDS
    # between these: ops that a beginning can end in, and that stand for a line of the model
    places = [i for i, op in enumerate(ops[:-1]) if _results(op) and describe(op.location)]
    low, high = 0, len(places) - 1
    while low < high and time.monotonic() < end:
        middle = (low + high) // 2
        try:
            compile(_beginning(function, places[middle] + 1))
        except EngineError as error:
            is_alike = error.message == message
        else:
            is_alike = False
        low, high = (low, middle) if is_alike else (middle + 1, high)
    if low < high:
        return None
    return ops[places[high]] if places else ops[-1]


def _results(op: Operation) -> list[SSAValue]:
    """Those that a function can return."""
    return [
        result
        for result in op.results
        if isinstance(result.type, TensorType)
        and not isinstance(result.type.element_type, IndexType)
    ]


def _beginning(function: LoweredFunction, count: int) -> LoweredFunction:
    """A new program of the first ops of a function."""
    module = function.module.clone()
    cut = replace(function, module=module)
    entry: FuncOp = cut.entry
    block = entry.body.block
    ops = list(block.ops)
    rest = set(ops[count:])
    kept = [
        value
        for op in ops[:count]
        for value in _results(op)
        if any(_is_in(use.operation, rest) for use in value.uses)
    ]
    for op in reversed(ops[count:]):
        op.detach()
        op.erase(safe_erase=False)
    block.add_op(ReturnOp.create(operands=kept))
    results = [value.type for value in kept]
    entry.properties["function_type"] = FunctionType.from_lists(
        [argument.type for argument in block.args], results
    )
    entry.properties.pop("res_attrs", None)
    return LoweredFunction.of(module, function.target.name, function.name)


def _is_in(op: Operation | None, ops: set[Operation]) -> bool:
    while op is not None:
        if op in ops:
            return True
        op = op.parent_op()
    return False
