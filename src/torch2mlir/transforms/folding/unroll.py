"""``torch.prim.Loop`` written out: loops over lists and modules, whose iterations differ in more than values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Attribute, Operation, SSAValue

from torch2mlir.dialects.placing import place_before
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.lists import is_written
from torch2mlir.dialects.torch.python_ops import FAILURES, PYTHON_OPS
from torch2mlir.dialects.torch.values import Unknown, Values
from torch2mlir.transforms.folding.casts import is_refinement
from torch2mlir.transforms.folding.constants import constant, put_in_place
from torch2mlir.transforms.folding.loop_values import MOST_TRIPS
from torch2mlir.transforms.typing.type_lattice import has_rank_and_dtype, is_known

MOST_UNROLLED = 1024
"""A loop with more iterations stays a loop."""
CHANGES_TYPES = "torch2mlir.changes_types"
"""The attribute of a loop that no dtype or rank was found for what it carries, although it starts with one."""


def trip_count(loop: core.PrimLoopOp, values: Values) -> int | None:
    """How often a loop runs, if that is known: its count, or what its condition gives for constant state."""
    limit, starts = values.of(loop.operands[0]), values.of(loop.operands[1])
    end = loop.regions[0].block.last_op
    if end is None or not isinstance(limit, int) or not isinstance(starts, bool):
        return None
    if not starts or limit <= 0:
        return 0
    if values.of(end.operands[0]) is True:
        return limit if limit < MOST_TRIPS else None
    return _simulated(loop, end, limit, values)


def _simulated(loop: core.PrimLoopOp, end: Operation, limit: int, values: Values) -> int | None:
    """Counts iterations by computing the numbers that the condition depends on."""
    block = loop.regions[0].block
    state: dict[SSAValue, Any] = {
        argument: values.of(initial)
        for argument, initial in zip(block.args[1:], loop.operands[2:], strict=True)
        if not isinstance(initial.type, t.AnyTensorType)
    }
    for trip in range(min(limit, MOST_UNROLLED)):
        known = {block.args[0]: trip, **state}
        if not isinstance(goes_on := _evaluate(end.operands[0], known, values), bool):
            return None
        if not goes_on:
            return trip + 1
        state = {
            argument: _evaluate(following, known, values)
            for argument, following in zip(block.args[1:], end.operands[1:], strict=True)
            if argument in state
        }
    return limit if limit <= MOST_UNROLLED else None


def _evaluate(value: SSAValue, known: dict[SSAValue, Any], values: Values) -> Any:
    """A number of the body, given those of its arguments; :class:`Unknown` if it depends on something else."""
    if value in known:
        return known[value]
    outside = values.of(value) if not isinstance(value.type, t.AnyTensorType) else Unknown(value)
    result: Any = outside
    if isinstance(outside, Unknown):
        owner = value.owner
        if isinstance(owner, Operation) and owner.name in PYTHON_OPS:
            operands = [_evaluate(operand, known, values) for operand in owner.operands]
            if not any(isinstance(operand, Unknown) for operand in operands):
                try:
                    result = PYTHON_OPS[owner.name](*operands)
                except FAILURES:
                    result = Unknown(value)
    known[value] = result
    return result


def needs_unrolling(loop: core.PrimLoopOp) -> bool:
    """Whether a loop is more than arithmetic on tensors of unchanging types.

    It may carry numbers, which sizes can depend on, write into lists or pick from them.
    """
    body = loop.regions[0].block
    if any(not isinstance(argument.type, t.AnyTensorType) for argument in body.args[1:]):
        return True
    return changes_types(loop) or any(_touches_lists(op) for op in body.walk())


def _touches_lists(op: Operation) -> bool:
    if op.name == "torch.aten.__getitem__.t":
        return not isinstance(_index(op), int)
    return any(
        isinstance(operand.type, t.ListType | t.DictType) and is_written(operand)
        for operand in op.operands
    )


def _index(op: Operation) -> Any:
    owner = op.operands[1].owner
    return owner.value if isinstance(owner, core.ConstantIntOp) else None


def changes_types(loop: core.PrimLoopOp) -> bool:
    """Whether a carried tensor has another shape or dtype after an iteration, as far as types have been refined."""
    if CHANGES_TYPES in loop.attributes:
        return True
    block = loop.regions[0].block
    end = block.last_op
    following: Sequence[SSAValue] = end.operands[1:] if end is not None else ()
    return any(
        not is_known(argument.type)
        and has_rank_and_dtype(last.type)
        and is_known(_uncast(first).type)
        for argument, first, last in zip(block.args[1:], loop.operands[2:], following, strict=True)
    )


def _uncast(value: SSAValue) -> SSAValue:
    while isinstance(value.owner, core.TensorStaticInfoCastOp):
        value = value.owner.operands[0]
    return value


def unroll(loop: core.PrimLoopOp, trips: int) -> Operation | None:
    """Writes the iterations one after the other in the loop's place.

    Returns:
        the first of them; the op after the loop if there are none.
    """
    block = loop.regions[0].block
    carried: list[SSAValue] = list(loop.operands[2:])
    first: Operation | None = None
    for trip in range(trips):
        number = constant(trip, t.int_type, loop.location)
        place_before(loop, number)
        first = first or number
        mapping: dict[SSAValue, SSAValue] = {block.args[0]: number.results[0]}
        for argument, value in zip(block.args[1:], carried, strict=True):
            mapping[argument] = _fitting(value, argument.type, loop)
        for op in block.ops:
            if isinstance(op, core.PrimLoopConditionOp):
                carried = [mapping.get(value, value) for value in op.operands[1:]]
            else:
                clone = op.clone(mapping)
                for inner, copy in zip(op.walk(), clone.walk(), strict=True):
                    copy.location = inner.location
                place_before(loop, clone)
    for result, value in zip(loop.results, carried, strict=True):
        put_in_place(result, value)
    following = first or loop.next_op
    loop.detach()
    loop.erase()
    return following


def _fitting(value: SSAValue, type: Attribute, loop: Operation) -> SSAValue:
    """The value; its own type is at least as specific as the one the body was written for."""
    if is_refinement(value.type, type):
        return value
    cast = core.TensorStaticInfoCastOp if isinstance(type, t.AnyTensorType) else core.DerefineOp
    op = cast.create(operands=[value], result_types=[type])
    op.location = loop.location
    place_before(loop, op)
    return op.results[0]
