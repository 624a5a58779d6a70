"""Reading lists, tuples and dicts that are made in the program: what is read is one of the values put in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Operation, SSAValue

from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Size
from torch2mlir.dialects.torch.lists import is_written
from torch2mlir.dialects.torch.values import Values
from torch2mlir.transforms.folding.constants import constant, insert_before, int_before, list_before

Fold = Callable[[Operation, Values], Sequence[SSAValue] | None]


def members_of(value: SSAValue) -> Sequence[SSAValue] | None:
    """The members of a list or tuple that is made by one op and never changes."""
    owner = value.owner
    if isinstance(owner, core.PrimTupleConstructOp):
        return owner.operands
    if isinstance(owner, core.PrimListConstructOp) and not is_written(value):
        return owner.operands
    if isinstance(owner, core.DerefineOp):
        return members_of(owner.operands[0])
    return None


def entries_of(value: SSAValue, values: Values) -> dict[object, SSAValue] | None:
    """The entries of a dict that is made by one op, has constant keys and never changes."""
    owner = value.owner
    if not isinstance(owner, core.PrimDictConstructOp) or is_written(value):
        return None
    half = len(owner.operands) // 2
    keys = [values.of(key) for key in owner.operands[:half]]
    if not all(isinstance(key, str | int | float) for key in keys):
        return None
    return dict(zip(keys, owner.operands[half:], strict=True))


def _unpack(op: Operation, values: Values) -> Sequence[SSAValue] | None:
    members = members_of(op.operands[0])
    return members if members is not None and len(members) == len(op.results) else None


def _item(op: Operation, values: Values) -> Sequence[SSAValue] | None:
    index = values.of(op.operands[1])
    if not isinstance(index, int):
        return None
    source = op.operands[0].owner
    if isinstance(source, Operation) and source.name == _SIZE:
        return _one_size(op, source, index)
    members = members_of(op.operands[0])
    inside = members is not None and -len(members) <= index < len(members)
    return [members[index]] if members is not None and inside else None


def _one_size(op: Operation, source: Operation, index: int) -> Sequence[SSAValue] | None:
    """One of a tensor's sizes; a negative index needs no rank."""
    if is_written(source.results[0]):
        return None
    dim = int_before(op, index)
    size = core.build("torch.aten.size.int", [source.operands[0], dim], [t.int_type])
    insert_before(op, size)
    return size.results


def _sizes(op: Operation, values: Values) -> Sequence[SSAValue] | None:
    """The list of a tensor's sizes, size by size."""
    type = op.operands[0].type
    if not isinstance(type, t.AnyTensorType) or type.sizes is None:
        return None
    sizes = [_size(op, dim, known) for dim, known in enumerate(type.sizes)]
    return [list_before(op, sizes, op.results[0].type)]


def _length(op: Operation, values: Values) -> Sequence[SSAValue] | None:
    """``len`` of a tensor is its first size."""
    type = op.operands[0].type
    if not isinstance(type, t.AnyTensorType) or not type.sizes:
        return None
    return [_size(op, 0, type.sizes[0])]


def _size(op: Operation, dim: int, known: Size) -> SSAValue:
    """A size of an op's operand, before the op."""
    if isinstance(known, int):
        return int_before(op, known)
    size = core.build("torch.aten.size.int", [op.operands[0], int_before(op, dim)], [t.int_type])
    insert_before(op, size)
    return size.results[0]


def _derived(result: Callable[[Operation, Values, list[list[SSAValue]]], object]) -> Fold:
    """A new list from the members of the lists among the operands."""

    def fold(op: Operation, values: Values) -> Sequence[SSAValue] | None:
        operands = [o for o in op.operands if isinstance(o.type, t.ListType)]
        lists = [members_of(operand) for operand in operands]
        if any(members is None for members in lists):
            return None
        members = result(op, values, [list(m) for m in lists if m is not None])
        if not isinstance(members, list):
            return None
        return [list_before(op, members, op.results[0].type)]

    return fold


def _sliced(op: Operation, values: Values, lists: list[list[SSAValue]]) -> object:
    bounds = [values.of(operand) for operand in op.operands[1:]]
    known = all(bound is None or isinstance(bound, int) for bound in bounds)
    return lists[0][slice(*bounds)] if known and bounds[2] != 0 else None


def _repeated(op: Operation, values: Values, lists: list[list[SSAValue]]) -> object:
    times = [values.of(o) for o in op.operands if not isinstance(o.type, t.ListType)][0]
    return lists[0] * times if isinstance(times, int) else None


