"""``torch-recompose-complex-ops``: one op for what TorchScript says in several.

A write into a part of a tensor becomes a write of the whole tensor with that part replaced, lists of parts become the
parts themselves, and ops that TorchScript spells for its interpreter become those of ATen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim, Size
from torch2mlir.dialects.torch.lists import is_written
from torch2mlir.dialects.torch.values import Values
from torch2mlir.transforms.folding.constants import (
    constant,
    insert_before,
    int_before,
    list_before,
    put_in_place,
)
from torch2mlir.transforms.typing.type_lattice import as_class

Part = Callable[[Operation, int], SSAValue]
"""Makes the part with a number, before the op that gives the list."""


def _emit(
    before: Operation, name: str, operands: Sequence[SSAValue], like: t.AnyTensorType
) -> SSAValue:
    op = core.build(name, operands, [like])
    insert_before(before, op)
    return op.results[0]


# Writes into parts.

_SCATTERS = {
    "torch.aten.slice.Tensor": "torch.aten.slice_scatter",
    "torch.aten.select.int": "torch.aten.select_scatter",
    "torch.aten.diagonal": "torch.aten.diagonal_scatter",
    "torch.aten.as_strided": "torch.aten.as_strided_scatter",
}
"""View -> the op that replaces the part it shows."""
_FILLS = {
    "torch.aten.copy_": "torch.aten.copy",
    "torch.aten.fill_.Scalar": "torch.aten.fill.Scalar",
    "torch.aten.fill_.Tensor": "torch.aten.fill.Tensor",
    "torch.aten.zero_": "torch.aten.zero",
}
"""Write of all elements -> what they are then."""


def _write_part(op: Operation, values: Values) -> bool:
    """``view(x).fill_(v)`` is ``x.copy_(scatter(x, fill(view(x), v)))``; the view goes on showing its part."""
    view = op.operands[0].owner
    if not isinstance(view, Operation) or view.name not in _SCATTERS:
        return False
    base, part = view.operands[0], view.results[0]
    if not isinstance(base.type, t.NonValueTensorType) or not isinstance(
        part.type, t.AnyTensorType
    ):
        return False
    filled = _emit(op, _FILLS[op.name], [part, *op.operands[1:]], part.type)
    whole = _emit(op, _SCATTERS[view.name], [base, filled, *view.operands[1:]], base.type)
    blocking = constant(False, t.bool_type)
    insert_before(op, blocking)
    _emit(op, "torch.aten.copy_", [base, whole, blocking.results[0]], base.type)
    put_in_place(op.results[0], part)
    op.detach()
    op.erase()
    return True


# Lists of parts.


def _size_along(op: Operation, dim: object) -> Size:
    type = op.operands[0].type
    sizes = type.sizes if isinstance(type, t.AnyTensorType) else None
    if sizes is None or not isinstance(dim, int) or not -len(sizes) <= dim < len(sizes):
        return None
    return sizes[dim]


def _part_type(op: Operation, dim: int, size: Size, drop: bool = False) -> t.AnyTensorType:
    """The type of a part: the operand's, with another size along a dimension or without the dimension."""
    type = op.operands[0].type
    contained = op.results[0].type.contained  # type: ignore[attr-defined]
    if not isinstance(type, t.AnyTensorType) or type.sizes is None:
        return contained
    sizes = list(type.sizes)
    sizes[dim % len(sizes) : dim % len(sizes) + 1] = [] if drop else [size]
    return as_class(t.vtensor(tuple(sizes), type.dtype), type)  # type: ignore[return-value]


def _selected(op: Operation, dim: int) -> Part:
    def part(before: Operation, number: int) -> SSAValue:
        operands = [op.operands[0], int_before(before, dim), int_before(before, number)]
        return _emit(
            before, "torch.aten.select.int", operands, _part_type(op, dim, None, drop=True)
        )

    return part


def _sliced(op: Operation, dim: int, bounds: Callable[[int], tuple[int, int]]) -> Part:
    total = _size_along(op, dim)

    def part(before: Operation, number: int) -> SSAValue:
        start, end = bounds(number)
        size = min(end, total) - min(start, total) if isinstance(total, int) else None
        places = [int_before(before, place) for place in (dim, start, end, 1)]
        type = _part_type(op, dim, size)
        return _emit(before, "torch.aten.slice.Tensor", [op.operands[0], *places], type)

    return part


def _unbind(op: Operation, values: Values) -> tuple[int | None, Part] | None:
    dim = values.of(op.operands[1])
    size = _size_along(op, dim)
    return (
        (size if isinstance(size, int) else None, _selected(op, dim))
        if isinstance(dim, int)
        else None
    )


