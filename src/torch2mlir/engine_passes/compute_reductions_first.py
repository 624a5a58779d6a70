"""``compute-reductions-first``: what a loop reads at two places of one reduction is computed before the loop.

IREE 3.13 computes a reduction within the loop that reads it, tile by tile, and has one tile for all reads: of
``torch.outer(v, v)`` with ``v = x.sum(0)`` only the diagonal is right, and so is of ``s + s.T`` for a softmax. Where a
loop, through ops that it is fused with, reaches a reduction by different subscripts, a barrier keeps them apart.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr
from xdsl.passes import ModulePass

from torch2mlir.dialects import linalg
from torch2mlir.dialects.tensors import integers, shape_of
from torch2mlir.engine_passes.kept_apart import keep_apart
from torch2mlir.engine_passes.op_kinds import (
    BROADCASTS,
    COMBINATIONS,
    NUMBERS,
    RESHAPES,
    TRANSPOSES,
    is_elementwise,
)

Subscript = Hashable
"""Of one dimension: the loop that runs over it, or what else says where."""
Access = tuple[Subscript, ...]
FIRST = "first"
"""The subscript of a dimension of size 1."""

_MOVING = RESHAPES | TRANSPOSES | BROADCASTS
"""Ops that loops are fused through and that change which dimension is which."""


class ComputeReductionsFirstPass(ModulePass):
    """See the module's docstring."""

    name = "compute-reductions-first"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not any(map(_reads_elsewhere, op.walk())):
            return
        reads = _Reads()
        for each in op.walk():
            reads.add(each)
        for value in reads.read_twice():
            keep_apart(value)


def _reads_elsewhere(op: Operation) -> bool:
    """Whether an op reads some dimension of an operand by another one: without such an op all read at one place."""
    if not isinstance(op, linalg.GenericOp):
        return op.name in _MOVING
    for x, map in zip(op.operands, op.indexing_maps.data, strict=True):
        sizes = x.type.get_shape() if isinstance(x.type, TensorType) else ()
        for dim, expression in enumerate(map.data.results):
            is_first = isinstance(expression, AffineConstantExpr) and sizes[dim] == 1
            if not is_first and expression != AffineDimExpr(dim):
                return True
    return False


class _Reads:
    """Which reductions every tensor is computed from within one loop, and where it reads them."""

    def __init__(self) -> None:
        self._accesses: dict[SSAValue, dict[Hashable, Access]] = {}
        self._numbers: dict[SSAValue, Hashable] = {}
        self._roots: dict[Hashable, list[SSAValue]] = {}
        self._twice: set[Hashable] = set()

    def read_twice(self) -> Iterator[SSAValue]:
        """The results of reductions that one loop reads at different places."""
        for number, values in self._roots.items():
            if number in self._twice:
                yield from values

    def add(self, op: Operation) -> None:
        """Looks at an op whose operands were looked at before."""
        if len(op.results) == 0 or not isinstance(op.results[0].type, TensorType):
            return
        steps = _steps(op)
        found: dict[Hashable, Access] = {}
        for value, subscripts in steps or ():
            for root, access in self._accesses.get(value, {}).items():
                place = tuple(_followed(each, subscripts) for each in access)
                if found.setdefault(root, place) != place:
                    self._twice.add(root)
        if is_root(op):
            for result in op.results:
                number = self._number(result)
                self._roots.setdefault(number, []).append(result)
                self._accesses[result] = {number: _subscripts(result, range(_rank(result)))}
        elif found:
            self._accesses[op.results[0]] = found

    def _number(self, value: SSAValue) -> Hashable:
        """The same for values that the compiler finds to be equal."""
        if value not in self._numbers:
            op = value.owner
            if isinstance(op, Block):
                self._numbers[value] = id(value)
            else:
                operands = tuple(self._number(x) for x in op.operands)
                key = (op.name, _said(op), operands, op.results.index(value))
                # of a number not the text, which grows with every op
                self._numbers[value] = hash(key)
        return self._numbers[value]


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
    properties = frozenset(op.properties.items())
    return (properties, tuple(inside), tuple(result.type for result in op.results))


def is_root(op: Operation) -> bool:
    """Whether it computes what others read, and is more than a loop over the places of its result."""
    if isinstance(op, linalg.GenericOp):
        return linalg.REDUCTION in op.iterator_types.data
    is_loops = op.name.startswith(("linalg.", "iree_linalg_ext.", "tm_tensor."))
    moves = op.name in NUMBERS | TRANSPOSES | BROADCASTS
    return (is_loops and not moves) or op.name in COMBINATIONS


def read_in_loops(op: Operation) -> list[SSAValue]:
    """The tensors that the loops of an op read, together with those of the ops that they are fused with."""
    if len(op.results) == 0 or not isinstance(op.results[0].type, TensorType):
        return []
    return [value for value, _ in _steps(op) or ()]


# where an op reads its operands, by the dimensions of its result or, in a reduction, by its loops

Steps = list[tuple[SSAValue, Access]]