def _broadcast(op: Operation, values: Values, lists: list[list[SSAValue]]) -> object:
    """The sizes that tensors of two shapes have together."""
    rank, members = max(map(len, lists)), list[SSAValue]()
    padded = [[None] * (rank - len(sizes)) + sizes for sizes in lists]
    for one, other in zip(*padded, strict=True):
        sizes = {values.of(value): value for value in (one, other) if value is not None}
        if len(sizes) > 1:
            sizes.pop(1, None)
        numbers = [value for size, value in sizes.items() if isinstance(size, int)]
        if len(numbers) == 1:
            members += numbers  # what varies is this or 1
        elif len(sizes) == 1:
            members += sizes.values()
        else:
            return None
    return members


def _entry(op: Operation, values: Values) -> Sequence[SSAValue] | None:
    entries = entries_of(op.operands[0], values)
    found = None if entries is None else entries.get(values.of(op.operands[1]))
    return None if found is None else [found]


def _of_entries(fact: Callable[[dict[object, SSAValue], object], object]) -> Fold:
    """A Python value that the keys of a dict tell."""

    def fold(op: Operation, values: Values) -> Sequence[SSAValue] | None:
        entries = entries_of(op.operands[0], values)
        if entries is None:
            return None
        key = values.of(op.operands[1]) if len(op.operands) > 1 else None
        new = constant(fact(entries, key), op.results[0].type)
        insert_before(op, new)
        return new.results

    return fold


def _dict_values(op: Operation, values: Values) -> Sequence[SSAValue] | None:
    entries = entries_of(op.operands[0], values)
    return (
        None if entries is None else [list_before(op, list(entries.values()), op.results[0].type)]
    )


def _dict_keys(op: Operation, values: Values) -> Sequence[SSAValue] | None:
    entries = entries_of(op.operands[0], values)
    if entries is None:
        return None
    keys = op.operands[0].owner.operands[: len(entries)]  # type: ignore[union-attr]
    return [list_before(op, keys, op.results[0].type)] if len(set(keys)) == len(entries) else None


def _elementwise(name: str) -> Fold:
    """``max`` and ``min`` of a list: of its members, two by two."""

    def fold(op: Operation, values: Values) -> Sequence[SSAValue] | None:
        members = members_of(op.operands[0])
        if not members:
            return None
        result = members[0]
        for member in members[1:]:
            pair = core.build(f"torch.prim.{name}.int", [result, member], [t.int_type])
            insert_before(op, pair)
            result = pair.results[0]
        return [result]

    return fold


def _the_list_itself(op: Operation, values: Values) -> Sequence[SSAValue] | None:
    """What a writer gives back is the list that it has written."""
    return None if op.results[0].first_use is None else [op.operands[0]]


_SIZE = "torch.aten.size"
_KEYS = ("str", "int", "float", "bool")

CONTAINER_FOLDS: dict[str, Fold] = {
    "torch.prim.ListUnpack": _unpack,
    "torch.prim.TupleUnpack": _unpack,
    "torch.prim.TupleIndex": _item,
    "torch.aten.__getitem__.t": _item,
    _SIZE: _sizes,
    "torch.aten.len.Tensor": _length,
    "torch.aten.append.t": _the_list_itself,
    "torch.aten.add_.t": _the_list_itself,
    "torch.aten._set_item.t": _the_list_itself,
    "torch.aten.add.t": _derived(lambda op, values, lists: lists[0] + lists[1]),
    "torch.aten.list.t": _derived(lambda op, values, lists: lists[0]),
    "torch.aten.copy.t": _derived(lambda op, values, lists: lists[0]),
    "torch.aten.slice.t": _derived(_sliced),
    "torch.aten.broadcast_shapes": _derived(_broadcast),
    "torch.aten._infer_size": _derived(_broadcast),
    "torch.aten.mul.left_t": _derived(_repeated),
    "torch.aten.mul.right_": _derived(_repeated),
    "torch.prim.max.self_int": _elementwise("max"),
    "torch.prim.min.self_int": _elementwise("min"),
    **{f"torch.aten.__getitem__.Dict_{key}": _entry for key in _KEYS},
    **{
        f"torch.aten.__contains__.{key}": _of_entries(lambda entries, key: key in entries)
        for key in _KEYS
    },
    **{
        f"torch.aten.len.Dict_{key}": _of_entries(lambda entries, key: len(entries))
        for key in _KEYS
    },
    **{f"torch.aten.values.{key}": _dict_values for key in _KEYS},
    **{f"torch.aten.keys.{key}": _dict_keys for key in _KEYS},
}
"""Op on a container -> its results, if they are known."""
