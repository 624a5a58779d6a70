"""``torch-scalarize-shapes``: arithmetic of sizes that was done on small tensors is done on numbers.

Tensors of integers of rank 0 and 1 that are made of sizes, constants and each other are followed element by element;
reading a number from one of them is then that number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerType, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.values import Values
from torch2mlir.transforms.canonicalize import canonicalize
from torch2mlir.transforms.folding.constants import insert_before, int_before, put_in_place
from torch2mlir.transforms.folding.containers import members_of

Elements = list[SSAValue]
_MOST_ELEMENTS = 32


class _Follower:
    """Finds out of which numbers small tensors are made."""

    def __init__(self) -> None:
        self.values = Values()
        self._known: dict[SSAValue, Elements | None] = {}

    def elements(self, tensor: SSAValue) -> Elements | None:
        """The numbers in a tensor of rank 0 or 1, or None."""
        if tensor not in self._known:
            owner = tensor.owner
            rule = _RULES.get(owner.name) if isinstance(owner, Operation) else None
            small = isinstance(tensor.type, t.ValueTensorType) and _is_small(tensor.type)
            self._known[tensor] = rule(self, owner) if rule and small else None  # type: ignore[arg-type]
        return self._known[tensor]


def _is_small(type: t.ValueTensorType) -> bool:
    integers = isinstance(type.dtype, IntegerType) and type.dtype.width.data > 1
    return integers and type.sizes is not None and len(type.sizes) < 2


Rule = Callable[[_Follower, Operation], Elements | None]


def _literal(follower: _Follower, op: Operation) -> Elements | None:
    value = op.value  # type: ignore[attr-defined]
    if not isinstance(value, DenseIntOrFPElementsAttr) or len(value) > _MOST_ELEMENTS:
        return None
    return [int_before(op, int(number)) for number in value.get_values()]


def _shape(follower: _Follower, op: Operation) -> Elements | None:
    type = op.operands[0].type
    if not isinstance(type, t.AnyTensorType) or type.sizes is None:
        return None
    sizes = Elements()
    for dim in range(len(type.sizes)):
        operands = [op.operands[0], int_before(op, dim)]
        size = core.build("torch.aten.size.int", operands, [t.int_type])
        insert_before(op, size)
        sizes.append(size.results[0])
    return sizes


def _of_number(follower: _Follower, op: Operation) -> Elements | None:
    source = op.operands[0]
    return [source] if isinstance(source.type, t.IntType) else None


def _of_list(follower: _Follower, op: Operation) -> Elements | None:
    members = members_of(op.operands[0])
    numbers = members is not None and all(isinstance(m.type, t.IntType) for m in members)
    return list(members) if members is not None and numbers else None


def _full(follower: _Follower, op: Operation) -> Elements | None:
    sizes = follower.values.of(op.operands[0])
    if not isinstance(sizes, list) or not isinstance(op.operands[1].type, t.IntType):
        return None
    count = sizes[0] if sizes else 1
    known = isinstance(count, int) and count <= _MOST_ELEMENTS
    return [op.operands[1]] * count if known else None


def _same(follower: _Follower, op: Operation) -> Elements | None:
    return follower.elements(op.operands[0])


def _picked(follower: _Follower, op: Operation) -> Elements | None:
    """``index_select`` and ``gather`` along the only dimension, at known places."""
    source, places = follower.elements(op.operands[0]), follower.elements(op.operands[2])
    if source is None or places is None:
        return None
    known = [follower.values.of(place) for place in places]
    if not all(isinstance(p, int) and -len(source) <= p < len(source) for p in known):
        return None
    return [source[place] for place in known]


def _selected(follower: _Follower, op: Operation) -> Elements | None:
    source, place = follower.elements(op.operands[0]), follower.values.of(op.operands[2])
    if source is None or not isinstance(place, int) or not -len(source) <= place < len(source):
        return None
    return [source[place]]


def _sliced(follower: _Follower, op: Operation) -> Elements | None:
    source = follower.elements(op.operands[0])
    bounds = [follower.values.of(operand) for operand in op.operands[2:]]
    known = all(bound is None or isinstance(bound, int) for bound in bounds)
    return None if source is None or not known else source[slice(*bounds)]


def _joined(follower: _Follower, op: Operation) -> Elements | None:
    members = members_of(op.operands[0])
    parts = [follower.elements(member) for member in members or ()]
    if not parts or any(part is None for part in parts):
        return None
    return [number for part in parts for number in part or ()]


def _elementwise(name: str) -> Rule:
    """Arithmetic of the elements of two tensors, or of a tensor and a number."""

    def rule(follower: _Follower, op: Operation) -> Elements | None:
        sides = [
            [operand] if isinstance(operand.type, t.IntType) else follower.elements(operand)
            for operand in op.operands[:2]
        ]
        scaled = len(op.operands) > 2 and follower.values.of(op.operands[2]) not in (1, "floor")
        left, right = sides
        if left is None or right is None or scaled:
            return None
        count = max(len(left), len(right))
        if {len(left), len(right)} - {1, count}:
            return None
        pairs = zip(left * (count // len(left)), right * (count // len(right)), strict=True)
        return [_number(op, name, one, other) for one, other in pairs]

    return rule


def _reduced(name: str) -> Rule:
    """The sum or product of all elements."""

    def rule(follower: _Follower, op: Operation) -> Elements | None:
        source = follower.elements(op.operands[0])
        if not source:
            return None
        result = source[0]
        for number in source[1:]:
            result = _number(op, name, result, number)
        return [result]

    return rule


def _number(op: Operation, name: str, left: SSAValue, right: SSAValue) -> SSAValue:
    new = core.build(f"torch.aten.{name}.int", [left, right], [t.int_type])
    insert_before(op, new)
    return new.results[0]


_RULES: dict[str, Rule] = {
    "torch.vtensor.literal": _literal,
    "torch.aten._shape_as_tensor": _shape,
    "torch.prim.NumToTensor.Scalar": _of_number,
    "torch.aten.scalar_tensor": _of_number,
    "torch.aten.tensor": _of_list,
    "torch.aten.full": _full,
    **dict.fromkeys(
        (
            "torch.aten.unsqueeze",
            "torch.aten.squeeze",
            "torch.aten.squeeze.dim",
            "torch.aten.to.dtype",
            "torch.prims.convert_element_type",
            "torch.aten.clone",
            "torch.aten.detach",
            "torch.tensor_static_info_cast",
        ),
        _same,
    ),
    "torch.aten.index_select": _picked,
    "torch.aten.select.int": _selected,
    "torch.aten.slice.Tensor": _sliced,
    "torch.aten.cat": _joined,
    "torch.aten.add.Tensor": _elementwise("add"),
    "torch.aten.add.Scalar": _elementwise("add"),
    "torch.aten.sub.Tensor": _elementwise("sub"),
    "torch.aten.sub.Scalar": _elementwise("sub"),
    "torch.aten.mul.Tensor": _elementwise("mul"),
    "torch.aten.mul.Scalar": _elementwise("mul"),
    "torch.aten.floor_divide": _elementwise("floordiv"),
    "torch.aten.div.Tensor_mode": _elementwise("floordiv"),
    "torch.aten.remainder.Tensor": _elementwise("remainder"),
    "torch.aten.prod": _reduced("mul"),
    "torch.aten.sum": _reduced("add"),
}
"""Op that gives a small tensor -> the numbers it is made of."""
_READS = {
    "torch.aten.item",
    "torch.aten.Int.Tensor",
    "torch.aten.IntImplicit",
    "torch.aten._local_scalar_dense",
}


def scalarize(block: Block, follower: _Follower) -> None:
    """Replaces the numbers that are read from small tensors in a block and the regions in it."""
    for op in list(block.ops):
        for region in op.regions:
            for nested in region.blocks:
                scalarize(nested, follower)
        if op.name in _READS:
            found: Sequence[SSAValue] | None = follower.elements(op.operands[0])
            if found is not None and len(found) == 1:
                put_in_place(op.results[0], found[0])


@dataclass(frozen=True)
class ScalarizeShapesPass(ModulePass):
    """See the module's docstring."""

    name = "torch-scalarize-shapes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for symbol in op.body.block.ops:
            for region in symbol.regions:
                for block in region.blocks:
                    scalarize(block, _Follower())
                    canonicalize(block)
