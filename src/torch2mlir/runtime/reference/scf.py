"""``scf``: loops and conditionals whose bounds and conditions are single values."""

from __future__ import annotations

from xdsl.interpreter import ReturnedValues
from xdsl.ir import Operation

from torch2mlir.errors import EngineError
from torch2mlir.runtime.reference.interpreter import ReferenceInterpreter, implements, integers
from torch2mlir.runtime.reference.values import Array, fit


@implements("scf.condition")
def condition(_: ReferenceInterpreter, op: Operation, *values: Array) -> ReturnedValues:
    """Ends the first region of a ``scf.while``: whether to go on, then what to go on with."""
    return ReturnedValues(values)


@implements("scf.for")
def for_loop(
    interpreter: ReferenceInterpreter,
    op: Operation,
    lower: Array,
    upper: Array,
    step: Array,
    *carried: Array,
) -> tuple[Array, ...]:
    """Counts from ``lower`` to ``upper``, handing the carried values from one round to the next."""
    if step.item() <= 0:
        raise EngineError(f"the step of a loop should be positive, not {step.item()}")
    for index in range(lower.item(), upper.item(), step.item()):
        counter = fit(index, op.operands[0].type)
        carried = interpreter.run_ssacfg_region(op.regions[0], (counter, *carried), "for")
    return carried


@implements("scf.while")
def while_loop(
    interpreter: ReferenceInterpreter, op: Operation, *carried: Array
) -> tuple[Array, ...]:
    """Runs the first region, then the second for as long as the first says so."""
    before, after = op.regions
    while True:
        go_on, *values = interpreter.run_ssacfg_region(before, carried, "while")
        if not go_on.item():
            return tuple(values)
        carried = interpreter.run_ssacfg_region(after, tuple(values), "do")


@implements("scf.if")
def if_else(
    interpreter: ReferenceInterpreter, op: Operation, condition: Array
) -> tuple[Array, ...]:
    """Runs one of two regions."""
    return interpreter.run_ssacfg_region(op.regions[0 if condition.item() else 1], (), "if")


@implements("scf.index_switch")
def index_switch(
    interpreter: ReferenceInterpreter, op: Operation, index: Array
) -> tuple[Array, ...]:
    """Runs the region of the case that equals the index; the default is the first region."""
    cases = integers(op, "cases")
    chosen = cases.index(index.item()) + 1 if index.item() in cases else 0
    return interpreter.run_ssacfg_region(op.regions[chosen], (), "case")


@implements("scf.execute_region")
def execute_region(interpreter: ReferenceInterpreter, op: Operation) -> tuple[Array, ...]:
    """Runs a region in place."""
    return interpreter.run_ssacfg_region(op.regions[0], (), "region")
