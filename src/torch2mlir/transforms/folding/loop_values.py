"""Simpler ``torch.prim.Loop``: counted where its condition counts, and carrying only what changes and is needed."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, i1, i64
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.traits import Pure

from torch2mlir.dialects.placing import place_before
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim
from torch2mlir.dialects.torch.values import Values

MOST_TRIPS = 2**63 - 1
"""The trip count of a loop that only its condition ends."""
_LESS, _PLUS = "torch.aten.lt.Scalar", "torch.aten.add.Scalar"
_INT64 = 4
"""PyTorch's number of the dtype."""


def simplify_loop(loop: core.PrimLoopOp) -> core.PrimLoopOp:
    """Replaces carried values that never change by their initial ones and drops those that nobody reads.

    Returns:
        the loop that now stands there; ops that only served dropped values are left without users.
    """
    block = loop.regions[0].block
    end = block.last_op
    if end is None:
        return loop
    initial, arguments, following = loop.operands[2:], block.args[1:], end.operands[1:]
    for first, argument, last, result in zip(
        initial, arguments, following, loop.results, strict=True
    ):
        if last is argument and first.type == argument.type:
            argument.replace_all_uses_with(first)
            result.replace_all_uses_with(first)
    needed = _needed(loop, end)
    kept = [i for i, argument in enumerate(arguments) if argument in needed]
    if len(kept) == len(arguments):
        return loop
    return _carrying(loop, end, kept)


def count(loop: core.PrimLoopOp, values: Values) -> None:
    """Makes ``while k < n`` over ``k = 0, 1, ..`` a loop of ``n`` iterations; ``k`` is then the iteration's number."""
    block = loop.regions[0].block
    end = block.last_op
    if end is None or values.of(loop.operands[0]) != MOST_TRIPS:
        return
    compared = _defined_by(_defined_by(end.operands[0], "torch.aten.Bool.Tensor"), _LESS)
    if compared is None or not isinstance(values.of(compared.operands[1]), int | Dim):
        return
    following = compared.operands[0]
    increment = _defined_by(following, _PLUS)
    if increment is None or following not in end.operands[1:]:
        return
    place = list(end.operands[1:]).index(following)
    argument, first = block.args[1 + place], loop.operands[2 + place]
    start = _defined_by(first, "torch.aten.full")
    by_one = increment.operands[0] is argument and values.of(increment.operands[1]) == 1
    from_zero = start is not None and values.of(start.operands[1]) == 0
    limit = compared.operands[1]
    begins = _begins(loop, first, values.of(limit), values)
    if not (by_one and from_zero and begins) or loop.results[place].first_use is not None:
        return
    if isinstance(limit.owner, Operation) and limit.owner.parent is block:
        limit = _constant_before(loop, limit.owner)
    number = _as_number(block.args[0], argument.type, block)
    argument.replace_all_uses_with(number)
    always = core.ConstantBoolOp.of(IntegerAttr(1, i1))
    place_before(loop, always)
    loop.operands[0], loop.operands[1] = limit, always.results[0]
    inside = core.ConstantBoolOp.of(IntegerAttr(1, i1))
    block.insert_op_before(inside, end)
    end.operands[0] = inside.results[0]
    end.operands[1 + place] = argument  # carried as it came, so that it can go


def _begins(loop: core.PrimLoopOp, first: SSAValue, limit: int | Dim, values: Values) -> bool:
    """Whether the first iteration is under the same condition as the others."""
    if values.of(loop.operands[1]) is True:
        return isinstance(limit, int) and limit >= 1
    compared = _defined_by(_defined_by(loop.operands[1], "torch.aten.Bool.Tensor"), _LESS)
    return (
        compared is not None
        and compared.operands[0] is first
        and bool(values.of(compared.operands[1]) == limit)
    )


def _defined_by(value: SSAValue | Operation | None, name: str) -> Operation | None:
    """The op of this name that gives a value, or an op's first operand."""
    if isinstance(value, Operation):
        value = value.operands[0]
    owner = value.owner if value is not None else None
    return owner if isinstance(owner, Operation) and owner.name == name else None


