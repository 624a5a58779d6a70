"""Simpler ``torch.prim.If``: the branch that is taken, results that do not depend on it, exceptions as assertions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation, SSAValue

from torch2mlir.dialects.placing import place_before
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.values import Unknown, Values
from torch2mlir.transforms.folding.casts import is_refinement, underived
from torch2mlir.transforms.folding.constants import constant, insert_before, put_in_place
from torch2mlir.transforms.folding.handed_on import (
    containers_by_members,
    is_uninitialized,
    with_results,
    yielded,
)

RAISE = "torch.prim.RaiseException"


def simplify_branch(op: core.PrimIfOp, values: Values) -> Operation | None:
    """Simplifies one ``prim.If``.

    Returns:
        the first of the ops that took its place, None if it still stands there.
    """
    condition = values.of(op.operands[0])
    if isinstance(condition, bool):
        return _inline(op, 0 if condition else 1)
    raising = [_raised(region.block) for region in op.regions]
    if None in raising and any(raise_op is not None for raise_op in raising):
        return _assert(op, raising, values)
    _same_in_both(op, values)
    return _without_unused(containers_by_members(op, values))


def _inline(op: core.PrimIfOp, branch: int) -> Operation:
    """Puts a branch's ops in the place of the whole."""
    block = op.regions[branch].block
    for result, value in zip(op.results, list(yielded(op, branch)), strict=True):
        put_in_place_of_result(result, value)
    following: Operation | None = None
    for inner in list(block.ops):
        inner.detach()
        if isinstance(inner, core.PrimIfYieldOp):
            inner.erase()
            continue
        place_before(op, inner)
        following = following or inner
    following = following or op.next_op
    op.detach()
    op.erase(safe_erase=False)
    if following is None:
        raise ValueError("a block without a terminator")
    return following


def put_in_place_of_result(result: SSAValue, value: SSAValue) -> None:
    """Replaces a result by a value, seen through casts if the result's type was as specific."""
    source = underived(value)
    put_in_place(result, source if is_refinement(source.type, result.type) else value)


def _raised(block: Block) -> Operation | None:
    """The op that raises whenever the block runs."""
    return next((op for op in block.ops if op.name == RAISE), None)


def _assert(op: core.PrimIfOp, raising: Sequence[Operation | None], values: Values) -> Operation:
    """``if c: raise`` is ``assert not c``; the branch that does not raise is what happens otherwise."""
    raises = 0 if raising[0] is not None else 1
    raise_op = raising[raises]
    condition = op.operands[0]
    if raises == 0:
        negated = core.build("torch.aten.__not__", [condition], [t.bool_type])
        insert_before(op, negated)
        condition = negated.results[0]
    message = StringAttr(_message(raise_op, values))  # type: ignore[arg-type]
    assertion = core.RuntimeAssertOp.create(operands=[condition], properties={"message": message})
    insert_before(op, assertion)
    _inline(op, 1 - raises)
    return assertion


def _message(raise_op: Operation, values: Values) -> str:
    """The text of the exception; of one that is put together at run time, its template."""
    text = values.of(raise_op.operands[0])
    source = raise_op.operands[0].owner
    if isinstance(text, Unknown) and isinstance(source, Operation) and source.operands:
        text = values.of(source.operands[0])
    return text if isinstance(text, str) else "the program raises an exception"


def _same_in_both(op: core.PrimIfOp, values: Values) -> None:
    """Replaces results that are the same value in both branches, the condition, or its opposite."""
    then, otherwise = yielded(op, 0), yielded(op, 1)
    for result, one, other in zip(op.results, then, otherwise, strict=True):
        if result.first_use is None:
            continue
        if one is other:
            put_in_place_of_result(result, one)
            continue
        if is_uninitialized(one) or is_uninitialized(other):
            # read only where the other branch was taken
            defined = other if is_uninitialized(one) else one
            if _is_outside(defined, op):
                put_in_place_of_result(result, defined)
            elif _is_scalar(known := values.of(defined)):
                _as_constant(op, result, known)
            continue
        left, right = values.of(one), values.of(other)
        if isinstance(left, bool) and isinstance(right, bool) and left != right:
            _as_condition(op, result, left)
        elif type(left) is type(right) and _is_scalar(left) and left == right:
            _as_constant(op, result, left)


def _as_constant(op: core.PrimIfOp, result: SSAValue, value: object) -> None:
    new = constant(value, result.type)
    insert_before(op, new)
    put_in_place(result, new.results[0])


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


def _is_outside(value: SSAValue, op: Operation) -> bool:
    block = value.owner if isinstance(value.owner, Block) else value.owner.parent
    while block is not None:
        if block.parent_op() is op:
            return False
        parent = block.parent_op()
        block = parent.parent if parent is not None else None
    return True


def _as_condition(op: core.PrimIfOp, result: SSAValue, when_true: bool) -> None:
    """``True if c else False`` is ``c``."""
    condition = op.operands[0]
    if not when_true:
        negated = core.build("torch.aten.__not__", [condition], [t.bool_type])
        insert_before(op, negated)
        condition = negated.results[0]
    put_in_place(result, condition)


def _without_unused(op: core.PrimIfOp) -> Operation | None:
    """Drops results that nobody uses."""
    kept = [i for i, result in enumerate(op.results) if result.first_use is not None]
    return None if len(kept) == len(op.results) else with_results(op, kept).next_op
