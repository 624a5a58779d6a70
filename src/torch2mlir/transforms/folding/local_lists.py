"""Lists and dicts that are only used where they are made: what they hold at each place, so that nothing is written.

``append`` and the like, followed in program order within one block, leave a fresh ``torch.prim.ListConstruct`` of the
members at every op that reads the list.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects.func import CallOp
from xdsl.ir import Block, Operation, SSAValue, Use

from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch.lists import is_written, names_after
from torch2mlir.dialects.torch.ops import PURE, RegistryOp
from torch2mlir.dialects.torch.values import Values
from torch2mlir.transforms.folding.constants import insert_before, list_before, put_in_place

Members = list[SSAValue]


class _Unknown(Exception):
    """What a list holds depends on what is only known when the program runs."""


def _index(value: Any, length: int) -> int:
    if not isinstance(value, int) or not -length <= value < length:
        raise _Unknown
    return value


def _append(members: Members, op: Operation, values: Values) -> None:
    members.append(op.operands[1])


def _insert(members: Members, op: Operation, values: Values) -> None:
    place = values.of(op.operands[1])
    if not isinstance(place, int):
        raise _Unknown
    members.insert(place, op.operands[2])


def _set_item(members: Members, op: Operation, values: Values) -> None:
    members[_index(values.of(op.operands[1]), len(members))] = op.operands[2]


def _pop(members: Members, op: Operation, values: Values) -> SSAValue:
    return members.pop(_index(values.of(op.operands[1]), len(members)))


def _delete(members: Members, op: Operation, values: Values) -> None:
    del members[_index(values.of(op.operands[1]), len(members))]


def _extend(members: Members, op: Operation, values: Values) -> None:
    other = op.operands[1].owner
    if not isinstance(other, core.PrimListConstructOp) or is_written(op.operands[1]):
        raise _Unknown
    members.extend(other.operands)


def _clear(members: Members, op: Operation, values: Values) -> None:
    members.clear()


def _reverse(members: Members, op: Operation, values: Values) -> None:
    members.reverse()


LIST_WRITERS: dict[str, Callable[[Members, Operation, Values], SSAValue | None]] = {
    "torch.aten.append.t": _append,
    "torch.aten.insert.t": _insert,
    "torch.aten._set_item.t": _set_item,
    "torch.aten.pop.t": _pop,
    "torch.aten.Delete.t": _delete,
    "torch.aten.extend.t": _extend,
    "torch.aten.add_.t": _extend,
    "torch.aten.clear.t": _clear,
    "torch.aten.reverse.t": _reverse,
}
"""Op that writes into a list -> what it does with the members; ``pop`` gives one back."""
_DICT_KEYS = ("str", "int", "float", "bool")
DICT_WRITERS = {f"torch.aten._set_item.{key}" for key in _DICT_KEYS}


def follow_lists(block: Block) -> bool:
    """Follows every list of the block that is written; whether something changed."""
    changed = False
    for op in list(block.ops):
        if isinstance(op, core.PrimListConstructOp) and is_written(op.results[0]):
            changed |= _follow(op, _List(op))
        elif isinstance(op, core.PrimDictConstructOp) and is_written(op.results[0]):
            changed |= _follow(op, _Dict(op))
    return changed


class _List:
    """A list as it is followed."""

    def __init__(self, op: Operation) -> None:
        self.members = list(op.operands)
        self.type = op.results[0].type

    def write(self, op: Operation, values: Values) -> SSAValue | None:
        """Does what a writer does."""
        writer = LIST_WRITERS.get(op.name)
        if writer is None:
            raise _Unknown
        return writer(self.members, op, values)

    def now(self) -> Callable[[Operation], SSAValue]:
        """What makes the list as it is now, before an op."""
        members = list(self.members)
        return lambda op: list_before(op, members, self.type)


class _Dict:
    """A dict with constant keys as it is followed."""

    def __init__(self, op: Operation) -> None:
        half = len(op.operands) // 2
        values = Values()
        self.entries: dict[Any, tuple[SSAValue, SSAValue]] = {}
        for key, value in zip(op.operands[:half], op.operands[half:], strict=True):
            self._set(key, value, values)
        self.type = op.results[0].type

    def _set(self, key: SSAValue, value: SSAValue, values: Values) -> None:
        known = values.of(key)
        if not isinstance(known, str | int | float):
            raise _Unknown
        first, _ = self.entries.get(known, (key, value))
        self.entries[known] = (first, value)

    def write(self, op: Operation, values: Values) -> SSAValue | None:
        """Does what a writer does."""
        if op.name not in DICT_WRITERS:
            raise _Unknown
        self._set(op.operands[1], op.operands[2], values)
        return None

    def now(self) -> Callable[[Operation], SSAValue]:
        """What makes the dict as it is now, before an op."""
        pairs = list(self.entries.values())

        def make(op: Operation) -> SSAValue:
            operands = [key for key, _ in pairs] + [value for _, value in pairs]
            new = core.PrimDictConstructOp.create(operands=operands, result_types=[self.type])
            insert_before(op, new)
            return new.results[0]

        return make


def _uses_by_place(value: SSAValue, block: Block) -> list[tuple[Operation, list[Use]]] | None:
    """The uses of a value by the op of the block they are in, in program order; None if one is elsewhere."""
    places = dict[Operation, list[Use]]()
    for use in value.uses:
        op: Operation | None = use.operation
        while op is not None and op.parent is not block:
            op = op.parent_op()
        if op is None:
            return None
        places.setdefault(op, []).append(use)
    order = {op: i for i, op in enumerate(block.ops) if op in places}
    return sorted(places.items(), key=lambda item: order[item[0]])


def _follow(op: Operation, state: _List | _Dict) -> bool:
    value = op.results[0]
    places = _uses_by_place(value, op.parent)  # type: ignore[arg-type]
    if places is None:
        return False
    values = Values()
    reads: list[tuple[Operation, list[Use], Callable[[Operation], SSAValue]]] = []
    writes: list[tuple[Operation, SSAValue | None]] = []
    try:
        for place, uses in places:
            if _is_writer(place, value):
                writes.append((place, state.write(place, values)))
            elif all(_only_reads(use) for use in uses):
                reads.append((place, uses, state.now()))
            else:
                return False
    except _Unknown:
        return False
    if not writes:
        return False
    for place, uses, make in reads:
        fresh = make(place)
        for use in uses:
            use.operation.operands[use.index] = fresh
    for place, popped in writes:
        if popped is not None:
            put_in_place(place.results[0], popped)
        place.detach()
        place.erase()
    return True


def _is_writer(place: Operation, value: SSAValue) -> bool:
    if place.name not in LIST_WRITERS and place.name not in DICT_WRITERS:
        return False
    pops = place.name == "torch.aten.pop.t"
    unused = pops or all(result.first_use is None for result in place.results)
    return unused and place.operands[0] is value and value not in place.operands[1:]


def _only_reads(use: Use) -> bool:
    """Whether an op neither writes the list nor gives it another name under which it could be written."""
    op = use.operation
    if isinstance(op, RegistryOp) and op.traits is not PURE and not op.schema.is_variadic:
        return not op.schema.arguments[use.index].is_written
    if isinstance(op, CallOp | core.OperatorOp):
        return False
    return not any(is_written(name) for name in names_after(use))
