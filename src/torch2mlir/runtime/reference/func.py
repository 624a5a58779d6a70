"""``func``, ``cf`` and ``ml_program``: calls, branches between blocks, assertions, globals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from xdsl.dialects.builtin import StringAttr, SymbolRefAttr
from xdsl.interpreter import ReturnedValues, Successor
from xdsl.ir import Operation, TypeAttribute

from torch2mlir.errors import EngineError
from torch2mlir.runtime.reference.interpreter import (
    ReferenceInterpreter,
    attribute,
    implements,
)
from torch2mlir.runtime.reference.values import Array, literal_to_array


def call_function(
    interpreter: ReferenceInterpreter, function: Operation, arguments: Sequence[Array]
) -> tuple[Array, ...]:
    """Runs the body of a ``func.func``.

    Raises:
        EngineError: the function is only declared.
    """
    body = function.regions[0]
    if not body.blocks:
        raise EngineError(f"function {attribute(function, 'sym_name')} has no body to run")
    return interpreter.run_ssacfg_region(body, tuple(arguments), "function")


@implements("func.return", "scf.yield", "linalg.yield", "tensor.yield")
def leave(_: ReferenceInterpreter, op: Operation, *values: Array) -> ReturnedValues:
    """Ends a region with its results."""
    return ReturnedValues(values)


@implements("func.call")
def call(interpreter: ReferenceInterpreter, op: Operation, *arguments: Array) -> tuple[Array, ...]:
    """Runs another function of the module."""
    callee = cast(SymbolRefAttr, attribute(op, "callee")).string_value()
    return call_function(interpreter, interpreter.symbol(callee), arguments)


@implements("cf.br")
def branch(_: ReferenceInterpreter, op: Operation, *arguments: Array) -> Successor:
    """Goes on in another block."""
    return Successor(op.successors[0], arguments)


@implements("cf.cond_br")
def branch_if(
    _: ReferenceInterpreter, op: Operation, condition: Array, *arguments: Array
) -> Successor:
    """Goes on in one of two blocks."""
    split = len(op.successors[0].args)
    if condition:
        return Successor(op.successors[0], arguments[:split])
    return Successor(op.successors[1], arguments[split:])


@implements("cf.assert")
def check(_: ReferenceInterpreter, op: Operation, condition: Array) -> None:
    """Stops the run, with the assertion's message, when the condition does not hold."""
    if not np.all(condition):
        message = attribute(op, "msg")
        text = message.data if isinstance(message, StringAttr) else "no message"
        raise EngineError(f"the program's own check failed: {text}")


def _global(interpreter: ReferenceInterpreter, op: Operation) -> str:
    """The name of the global an op refers to, its contents made from the declaration at first use."""
    name = cast(SymbolRefAttr, attribute(op, "global")).string_value()
    if name not in interpreter.globals:
        declaration = interpreter.symbol(name)
        literal = attribute(declaration, "value")
        if literal is None:
            raise EngineError(f"global @{name} has no initial value")
        type_ = cast(TypeAttribute, attribute(declaration, "type"))
        interpreter.globals[name] = literal_to_array(literal, type_, interpreter.resources)
    return name


@implements("ml_program.global_load", "ml_program.global_load_const")
def load_global(interpreter: ReferenceInterpreter, op: Operation) -> Array:
    """The present contents of a global."""
    return interpreter.globals[_global(interpreter, op)]


@implements("ml_program.global_store")
def store_global(interpreter: ReferenceInterpreter, op: Operation, value: Array) -> None:
    """New contents for a global; they last from one call of the program to the next."""
    interpreter.globals[_global(interpreter, op)] = value
