"""Checks of sizes stop the program where they fail, for an engine whose memory is as large as sizes say.

What a program asserts comes after its results, for a runtime to look at. Of sizes that elements decide, that is too
late for IREE: ``y.view(n, -1)`` of four elements and an ``n`` of three is memory for three, and all four are written.
Where a check is computed of such sizes alone, which the host has, an assertion stands behind them, before what has
these sizes. IREE runs what a program does in its order (``iree-stream-partitioning-favor``).
"""

from __future__ import annotations

from xdsl.dialects import arith, cf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from torch2mlir.dialects import linalg
from torch2mlir.dialects.tensors import shape_of
from torch2mlir.engine_passes.beside import Beside
from torch2mlir.runtime.diagnostics import FAILED_CHECK

_FILL = "linalg.fill"


def stop_at_checks(function: FuncOp, checks: int) -> None:
    """Adds the assertions, in place.

    Args:
        function: of Linalg-on-Tensors; its last results are booleans.
        checks: how many of them say whether what the program asserts holds.
    """
    block = function.body.block
    end = block.last_op
    if not checks or end is None:
        return
    places = {op: place for place, op in enumerate(block.ops)}
    for result in range(len(end.operands) - checks, len(end.operands)):
        condition = end.operands[result]
        numbers = _numbers(condition)
        if not numbers:
            continue
        last = max(
            (n.owner for n in numbers if isinstance(n.owner, Operation)), key=places.__getitem__
        )
        behind = Beside(last, behind=True)
        holds = _computed(condition, behind)
        behind.create(cf.AssertOp, [holds], [], {"msg": StringAttr(FAILED_CHECK.format(result))})


def _numbers(value: SSAValue) -> set[SSAValue] | None:
    """The numbers of the function that a tensor of one is computed from; None if it is of other tensors too."""
    op = value.owner
    if isinstance(op, Block) or shape_of(value) != ():
        return None
    if op.name == _FILL:
        number = op.operands[0]
        return {number} if isinstance(number.owner, Operation) else None
    if isinstance(op, arith.ConstantOp):
        return set() if isinstance(op.value, DenseIntOrFPElementsAttr) else None
    if not isinstance(op, linalg.GenericOp) or not _is_of_numbers(op):
        return None
    numbers = {number for number in _read_in(op) if not isinstance(number.owner, arith.ConstantOp)}
    if any(isinstance(number.owner, Block) for number in numbers):
        return None
    for operand in op.inputs:
        found = _numbers(operand)
        if found is None:
            return None
        numbers |= found
    return numbers


def _is_of_numbers(op: linalg.GenericOp) -> bool:
    """Whether the body is arithmetic on what is read."""
    body = op.body.block
    written = body.args[len(op.inputs) :]
    return not any(arg.uses for arg in written) and all(
        each.name.startswith("arith.") for each in list(body.ops)[:-1]
    )


def _read_in(op: linalg.GenericOp) -> set[SSAValue]:
    """What the body reads from around it."""
    body = op.body.block
    return {
        operand
        for step in body.ops
        for operand in step.operands
        if operand.owner is not body and getattr(operand.owner, "parent", None) is not body
    }


def _computed(value: SSAValue, behind: Beside) -> SSAValue:
    """The number in a tensor of one, computed from numbers."""
    op = value.owner
    assert isinstance(op, Operation)
    if op.name == _FILL:
        return op.operands[0]
    if isinstance(op, arith.ConstantOp):
        assert isinstance(op.value, DenseIntOrFPElementsAttr)
        return behind.constant(next(iter(op.value.get_attrs())))
    assert isinstance(op, linalg.GenericOp)
    body = op.body.block
    values = dict[SSAValue, SSAValue](
        zip(body.args, (_computed(operand, behind) for operand in op.inputs))
    )
    for number in _read_in(op):
        if isinstance(number.owner, arith.ConstantOp):
            values[number] = behind.insert(number.owner.clone()).results[0]
    *steps, end = body.ops
    for step in steps:
        behind.insert(step.clone(values))
    return values.get(end.operands[0], end.operands[0])
