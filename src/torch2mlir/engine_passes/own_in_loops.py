"""Tensors that each turn of a loop updates anew, for an engine that copies them once.

An update of what a loop does not change, ``p + x.index_add(0, i, p)`` in each turn, begins with x every time. IREE 3.13
copies x in the first turn, or before it, and updates the copy in the others: what the turns add is added up. So an
update begins with a copy of its turn's own, if what it begins with is from around the loop or is carried on as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import tensor
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue, Use

from torch2mlir.dialects import linalg
from torch2mlir.engine_passes.copies import Copies
from torch2mlir.engine_passes.op_kinds import LOOPS
from torch2mlir.engine_passes.own_written_arguments import destination_places, viewed


def own_in_loops(function: FuncOp) -> None:
    """Copies, in each turn of a loop, what the loop updates and another turn begins with as well."""
    copies = Copies(function)
    for use in list(_updated_in_loops(function)):
        copies.for_use(use)


def _updated_in_loops(function: FuncOp) -> Iterator[Use]:
    for op in function.walk():
        if (loop := _loop_around(op)) is None:
            continue
        for place in destination_places(op):
            root = viewed(op.operands[place])
            if _is_new(root) or _is_of_turn(root, loop):
                continue
            yield Use(op, place)


def _loop_around(op: Operation) -> Operation | None:
    """The innermost loop that an op is in."""
    around = op.parent_op()
    while around is not None and around.name not in LOOPS:
        around = around.parent_op()
    return around


def _is_new(root: SSAValue) -> bool:
    """Whether a tensor is made where it is computed into: what has one number everywhere is."""
    return isinstance(root.owner, linalg.FillOp | tensor.EmptyOp)


def _is_of_turn(root: SSAValue, loop: Operation) -> bool:
    """Whether a tensor is computed by a turn of a loop, or carried into it and not handed on to the next."""
    block = root.owner if isinstance(root.owner, Block) else root.owner.parent
    if isinstance(root, BlockArgument) and root.owner.parent_op() is loop:
        end = root.owner.last_op
        return end is None or root not in map(viewed, end.operands)
    while block is not None and (around := block.parent_op()) is not None:
        if around is loop:
            return True
        block = around.parent
    return False
