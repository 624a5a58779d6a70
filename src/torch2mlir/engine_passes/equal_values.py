"""Which values IREE finds to be equal: those computed alike from equal ones, dimensions of size 1 apart.

It drops these dimensions before it looks, so that ``x.sum(1, keepdim=True)`` and ``x.sum(1)`` are one value to it.
"""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, TensorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from torch2mlir.dialects import linalg
from torch2mlir.dialects.tensors import integer, integers, shape_of
from torch2mlir.dialects.weights import WeightAttr
from torch2mlir.engine_passes.op_kinds import (
    BROADCASTS,
    LITERALS,
    RESHAPES,
    TRANSPOSES,
    is_elementwise,
)
from torch2mlir.engine_passes.read_places import FIRST, Access, steps

_MOVING = TRANSPOSES | BROADCASTS
_ALONG = ("axis", "dimensions")
"""The properties of reductions that name dimensions."""


class EqualValues:
    """Numbers that equal values have in common, and those that may be equal, where several sizes are unknown."""

    def __init__(self) -> None:
        self._numbers: dict[SSAValue, Hashable] = {}

    def number(self, value: SSAValue) -> Hashable:
        """The number of a value."""
        if value not in self._numbers:
            op = value.owner
            if isinstance(op, Block):
                self._numbers[value] = id(value)
            elif _only_adds_ones(op):
                self._numbers[value] = self.number(op.operands[0])
            elif op.name in RESHAPES:
                self._numbers[value] = self._of_reshaped(value)
            else:
                read = op.operands[:1] if op.name in _MOVING else op.operands
                operands = tuple(self.number(x) for x in read)
                name = op.name.replace(".dynamic_", ".")
                key = (name, _said(op), operands, op.results.index(value))
                # of a number not the text, which grows with every op
                self._numbers[value] = hash(key)
        return self._numbers[value]

    def _of_reshaped(self, value: SSAValue) -> Hashable:
        """The number of what one or several reshapes give, of any dialect and however they say the shape."""
        read = value
        while not isinstance(read.owner, Block) and read.owner.name in RESHAPES:
            read = read.owner.operands[0]
        given = _type_without_ones(value)
        if given == _type_without_ones(read):
            return self.number(read)
        return hash(("reshape", self.number(read), given))


def _only_adds_ones(op: Operation) -> bool:
    """Whether an op gives its operand, but for dimensions of size 1."""
    if op.name in BROADCASTS:
        order = op.properties.get("broadcast_dimensions")
        dims = [] if order is None else integers(order)
        if list(dims) != sorted(dims):
            return False
    elif op.name not in RESHAPES:
        return False
    return _type_without_ones(op.operands[0]) == _type_without_ones(op.results[0])


def _said(op: Operation) -> Hashable:
    """What an op says beside its operands."""
    inside: list[Hashable] = []
    for region in op.regions:
        local: dict[SSAValue, int] = {}
        for block in region.blocks:
            for value in block.args:
                local[value] = len(local)
            for each in block.ops:
                operands = tuple(local.get(x, id(x)) for x in each.operands)
                inside.append((each.name, frozenset(each.properties.items()), operands))
                for value in each.results:
                    local[value] = len(local)
    return (_properties(op), tuple(inside), tuple(map(_type_without_ones, op.results)))


def _properties(op: Operation) -> Hashable:
    """The properties of an op, those that name dimensions without those of size 1."""
    if isinstance(op, linalg.GenericOp):
        return _of_loops(op)
    if op.name in _MOVING and isinstance(op.results[0].type, TensorType):
        known = steps(op)
        if known is not None:
            return tuple(_places_without_ones(access, op.results[0]) for _, access in known)
    properties = dict(op.properties)
    if op.name in LITERALS:
        literal = properties.get("value", properties.get("values"))
        if isinstance(literal, DenseIntOrFPElementsAttr):
            return literal.data.data
        if isinstance(literal, WeightAttr):
            return literal.source
    along = next((name for name in _ALONG if name in properties), None)
    if along is None or is_elementwise(op.name):
        return frozenset(properties.items())
    said = properties.pop(along)
    numbers = [integer(said)] if isinstance(said, IntegerAttr) else integers(said)
    reduced = tuple(_place_without_ones(dim, op.operands[0]) for dim in numbers)
    return frozenset(properties.items()), reduced


def _of_loops(op: linalg.GenericOp) -> Hashable:
    """Where a loop reads its operands, and which of its dimensions are reduced."""
    loops: dict[AffineExpr, int] = {}
    read = list[Hashable]()
    for x, map in zip(op.operands, op.indexing_maps.data, strict=True):
        sizes = shape_of(x) if isinstance(x.type, TensorType) else ()
        places = [e for e, size in zip(map.data.results, sizes, strict=False) if size != 1]
        read.append(
            tuple(
                loops.setdefault(each, len(loops)) if isinstance(each, AffineDimExpr) else str(each)
                for each in places
            )
        )
    kinds = op.iterator_types.data
    is_reduced = {
        place: kinds[each.position] == linalg.REDUCTION
        for each, place in loops.items()
        if isinstance(each, AffineDimExpr)
    }
    return tuple(read), tuple(is_reduced.items())


def _places_without_ones(access: Access, result: SSAValue) -> Hashable:
    """Where an operand is read, by the dimensions of the result that are not of size 1."""
    return tuple(
        _place_without_ones(place, result) if isinstance(place, int) else place
        for place in access
        if place is not FIRST
    )


def _place_without_ones(dim: int, x: SSAValue) -> Hashable:
    """The number of a dimension among those that are not of size 1."""
    sizes = shape_of(x)
    dim %= len(sizes)
    return sum(size != 1 for size in sizes[:dim]) if sizes[dim] != 1 else FIRST


def _type_without_ones(x: SSAValue) -> Hashable:
    """The element type and the sizes of a tensor but for those of 1; of another value its type."""
    if not isinstance(x.type, TensorType):
        return x.type
    return x.type.element_type, tuple(size for size in shape_of(x) if size != 1)
