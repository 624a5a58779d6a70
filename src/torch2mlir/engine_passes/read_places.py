"""Where the loop of an op reads the tensors it is computed from: a dimension of an operand by those of the result."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from torch2mlir.dialects import linalg
from torch2mlir.dialects.tensors import integers, shape_of
from torch2mlir.engine_passes.op_kinds import (
    BROADCASTS,
    COMBINATIONS,
    NUMBERS,
    TRANSPOSES,
    is_elementwise,
)

Subscript = Hashable
"""Of one dimension: the loop that runs over it, or what else says where."""
Access = tuple[Subscript, ...]
FIRST = "first"
"""The subscript of a dimension of size 1."""
Steps = list[tuple[SSAValue, Access]]
"""Operands, and where they are read."""
DYNAMIC = -1
"""A size known at run time."""


def is_root(op: Operation) -> bool:
    """Whether it computes what others read, and is more than a loop over the places of its result."""
    if isinstance(op, linalg.GenericOp):
        return _reduces(op)
    if _of_ones(op) is not None:
        return False
    is_loops = op.name.startswith(("linalg.", "iree_linalg_ext.", "tm_tensor."))
    moves = op.name in NUMBERS | TRANSPOSES | BROADCASTS
    return (is_loops and not moves) or op.name in COMBINATIONS


def _reduces(op: linalg.GenericOp) -> bool:
    """Whether loops reduce several elements: a reduction over dimensions of size 1 is dropped by IREE."""
    if linalg.REDUCTION not in op.iterator_types.data:
        return False
    sizes = dict[int, int]()
    for x, map in zip(op.operands, op.indexing_maps.data, strict=True):
        for size, expression in zip(shape_of(x), map.data.results, strict=False):
            if isinstance(expression, AffineDimExpr):
                sizes[expression.position] = size
    kinds = enumerate(op.iterator_types.data)
    return any(kind == linalg.REDUCTION and sizes.get(loop) != 1 for loop, kind in kinds)


def _of_ones(op: Operation) -> Access | None:
    """Where a reduction over dimensions of size 1 alone reads its operand; None for other ops."""
    if op.name.startswith("tosa.reduce_") and shape_of(op.operands[0]) == shape_of(op.results[0]):
        return subscripts(op.operands[0], range(_rank(op.results[0])))
    if op.name != "stablehlo.reduce" or len(op.results) != 1:
        return None
    sizes, gone = shape_of(op.operands[0]), integers(op.properties["dimensions"])
    if any(sizes[dim] != 1 for dim in gone):
        return None
    places = iter(range(len(sizes)))
    return subscripts(
        op.operands[0], [FIRST if d in gone else next(places) for d in range(len(sizes))]
    )


def read_in_loops(op: Operation) -> list[SSAValue]:
    """The tensors that the loops of an op read, together with those of the ops that they are fused with."""
    if len(op.results) == 0 or not isinstance(op.results[0].type, TensorType):
        return []
    return [value for value, _ in steps(op) or ()]


def permutation_of(op: Operation) -> Sequence[int]:
    """Of one of ``TRANSPOSES``: for each dimension of the result, which one of the operand it is."""
    return integers(op.properties["perms" if op.name.startswith("tosa") else "permutation"])


def steps(op: Operation) -> Steps | None:
    """Where an op reads its operands, by the dimensions of its result or, in a reduction, by its loops.

    None where no loop is fused through it.
    """
    if isinstance(op, linalg.GenericOp):
        return _steps_of_loops(op)
    result = op.results[0]
    match op.name:
        case "tensor.cast":
            return [(op.operands[0], subscripts(op.operands[0], range(_rank(result))))]
        case "tensor.expand_shape":
            return [(op.operands[0], _joined(op, result))]
        case "tensor.collapse_shape":
            return [(op.operands[0], _split(op, op.operands[0]))]
        case "linalg.transpose" | "tosa.transpose" | "stablehlo.transpose":
            order = permutation_of(op)
            places = [order.index(dim) for dim in range(len(order))]
            return [(op.operands[0], subscripts(op.operands[0], places))]
        case "linalg.broadcast":
            added = integers(op.properties["dimensions"])
            places = [dim for dim in range(_rank(result)) if dim not in added]
            return [(op.operands[0], subscripts(op.operands[0], places))]
        case "stablehlo.broadcast_in_dim" | "stablehlo.dynamic_broadcast_in_dim":
            where = integers(op.properties["broadcast_dimensions"])
            return [(op.operands[0], subscripts(op.operands[0], where))]
        case "tosa.reshape" | "stablehlo.reshape" | "stablehlo.dynamic_reshape":
            return [(op.operands[0], _reshaped(op.operands[0], result))]
        case "tosa.tile":
            return [(op.operands[0], _tiled(op.operands[0], result))]
    if (place := _of_ones(op)) is not None:
        return [(op.operands[0], place)]
    if not is_elementwise(op.name):
        return None
    rank = _rank(result)
    return [(x, subscripts(x, range(rank))) for x in op.operands if _rank(x) == rank]


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
        (x, subscripts(x, [subscript(each) for each in map.results]))
        for x, map in zip(op.operands, maps, strict=True)
    ]


def subscripts(x: SSAValue, places: Sequence[Subscript]) -> Access:
    """These places, but for dimensions of size 1."""
    sizes = shape_of(x)
    return tuple(FIRST if size == 1 else place for size, place in zip(sizes, places, strict=False))


def followed(subscript: Subscript, places: Access) -> Subscript:
    """A subscript by a tensor's dimensions, by the loops that run over these."""
    if isinstance(subscript, int):
        return places[subscript] if subscript < len(places) else f"beyond {subscript}"
    if isinstance(subscript, tuple):
        return tuple(followed(each, places) for each in subscript)
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
    known = _only_adds_ones(x, result)
    places = iter(kept)
    return tuple(
        FIRST if size == 1 else next(places) if known else f"of {result.name_hint} {id(result)} {d}"
        for d, size in enumerate(before)
    )


def _only_adds_ones(x: SSAValue, result: SSAValue) -> bool:
    """Whether a reshape only drops and adds dimensions of size 1; of several unknown sizes nobody knows."""
    before, after = ([size for size in shape_of(each) if size != 1] for each in (x, result))
    return before == after and before.count(DYNAMIC) <= 1


def _tiled(x: SSAValue, result: SSAValue) -> Access:
    """The same for copies side by side, of which only those of one element are told apart."""
    before, after = shape_of(x), shape_of(result)
    pairs = enumerate(zip(before, after, strict=True))
    return subscripts(x, [d if old == new else f"copies {d}" for d, (old, new) in pairs])


def _rank(x: SSAValue) -> int:
    return len(x.type.get_shape()) if isinstance(x.type, TensorType) else -1