def _constant_before(loop: core.PrimLoopOp, op: Operation) -> SSAValue:
    """A number of the body, computed before the loop."""
    copies = dict[SSAValue, SSAValue]()
    body = loop.regions[0].block

    def copy(op: Operation) -> SSAValue:
        for operand in op.operands:
            if isinstance(operand, BlockArgument) and operand.owner is body:
                copies[operand] = loop.operands[1 + operand.index]  # of the same sizes
            elif isinstance(operand.owner, Operation) and operand.owner.parent is body:
                copies[operand] = copy(operand.owner)
        clone = op.clone(copies)
        place_before(loop, clone)
        return clone.results[0]

    return copy(op)


def _as_number(position: SSAValue, type: Attribute, block: Block) -> SSAValue:
    """The iteration's number as a tensor of the type it was carried in."""
    sizes = core.PrimListConstructOp.create(result_types=[t.ListType(t.int_type)])
    none = core.ConstantNoneOp.create(result_types=[t.none_type])
    code = core.ConstantIntOp.of(IntegerAttr(_INT64, i64))
    operands = [sizes.results[0], position, code.results[0], *[none.results[0]] * 3]
    full = core.build("torch.aten.full", operands, [type])
    first = block.first_op
    for op in (sizes, none, code, full):
        block.insert_op_before(op, first)  # type: ignore[arg-type]
    return full.results[0]


def _needed(loop: core.PrimLoopOp, end: Operation) -> set[SSAValue]:
    """The values of the body, arguments included, that results in use or decisions depend on."""
    block = loop.regions[0].block
    place: dict[SSAValue, int] = {argument: i for i, argument in enumerate(block.args[1:])}
    work = [end.operands[0]]
    work += [end.operands[1 + i] for i, r in enumerate(loop.results) if r.first_use is not None]
    for op in block.ops:
        if acts(op) and op is not end:
            work += _read(op)
    needed = set[SSAValue]()
    while work:
        value = work.pop()
        if value in needed:
            continue
        needed.add(value)
        if value in place:
            work.append(end.operands[1 + place[value]])
        elif isinstance(value.owner, Operation):
            work += _read(value.owner)
    needed.update(
        argument for argument, i in place.items() if loop.results[i].first_use is not None
    )
    return needed


def acts(op: Operation) -> bool:
    """Whether an op, or one in its regions, does more than compute its results: it writes a tensor or checks one."""
    return any(
        not isinstance(inner, _CONTROL_FLOW) and not inner.has_trait(Pure) for inner in op.walk()
    )


_CONTROL_FLOW = (
    core.PrimIfOp,
    core.PrimIfYieldOp,
    core.PrimLoopOp,
    core.PrimLoopConditionOp,
)


def _read(op: Operation) -> list[SSAValue]:
    """What an op and the ops in its regions read."""
    return [operand for inner in op.walk() for operand in inner.operands]


def _carrying(loop: core.PrimLoopOp, end: Operation, kept: Sequence[int]) -> core.PrimLoopOp:
    """The loop with these carried values only."""
    region = loop.detach_region(0)
    block = region.block
    dropped = [i for i in range(len(loop.results)) if i not in kept]
    closing = core.PrimLoopConditionOp.create(
        operands=[end.operands[0], *(end.operands[1 + i] for i in kept)]
    )
    closing.location = end.location
    block.insert_op_before(closing, end)
    end.detach()
    end.erase()
    _erase_unused(block.last_op)
    for i in reversed(dropped):
        block.erase_arg(block.args[1 + i])
    new = core.PrimLoopOp.create(
        operands=[*loop.operands[:2], *(loop.operands[2 + i] for i in kept)],
        result_types=[loop.results[i].type for i in kept],
        regions=[region],
    )
    new.location = loop.location
    place_before(loop, new)
    for i, result in zip(kept, new.results, strict=True):
        loop.results[i].replace_all_uses_with(result)
    loop.detach()
    loop.erase()
    return new


def _erase_unused(op: Operation | None) -> None:
    """Erases ops without users, from the last one back: they served what is carried no more."""
    while op is not None:
        previous = op.prev_op
        unused = op.results and all(result.first_use is None for result in op.results)
        if unused and not acts(op):
            op.detach()
            op.erase()
        op = previous
