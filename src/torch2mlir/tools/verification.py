"""Verification of a whole module that says of every failing operation where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.irdl.dominance import strictly_dominates
from xdsl.traits import NoTerminator

from torch2mlir.tools.diagnostics import Diagnostic, about_operation, verifier_message


def violations(module: Operation, name: str) -> list[Diagnostic]:
    """What is wrong with a module, an error per failing operation; ``name`` is what messages call the text."""
    order = {op: index for index, op in enumerate(module.walk())}
    return [
        about_operation(op, message, name)
        for op in order
        if (message := _violation(op, order)) is not None
    ]


def _violation(op: Operation, order: Mapping[Operation, int]) -> str | None:
    for region in op.regions:
        single = len(region.blocks) == 1 and not op.has_trait(NoTerminator)
        if single and region.block.is_empty:
            return "has an empty block where a terminator is needed"
    if (use := next(_uses_before_definition(op, order), None)) is not None:
        return f"operand #{use} does not dominate this use"
    try:
        op.verify(verify_nested_ops=False)
    except Exception as error:
        message = verifier_message(error)
        return message.removeprefix("Operation does not verify: ")
    return None


def _uses_before_definition(op: Operation, order: Mapping[Operation, int]) -> Iterator[int]:
    block = op.parent
    if block is None or isinstance(block.parent_op(), ModuleOp):
        return  # the order of a graph region is free
    for index, operand in enumerate(op.operands):
        if not _dominates(operand, op, order):
            yield index


def _block_of(value: SSAValue) -> Block | None:
    return value.op.parent if isinstance(value, OpResult) else None


def _dominates(value: SSAValue, op: Operation, order: Mapping[Operation, int]) -> bool:
    block = value.owner if isinstance(value, BlockArgument) else _block_of(value)
    if not isinstance(block, Block):
        return False
    user = op
    while (around := user.parent) is not None and around.parent is not block.parent:
        outer = user.parent_op()
        if outer is None:
            return False
        user = outer
    if user.parent is None:
        return False
    if user.parent is not block:
        return strictly_dominates(block, user.parent)
    if isinstance(value, BlockArgument) or isinstance(block.parent_op(), ModuleOp):
        return True
    return isinstance(value, OpResult) and order[value.op] < order[user]
