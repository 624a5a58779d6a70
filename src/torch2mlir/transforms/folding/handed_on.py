"""What branches and loops hand on that no dialect has: containers become their members, optionals what may be in them.

TorchScript hands on what a program returns early as one value, a tuple if it is several, and what a branch leaves
``None`` as an optional. What a branch does not have is uninitialized there: nobody reads it then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from torch2mlir.dialects.placing import end_of
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.values import Values
from torch2mlir.transforms.folding.casts import MAYBE_NONE, is_refinement, underived
from torch2mlir.transforms.folding.constants import as_type, constant, insert_before, list_before
from torch2mlir.transforms.folding.containers import entries_of, members_of

UNINITIALIZED = "torch.prim.Uninitialized"


def is_uninitialized(value: SSAValue) -> bool:
    """Whether nothing was put into a value: the program does not read it where it is this one."""
    owner = underived(value).owner
    if isinstance(owner, core.TensorStaticInfoCastOp):
        return is_uninitialized(owner.operands[0])
    return isinstance(owner, Operation) and owner.name == UNINITIALIZED


def yielded(op: core.PrimIfOp, branch: int) -> Sequence[SSAValue]:
    """What one of the two branches gives."""
    end = op.regions[branch].block.last_op
    return end.operands if end is not None else ()


def with_results(
    op: core.PrimIfOp,
    kept: Sequence[int],
    added: Sequence[tuple[Attribute, Sequence[SSAValue]]] = (),
) -> core.PrimIfOp:
    """The same branches in the op's place, with some of its results and further ones.

    Args:
        op: the branches; results that are not kept have no users.
        kept: the places of the results that stay.
        added: of each further result the type and what either branch gives for it.
    """
    regions = [op.detach_region(0), op.detach_region(0)]
    for branch, region in enumerate(regions):
        end = end_of(region.block)
        values = [end.operands[i] for i in kept]
        for type, given in added:
            value = given[branch]
            values.append(value if value.type == type else as_type(value, type, end))
        insert_before(end, core.PrimIfYieldOp.create(operands=values))
        end.detach()
        end.erase()
    new = core.PrimIfOp.create(
        operands=[op.operands[0]],
        result_types=[*(op.results[i].type for i in kept), *(type for type, _ in added)],
        regions=regions,
        attributes=op.attributes,
    )
    insert_before(op, new)
    for i, result in zip(kept, new.results, strict=False):
        op.results[i].replace_all_uses_with(result)
    op.detach()
    op.erase()
    return new


Make = Callable[[Operation, Sequence[SSAValue]], SSAValue]
"""Puts a tuple, list or dict of members together, before an op."""


def containers_by_members(op: core.PrimIfOp, values: Values) -> core.PrimIfOp:
    """Has branches give the members of what they put together, which is put together behind them.

    Returns:
        the ``prim.If`` that stands there now.
    """
    for place in reversed(range(len(op.results))):
        if op.results[place].first_use is None:
            continue
        given = [yielded(op, branch)[place] for branch in (0, 1)]
        if all(map(is_uninitialized, given)) or (found := _container(op, given, values)) is None:
            continue
        types, members, make = found
        first = len(op.results)
        added = list(zip(types, zip(*members, strict=True), strict=True))
        op = with_results(op, range(first), added)
        made = make(following(op), op.results[first:])
        op.results[place].replace_all_uses_with(made)
    return op


def tuples_carried(loop: core.PrimLoopOp) -> core.PrimLoopOp:
    """Has a loop carry the members of its tuples; the ``prim.Loop`` that stands there now."""
    block = loop.regions[0].block
    end = end_of(block)
    for place in range(len(loop.results)):
        argument = block.args[1 + place]
        type, last = argument.type, end.operands[1 + place]
        if not isinstance(type, t.TupleType) or last is argument:
            continue
        make = _make_tuple(type)
        before, after = _members(loop.operands[2 + place], loop), _members(last, end)
        inside = [block.insert_arg(each, len(block.args)) for each in type.contained.data]
        argument.replace_all_uses_with(make(block.first_op or end, inside))
        end.operands = [*end.operands, *after]
        end.operands[1 + place] = argument  # carried as it came, so that it can go
        carried = list(loop.operands) + list(before)
        types = [*loop.result_types, *type.contained.data]
        new = core.PrimLoopOp.create(
            operands=carried, result_types=types, regions=[loop.detach_region(0)]
        )
        insert_before(loop, new)
        new.attributes.update(loop.attributes)
        for old, each in zip(loop.results, new.results, strict=False):
            old.replace_all_uses_with(each)
        loop.detach()
        loop.erase()
        made = make(following(new), new.results[-len(inside) :] if inside else [])
        new.results[place].replace_all_uses_with(made)
        loop = new
    return loop


def following(op: Operation) -> Operation:
    """The op behind one that does not end its block."""
    found = op.next_op
    if found is None:
        raise ValueError("a block without a terminator")
    return found


def _container(
    op: core.PrimIfOp, given: Sequence[SSAValue], values: Values
) -> tuple[Sequence[Attribute], list[Sequence[SSAValue]], Make] | None:
    """The types of the members of what both branches give, the members in either, and what puts them together."""
    type = given[0].type
    if isinstance(type, t.TupleType):
        ends = [end_of(region.block) for region in op.regions]
        parts = [_members(value, end) for value, end in zip(given, ends, strict=True)]
        return type.contained.data, parts, _make_tuple(type)
    if isinstance(type, t.ListType):
        one, other = map(members_of, given)
        if one is None or other is None or len(one) != len(other):
            return None
        return [type.contained] * len(one), [one, other], partial(list_before, type=type)
    if isinstance(type, t.DictType):
        first, second = (entries_of(value, values) for value in given)
        if first is None or second is None or list(first) != list(second):
            return None
        members: list[Sequence[SSAValue]] = [list(each.values()) for each in (first, second)]
        return [type.value] * len(first), members, partial(_dict_before, list(first), type)
    return None


def _members(value: SSAValue, before: Operation) -> Sequence[SSAValue]:
    """The members of a tuple, taken out before an op."""
    types = value.type.contained.data  # type: ignore[attr-defined]
    if is_uninitialized(value):
        return [_uninitialized(before, each) for each in types]
    if (members := members_of(value)) is not None:
        return members
    unpack = core.build("torch.prim.TupleUnpack", [value], types)
    insert_before(before, unpack)
    return unpack.results


def _make_tuple(type: Attribute) -> Make:
    def make(op: Operation, members: Sequence[SSAValue]) -> SSAValue:
        new = core.PrimTupleConstructOp.create(operands=members, result_types=[type])
        insert_before(op, new)
        return new.results[0]

    return make


def _dict_before(
    keys: Sequence[object], type: t.DictType, op: Operation, members: Sequence[SSAValue]
) -> SSAValue:
    named = [constant(key, type.key) for key in keys]
    operands = [*(each.results[0] for each in named), *members]
    for new in (*named, core.PrimDictConstructOp.create(operands=operands, result_types=[type])):
        insert_before(op, new)
    return new.results[0]


def _uninitialized(op: Operation, type: Attribute) -> SSAValue:
    new = core.build(UNINITIALIZED, [], [type])
    insert_before(op, new)
    return new.results[0]


def _parts(value: SSAValue, before: Operation) -> tuple[SSAValue, SSAValue | None] | None:
    """Whether an optional holds anything, and what it holds.

    Args:
        value: the optional, which branches may have given.
        before: where the answer is needed, if it is a constant.

    Returns:
        the two, without content for ``None`` itself; None if the value came from elsewhere.
    """
    source = underived(value)
    if not isinstance(source.type, MAYBE_NONE):
        is_none = isinstance(source.type, t.NoneType)
        known = constant(not is_none, t.bool_type)
        insert_before(before, known)
        return known.results[0], None if is_none else source
    if isinstance(source, OpResult) and isinstance(source.op, core.PrimIfOp):
        return _of_branches(source.op, source.index)
    return None


def _of_branches(op: core.PrimIfOp, place: int) -> tuple[SSAValue, SSAValue] | None:
    """The parts of an optional that branches give, as further results of them."""
    type = op.results[place].type
    if not isinstance(type, t.OptionalType):
        return None
    holds, contents = list[SSAValue](), list[SSAValue]()
    for branch in (0, 1):
        end = end_of(op.regions[branch].block)
        if (parts := _parts(end.operands[place], end)) is None:
            return None
        end = end_of(op.regions[branch].block)
        content = parts[1] if parts[1] is not None else _uninitialized(end, type.contained)
        if not is_refinement(content.type, type.contained):
            return None
        holds.append(parts[0])
        contents.append(content)
    added = [(t.bool_type, holds), (type.contained, contents)]
    new = with_results(op, range(len(op.results)), added)
    return new.results[-2], new.results[-1]


def _is_there(negated: bool) -> Callable[[Operation, Values], Sequence[SSAValue] | None]:
    """Whether an optional that branches give is ``None``, or, negated, is not."""

    def fold(op: Operation, values: Values) -> Sequence[SSAValue] | None:
        one, other = map(underived, op.operands)
        if isinstance(one.type, t.NoneType):
            one, other = other, one
        if not isinstance(other.type, t.NoneType) or not isinstance(one.type, t.OptionalType):
            return None
        if (parts := _parts(one, op)) is None:
            return None
        if negated:
            return [parts[0]]
        new = core.build("torch.aten.__not__", [parts[0]], [t.bool_type])
        insert_before(op, new)
        return new.results

    return fold


def _content(op: Operation, values: Values) -> Sequence[SSAValue] | None:
    """What is in an optional that branches give, where the program has asked whether it is there."""
    source = underived(op.operands[0])
    parts = _parts(source, op) if isinstance(source.type, t.OptionalType) else None
    if parts is None or parts[1] is None or not is_refinement(parts[1].type, op.results[0].type):
        return None
    return [parts[1]]


OPTIONAL_FOLDS = {
    "torch.aten.__is__": _is_there(negated=False),
    "torch.aten.__isnot__": _is_there(negated=True),
    "torch.prim.unchecked_cast": _content,
    "torch.prim.unchecked_unwrap_optional": _content,
}
"""Op on an optional -> its result, if branches give the optional."""
