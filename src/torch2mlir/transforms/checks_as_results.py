"""``torch-checks-as-results``: what a program asserts becomes results of its functions, for a runtime to look at.

Most dialects have no word for an assertion. After a function's results come booleans, one for each assertion, true
where it holds. One inside of a branch holds if the branch is not taken; one inside of a loop, if it does in every turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.symbols import retype_function
from torch2mlir.dialects.torch.values import Values
from torch2mlir.program import Check
from torch2mlir.transforms.folding.constants import constant, insert_before


@dataclass(frozen=True)
class _Assertion:
    """A boolean of a block, and what it says."""

    condition: SSAValue
    check: Check


def checks_as_results(function: FuncOp) -> list[Check]:
    """Makes the assertions of a function its last results, in place; returns what they say, in order."""
    block = function.body.blocks.first
    if block is None or not isinstance(block.last_op, ReturnOp):
        return []
    found = _taken_out(block, Values())
    end = block.last_op
    end.operands = [*end.operands, *(assertion.condition for assertion in found)]
    retype_function(function)
    return [assertion.check for assertion in found]


def _taken_out(block: Block, values: Values) -> list[_Assertion]:
    """Erases the assertions of a block and of the regions in it; they become values of the block."""
    found = list[_Assertion]()
    for op in list(block.ops):
        if isinstance(op, core.RuntimeAssertOp):
            condition = op.operands[0]
            if values.of(condition) is not True:
                message = op.properties["message"].data  # type: ignore[attr-defined]
                found.append(_Assertion(condition, Check(message, describe(op.location) or "")))
            op.detach()
            op.erase()
        elif isinstance(op, core.PrimIfOp):
            found += _of_branches(op, values)
        elif isinstance(op, core.PrimLoopOp):
            found += _of_turns(op, values)
    return found


def _of_branches(op: core.PrimIfOp, values: Values) -> list[_Assertion]:
    branches = [region.block for region in op.regions]
    inside = [_taken_out(branch, values) for branch in branches]
    count = sum(map(len, inside))
    if not count:
        return []
    for place, branch in enumerate(branches):
        end = _end(branch)
        holds = [
            _true(end) if i != place else a.condition for i, each in enumerate(inside) for a in each
        ]
        end.operands = [*end.operands, *holds]
    results = _with_results(op, op.operands, count)
    checks = [assertion.check for each in inside for assertion in each]
    return [_Assertion(result, check) for result, check in zip(results, checks, strict=True)]


def _of_turns(op: core.PrimLoopOp, values: Values) -> list[_Assertion]:
    body = op.regions[0].block
    inside = _taken_out(body, values)
    if not inside:
        return []
    end = _end(body)
    held = list[SSAValue]()
    for assertion in inside:
        before = body.insert_arg(t.bool_type, len(body.args))
        both = core.build("torch.aten.__and__.bool", [before, assertion.condition], [t.bool_type])
        insert_before(end, both)
        held.append(both.results[0])
    end.operands = [*end.operands, *held]
    results = _with_results(op, [*op.operands, *(_true(op) for _ in inside)], len(inside))
    return [
        _Assertion(result, assertion.check)
        for result, assertion in zip(results, inside, strict=True)
    ]


def _with_results(op: Operation, operands: Sequence[SSAValue], count: int) -> list[SSAValue]:
    """Puts an op in the place of another that has ``count`` booleans more; these."""
    regions: list[Region] = [op.detach_region(region) for region in list(op.regions)]
    new = type(op).create(
        operands=operands,
        result_types=[*op.result_types, *[t.bool_type] * count],
        regions=regions,
        attributes=op.attributes,
        location=op.location,
    )
    block = op.parent
    assert block is not None
    block.insert_op_before(new, op)
    for old, result in zip(op.results, new.results):
        old.replace_all_uses_with(result)
    op.detach()
    op.erase()
    return list(new.results[len(new.results) - count :])


def _true(before: Operation) -> SSAValue:
    new = constant(True, t.bool_type)
    insert_before(before, new)
    return new.results[0]


def _end(block: Block) -> Operation:
    end = block.last_op
    assert end is not None
    return end


@dataclass(frozen=True)
class ChecksAsResultsPass(ModulePass):
    """See the module's docstring."""

    name = "torch-checks-as-results"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, FuncOp):
                checks_as_results(function)
