"""Tensors that a loop or branch hands on as they came, for an engine that forgets whose memory they are.

A branch that yields a tensor from around it, and a loop that does not run, give that very tensor. IREE 3.13 takes it
for another one, and puts several tensors into one allocation besides, of which the one that is handed on may be a part:

- what is updated in place behind that, the result or the tensor, is updated in both: ``torch.cond(p, f, torch.clone,
  (x,)), x.index_copy(0, i, y)``;
- the allocation is given back behind the last use of the result, while others of its tensors are in use ("transient
  buffer has not been committed");
- the register of the allocation is given to the result, whatever the other branch yields ("ref is null").

So a loop begins with copies, and a branch yields a copy of what is not its own. Each has an allocation of its own: it
is computed behind a barrier. Where anything is updated in place, a branch yields nothing but copies, and so does a loop
of what none of its turns changes: the compiler may find it to be equal to what was computed before (``a = x * 2;
cond(p, lambda x: x * 2, ..)``, ``x + 0``), and takes that for it. A tensor of unknown sizes that a loop alone reads is
not copied: of these there is nothing that would keep the allocations apart (``runs_in_turn``), and IREE refuses loops
that begin with many.

What a loop carries and its body does not read, such as the last output, goes through a barrier in the body: IREE takes
it out of what the loop begins with, not out of what it hands on, and its compiler dies of the difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue, Use

from torch2mlir.dialects.tensors import shape_of
from torch2mlir.engine_passes.beside import Beside
from torch2mlir.engine_passes.copies import Copies
from torch2mlir.engine_passes.kept_apart import signless, unknown_to_iree
from torch2mlir.engine_passes.op_kinds import CONTROL_FLOW, LOOPS
from torch2mlir.engine_passes.own_written_arguments import (
    VIEWS,
    destinations,
    updates_in_place,
    viewed,
)


def own_handed_on(function: FuncOp) -> None:
    """Copies what loops of a function begin with, and what a region yields that others hold as well."""
    ops, copies = list(function.body.walk()), Copies(function)
    has_updates = any(map(updates_in_place, ops))
    for op in [op for op in ops if op.name in CONTROL_FLOW]:
        for use in list(_handed_on(op, has_updates)):
            copies.for_use(use)
        if op.name in LOOPS:
            _read_all(op.regions[-1].block)


def _handed_on(op: Operation, has_updates: bool) -> Iterator[Use]:
    """Where an op takes a tensor whose memory one of its results may be, and something else."""
    if op.name in LOOPS:
        yield from (use for use in _tensors(op) if _is_known(use) or not _is_alone(use))
    for block in chain.from_iterable(region.blocks for region in op.regions):
        if (end := block.last_op) is None:
            continue
        yielded = set[SSAValue]()
        for use in _tensors(end):
            value = end.operands[use.index]
            root = _root(value)
            is_own = _is_own(root, op) and not (has_updates and _may_be_older(value, op))
            if root in yielded or not is_own:
                yield use
            yielded.add(root)


def _read_all(body: Block) -> None:
    """Reads the tensors of known sizes that a loop carries and does not read."""
    for arg in body.args:
        is_tensor = isinstance(arg.type, TensorType) and DYNAMIC_INDEX not in arg.type.get_shape()
        if is_tensor and arg.first_use is None and body.first_op is not None:
            before = Beside(body.first_op)
            unknown_to_iree(before, signless(before, arg))


def _tensors(op: Operation) -> Iterator[Use]:
    for index, operand in enumerate(op.operands):
        if isinstance(operand.type, TensorType):
            yield Use(op, index)


def _is_known(use: Use) -> bool:
    return DYNAMIC_INDEX not in shape_of(use.operation.operands[use.index])


def _is_alone(use: Use) -> bool:
    """Whether nobody else reads a tensor, or one that it is a view of."""
    value = use.operation.operands[use.index]
    while value.has_one_use():
        if not isinstance(op := value.owner, Operation) or op.name not in VIEWS:
            return True
        value = op.operands[0]
    return False


def _is_own(value: SSAValue, op: Operation) -> bool:
    """Whether a value is made by an op's regions: a loop's arguments are, what a branch is given is not."""
    block = value.owner if isinstance(value.owner, Block) else value.owner.parent
    if isinstance(value.owner, Block) and block is not None and block.parent_op() is op:
        return op.name in LOOPS
    while block is not None and (around := block.parent_op()) is not None:
        if around is op:
            return True
        block = around.parent
    return False


def _may_be_older(value: SSAValue, op: Operation) -> bool:
    """Whether what regions of an op yield may have been computed before it: not if turns of a loop change it."""
    if op.name not in LOOPS:
        return True
    waiting, seen = [value], set[SSAValue]()
    while waiting:
        seen.add(value := waiting.pop())
        if isinstance(value.owner, Operation):
            read = chain.from_iterable(each.operands for each in value.owner.walk())
            waiting += [each for each in read if each not in seen and _is_own(each, op)]
        elif value.owner.parent_op() is op:
            return False
    return True


def _root(value: SSAValue) -> SSAValue:
    """Whose memory a value is: it may be a view, or updated in place."""
    value = viewed(value)
    while isinstance(op := value.owner, Operation) and (updated := destinations(op)):
        value = viewed(updated[min(op.results.index(value), len(updated) - 1)])
    return value