def _split(op: Operation, values: Values) -> tuple[int | None, Part] | None:
    length, dim = values.of(op.operands[1]), values.of(op.operands[2])
    if not isinstance(length, int) or not isinstance(dim, int) or length <= 0:
        return None
    size = _size_along(op, dim)
    count = max(-(-size // length), 1) if isinstance(size, int) else None
    return count, _sliced(op, dim, lambda i: (i * length, (i + 1) * length))


def _split_sizes(op: Operation, values: Values) -> tuple[int | None, Part] | None:
    lengths, dim = values.of(op.operands[1]), values.of(op.operands[2])
    known = isinstance(lengths, list) and all(isinstance(length, int) for length in lengths)
    if not known or not isinstance(dim, int):
        return None
    starts = [sum(lengths[:i]) for i in range(len(lengths))]
    return len(lengths), _sliced(op, dim, lambda i: (starts[i], starts[i] + lengths[i]))


def _chunk(op: Operation, values: Values) -> tuple[int | None, Part] | None:
    """As many parts as asked for or fewer, all but the last of one length."""
    count, dim = values.of(op.operands[1]), values.of(op.operands[2])
    if not isinstance(count, int) or not isinstance(dim, int) or count <= 0:
        return None
    size = _size_along(op, dim)
    if not isinstance(size, int):
        return None
    length = max(-(-size // count), 1)
    parts = max(-(-size // length), 1) if size else count
    return parts, _sliced(op, dim, lambda i: (min(i * length, size), min((i + 1) * length, size)))


def _tensor_split(op: Operation, values: Values) -> tuple[int | None, Part] | None:
    """As many parts as asked for, the first ones longer by one."""
    count, dim = values.of(op.operands[1]), values.of(op.operands[2])
    size = _size_along(op, dim)
    if not isinstance(count, int) or not isinstance(dim, int) or not isinstance(size, int):
        return None
    length, longer = divmod(size, count)
    start = [i * length + min(i, longer) for i in range(count + 1)]
    return count, _sliced(op, dim, lambda i: (start[i], start[i + 1]))


_PARTS: dict[str, Callable[[Operation, Values], tuple[int | None, Part] | None]] = {
    "torch.aten.unbind.int": _unbind,
    "torch.aten.split.Tensor": _split,
    "torch.aten.split": _split,
    "torch.aten.split_with_sizes": _split_sizes,
    "torch.aten.split.sizes": _split_sizes,
    "torch.aten.chunk": _chunk,
    "torch.aten.tensor_split.sections": _tensor_split,
}
"""Op that gives a list of parts -> how many there are, if that is known, and how to make one."""


_UNBIND = "torch.aten.unbind.int"
_OF_ONE_LENGTH = {"torch.aten.split.Tensor", "torch.aten.split"}


def _of_rows(unbind: Operation, user: Operation) -> Operation | None:
    """What a row at a number that is not known, or how many rows there are, is of the tensor they are rows of."""
    x, dim = unbind.operands
    if user.name == "torch.aten.len.t":
        return core.build("torch.aten.size.int", [x, dim], user.result_types)
    if user.name == "torch.aten.__getitem__.t" and not isinstance(
        user.operands[1].owner, core.ConstantIntOp
    ):
        return core.build("torch.aten.select.int", [x, dim, user.operands[1]], user.result_types)
    return None


def _take_parts(op: Operation, values: Values) -> bool:
    """Makes the parts where they are taken from the list; a list used otherwise is made of them.

    Where nobody knows how many there are, or whether they are as long as asked for, the op stays until sizes have
    names: then calls are refused in which a program unpacks as many as there are not (``torch-refine-types``).
    """
    found = _PARTS[op.name](op, values)
    result = op.results[0]
    if found is None or is_written(result):
        return False
    count, part = found
    is_known = isinstance(_size_along(op, values.of(op.operands[-1])), int)
    for use in list(result.uses):
        user = use.operation
        if op.name == _UNBIND and (replacement := _of_rows(op, user)) is not None:
            insert_before(user, replacement)
            put_in_place(user.results[0], replacement.results[0])
            user.detach()
            user.erase()
            continue
        takes_one = user.name == "torch.aten.__getitem__.t"
        if not is_known and not (takes_one and op.name in (_UNBIND, *_OF_ONE_LENGTH)):
            if count is None or takes_one or isinstance(user, core.PrimListUnpackOp):
                continue
            _assert_whole(op, user, values)
        if isinstance(user, core.PrimListUnpackOp) and count == len(user.results):
            for place, member in enumerate(list(user.results)):
                put_in_place(member, part(user, place))
        elif takes_one and (
            (number := _number(values.of(user.operands[1]), count, op.name == _UNBIND)) is not None
        ):
            if not is_known and op.name != _UNBIND:  # a row is looked for, a slice is cut off
                _assert_is_there(op, user, number)
            put_in_place(user.results[0], part(user, number))
        elif count is not None:
            members = [part(user, place) for place in range(count)]
            user.operands[use.index] = list_before(user, members, result.type)
            continue
        else:
            continue
        user.detach()
        user.erase()
    if result.first_use is None:
        op.detach()
        op.erase()
    return True


def _assert_is_there(op: Operation, user: Operation, number: int) -> None:
    """Has a program end that takes a part behind the last one; an empty tensor has one part."""
    if number != 0:
        each, number_of_part = op.operands[1], int_before(user, number)
        start = _emit_number(user, "torch.aten.mul.int", t.int_type, each, number_of_part)
        _assert_size(
            op, user, "gt", start, f"a program takes part {number} of a tensor that has fewer"
        )


def _assert_whole(op: Operation, user: Operation, values: Values) -> None:
    """Has a program end where the lengths of parts do not add up to the size."""
    lengths = values.of(op.operands[1])
    whole = int_before(user, sum(lengths))
    _assert_size(op, user, "eq", whole, f"parts of lengths {lengths} are not the whole of a tensor")


def _assert_size(op: Operation, user: Operation, word: str, other: SSAValue, text: str) -> None:
    """Has a program end, before it goes on with a list, where a size is not so and so."""
    size = _emit_number(user, "torch.aten.size.int", t.int_type, op.operands[0], op.operands[-1])
    holds = _emit_number(user, f"torch.aten.{word}.int", t.bool_type, size, other)
    properties = {"message": StringAttr(text)}
    insert_before(user, core.RuntimeAssertOp.create(operands=[holds], properties=properties))


def _emit_number(before: Operation, name: str, type: Attribute, *operands: SSAValue) -> SSAValue:
    made = core.build(name, operands, [type])
    insert_before(before, made)
    return made.results[0]


def _number(index: object, count: int | None, are_rows: bool) -> int | None:
    """Which part is taken; from the end, where nobody knows how many there are, only of rows."""
    if not isinstance(index, int) or isinstance(index, Dim):
        return None
    if count is None:
        return index if index >= 0 or are_rows else None
    return index % count if -count <= index < count else None


# Other names.

_RENAMED: dict[str, tuple[str, int | None]] = {
    "torch.aten.index.Tensor_hacked_twin": ("torch.aten.index.Tensor", None),
    "torch.aten._unsafe_index.Tensor_hacked_twin": ("torch.aten.index.Tensor", None),
    "torch.aten.index_put.hacked_twin": ("torch.aten.index_put", None),
    "torch.aten.index_put_.hacked_twin": ("torch.aten.index_put_", None),
    "torch.aten._index_put_impl": ("torch.aten.index_put", 4),
    "torch.aten._index_put_impl_": ("torch.aten.index_put_", 4),
}
"""Op -> the one of the same meaning, and how many of the operands that takes (None: all)."""


def _rename(op: Operation, values: Values) -> bool:
    name, count = _RENAMED[op.name]
    new = core.build(name, op.operands[:count], op.result_types)
    insert_before(op, new)
    for old, result in zip(op.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    op.detach()
    op.erase()
    return True


_REWRITES: dict[str, Callable[[Operation, Values], bool]] = {
    **dict.fromkeys(_FILLS, _write_part),
    **dict.fromkeys(_PARTS, _take_parts),
    **dict.fromkeys(_RENAMED, _rename),
}


def recompose(block: Block) -> bool:
    """Recomposes the ops of a block and of the regions in it; whether something changed."""
    values, changed = Values(), False
    for op in list(block.ops):
        for region in op.regions:
            for nested in region.blocks:
                changed |= recompose(nested)
        rewrite = _REWRITES.get(op.name)
        if rewrite is not None:
            changed |= rewrite(op, values)
    return changed


@dataclass(frozen=True)
class RecomposeComplexOpsPass(ModulePass):
    """See the module's docstring."""

    name = "torch-recompose-complex-ops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for symbol in op.body.block.ops:
            for region in symbol.regions:
                for block in region.blocks:
                    recompose(block)
