"""Tensors from around a loop or branch that it updates, for an engine that does not always make the copy it needs.

An update of what a loop does not change, ``p + x.index_add(0, i, p)`` in each turn, begins with x every time. IREE 3.13
copies x in the first turn, or before it, and updates the copy in the others: what the turns add is added up. So an
update begins with a copy of its turn's own, if what it begins with is from around the loop or is carried on as it is.

A branch updates what was computed before it, and others read behind it, where it lies, if that is the last thing that
was computed: ``q = x + 1; cond(p, f, lambda q: q.index_copy(0, i, x), (q,)), q`` of one element. So it begins with a
copy too. That is made before the branch, and not in it, where it can be: of a copy that a branch makes, updates and
yields, IREE gives the memory away where the other branch yields another tensor's ("ref is null" at the call).

An update behind a branch may come before the branch has read the tensor: ``q = cond(p, f, g, (x,))`` and then
``x.index_put((i,), v)``, beside other ops on x. It begins with a copy as well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from xdsl.dialects import tensor
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue, Use

from torch2mlir.dialects import linalg
from torch2mlir.engine_passes.copies import Copies
from torch2mlir.engine_passes.op_kinds import BRANCHES, LOOPS
from torch2mlir.engine_passes.own_written_arguments import VIEWS, destination_places, viewed

REGIONS = frozenset({*BRANCHES, *LOOPS})


def own_in_regions(function: FuncOp) -> None:
    """Copies what a branch, or a turn of a loop, updates and something else begins with as well."""
    copies = Copies(function)
    for use in list(_updated_in_regions(function)):
        copies.for_use(use, before=_branch_to_copy_before(use))


def _branch_to_copy_before(use: Use) -> Operation | None:
    """The outermost branch that updates a tensor from around it; none in a loop, and none for a view made inside."""
    updated = use.operation.operands[use.index]
    if _around(use.operation, LOOPS) is not None:
        return None
    outermost, branch = None, _around(use.operation, BRANCHES)
    while branch is not None and not _is_inside(updated, branch):
        outermost, branch = branch, _around(branch, BRANCHES)
    return outermost


def _updated_in_regions(function: FuncOp) -> Iterator[Use]:
    for op in function.walk():
        loop, branch = (_around(op, kinds) for kinds in (LOOPS, BRANCHES))
        for place in destination_places(op):
            root = viewed(op.operands[place])
            if _is_new(root):
                continue
            if _is_read_in_another(root, op):
                yield Use(op, place)
                continue
            of_others = loop is not None and not _is_of_turn(root, loop)
            if of_others or (branch is not None and not _is_inside(root, branch)):
                yield Use(op, place)


def _is_read_in_another(root: SSAValue, op: Operation) -> bool:
    """Whether a branch or loop that is not around an op reads a tensor, or a view of it."""
    waiting = [root]
    while waiting:
        for use in waiting.pop().uses:
            around = _around(use.operation, REGIONS)
            if around is not None and not _is_in(op.parent, around):
                return True
            if use.index == 0 and use.operation.name in VIEWS:
                waiting += use.operation.results
    return False


def _around(op: Operation, kinds: Collection[str]) -> Operation | None:
    """The innermost op of some kinds that an op is in."""
    around = op.parent_op()
    while around is not None and around.name not in kinds:
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
    return _is_in(block, loop)


def _is_inside(root: SSAValue, branch: Operation) -> bool:
    """Whether a tensor is computed by a branch."""
    return _is_in(root.owner if isinstance(root.owner, Block) else root.owner.parent, branch)


def _is_in(block: Block | None, op: Operation) -> bool:
    while block is not None and (around := block.parent_op()) is not None:
        if around is op:
            return True
        block = around.parent
    return False