def _steps(op: Operation) -> Steps | None:
    if isinstance(op, linalg.GenericOp):
        return _steps_of_loops(op)
    result = op.results[0]
    match op.name:
        case "tensor.cast":
            return [(op.operands[0], _subscripts(op.operands[0], range(_rank(result))))]
        case "tensor.expand_shape":
            return [(op.operands[0], _joined(op, result))]
        case "tensor.collapse_shape":
            return [(op.operands[0], _split(op, op.operands[0]))]
        case "linalg.transpose" | "tosa.transpose" | "stablehlo.transpose":
            name = "perms" if op.name.startswith("tosa") else "permutation"
            order = integers(op.properties[name])
            places = [order.index(dim) for dim in range(len(order))]
            return [(op.operands[0], _subscripts(op.operands[0], places))]
        case "linalg.broadcast":
            added = integers(op.properties["dimensions"])
            places = [dim for dim in range(_rank(result)) if dim not in added]
            return [(op.operands[0], _subscripts(op.operands[0], places))]
        case "stablehlo.broadcast_in_dim":
            where = integers(op.properties["broadcast_dimensions"])
            return [(op.operands[0], _subscripts(op.operands[0], where))]
        case "tosa.reshape" | "stablehlo.reshape":
            return [(op.operands[0], _reshaped(op.operands[0], result))]
        case "tosa.tile":
            return [(op.operands[0], _tiled(op.operands[0], result))]
    if not is_elementwise(op.name):  # no loop is fused through
        return None
    rank = _rank(result)
    return [(x, _subscripts(x, range(rank))) for x in op.operands if _rank(x) == rank]


def _steps_of_loops(op: linalg.GenericOp) -> Steps:
    maps = [each.data for each in op.indexing_maps.data]
    order = {loop: loop for loop in range(maps[0].num_dims)}
    if not is_root(op):
        order = {
            expression.position: place
            for place, expression in enumerate(maps[-1].results)
            if isinstance(expression, AffineDimExpr)
        }

    def subscript(expression: AffineExpr) -> Subscript:
        if isinstance(expression, AffineDimExpr):
            return order.get(expression.position, str(expression))
        return FIRST if isinstance(expression, AffineConstantExpr) else str(expression)

    return [
        (x, _subscripts(x, [subscript(each) for each in map.results]))
        for x, map in zip(op.operands, maps, strict=True)
    ]


def _subscripts(x: SSAValue, places: Sequence[Subscript]) -> Access:
    sizes = shape_of(x)
    return tuple(FIRST if size == 1 else place for size, place in zip(sizes, places, strict=False))


def _followed(subscript: Subscript, subscripts: Access) -> Subscript:
    """A subscript by a tensor's dimensions, by the loops that run over these."""
    if isinstance(subscript, int):
        return subscripts[subscript] if subscript < len(subscripts) else f"beyond {subscript}"
    if isinstance(subscript, tuple):
        return tuple(_followed(each, subscripts) for each in subscript)
    return subscript


def _groups(op: Operation) -> list[list[int]]:
    """The dimensions that are joined to one, or that one is split into."""
    groups: Any = op.properties["reassociation"]
    return [[number.value.data for number in group] for group in groups]


def _joined(op: Operation, result: SSAValue) -> Access:
    """Where the operand of ``tensor.expand_shape`` is read: a dimension by those that it becomes."""
    sizes = shape_of(result)
    return tuple(_one_of([d for d in group if sizes[d] != 1]) for group in _groups(op))


def _one_of(dims: list[int]) -> Subscript:
    return FIRST if not dims else dims[0] if len(dims) == 1 else tuple(dims)


def _split(op: Operation, x: SSAValue) -> Access:
    """Where the operand of ``tensor.collapse_shape`` is read: each of its dimensions by the one that it is part of."""
    sizes = shape_of(x)
    found: list[Subscript] = [FIRST] * len(sizes)
    for place, group in enumerate(_groups(op)):
        parts = [d for d in group if sizes[d] != 1]
        for part in parts:
            found[part] = place if len(parts) == 1 else ("part", part, place)
    return tuple(found)


def _reshaped(x: SSAValue, result: SSAValue) -> Access:
    """The same for a reshape that only drops and adds dimensions of size 1; of others nothing is known."""
    before, after = shape_of(x), shape_of(result)
    kept = [d for d, size in enumerate(after) if size != 1]
    known = [size for size in before if size != 1] == [after[d] for d in kept]
    places = iter(kept)
    return tuple(
        FIRST if size == 1 else next(places) if known else f"of {result.name_hint} {id(result)} {d}"
        for d, size in enumerate(before)
    )


def _tiled(x: SSAValue, result: SSAValue) -> Access:
    """The same for copies side by side, of which only those of one element are told apart."""
    before, after = shape_of(x), shape_of(result)
    pairs = enumerate(zip(before, after, strict=True))
    return _subscripts(x, [d if old == new else f"copies {d}" for d, (old, new) in pairs])


def _rank(x: SSAValue) -> int:
    return len(x.type.get_shape()) if isinstance(x.type, TensorType) else -1
