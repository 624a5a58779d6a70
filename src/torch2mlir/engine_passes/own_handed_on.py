"""Tensors that a loop or branch hands on as they came, for an engine that forgets whose memory they are.

A branch that yields a tensor from around it, and a loop that does not run, give that very tensor. IREE 3.13 takes it
for another one: what is updated in place behind that, the result or the tensor, is updated in both. So it was with
``torch.cond(p, f, torch.clone, (x,)), x.index_copy(0, i, y)``. What is handed on is copied, if one of them is updated.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue, Use

from torch2mlir.engine_passes.copies import Copies
from torch2mlir.engine_passes.op_kinds import CONTROL_FLOW
from torch2mlir.engine_passes.own_written_arguments import VIEWS, written_values


def own_handed_on(function: FuncOp) -> None:
    """Copies what loops and branches of a function may hand on, where it or a view of it is computed into."""
    ops = [op for op in function.body.walk() if op.name in CONTROL_FLOW]
    if not ops or not (written := written_values(function)):
        return
    copies = Copies(function)
    for op in ops:
        for use in list(_handed_on(op)):
            family, users = _family(_root(use.operation.operands[use.index]))
            others = any(user != use for user in users)
            if others and not written.isdisjoint(family):
                copies.for_use(use)


def _handed_on(op: Operation) -> Iterator[Use]:
    """Where an op takes a tensor that one of its results may be."""
    for index, operand in enumerate(op.operands):
        if isinstance(operand.type, TensorType):
            yield Use(op, index)
    for block in chain.from_iterable(region.blocks for region in op.regions):
        end = block.last_op
        for index, operand in enumerate(end.operands if end is not None else ()):
            if isinstance(operand.type, TensorType) and not _is_within(_root(operand), op):
                assert end is not None
                yield Use(end, index)


def _is_within(value: SSAValue, op: Operation) -> bool:
    """Whether a value is made by an op's regions."""
    block = value.owner.parent if isinstance(value.owner, Operation) else value.owner
    while block is not None and (around := block.parent_op()) is not None:
        if around is op:
            return True
        block = around.parent
    return False


def _root(value: SSAValue) -> SSAValue:
    """What a value is a view of."""
    while isinstance(value.owner, Operation) and value.owner.name in VIEWS:
        value = value.owner.operands[0]
    return value


def _family(root: SSAValue) -> tuple[set[SSAValue], list[Use]]:
    """A tensor with its views, and who uses them other than for views."""
    family, users, waiting = {root}, list[Use](), [root]
    while waiting:
        for use in waiting.pop().uses:
            if use.operation.name in VIEWS and use.index == 0:
                view = use.operation.results[0]
                family.add(view)
                waiting.append(view)
            else:
                users.append(use)
    return family, users
