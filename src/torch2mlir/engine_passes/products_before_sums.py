"""``products-before-sums``: products with a row that is repeated are computed before they are added up in all rows.

IREE 3.13 takes a sum of products for a contraction. Where a factor has some of the dimensions that are added up, and
not all, as ``w`` of ``(x * w).sum()`` for a matrix and a row, its own verifier refuses that contraction for many sizes
("invalid accumulator/result vector shape").
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import linalg
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.tensors import integers, shape_of
from torch2mlir.engine_passes.kept_apart import keep_apart
from torch2mlir.engine_passes.op_kinds import is_elementwise

_DEEPEST = 6
"""So many ops are looked through for what a factor varies along."""


class ProductsBeforeSumsPass(PassForOps):
    """See the module's docstring."""

    name = "products-before-sums"
    looks_for = frozenset({linalg.GenericOp.name, hlo.ReduceOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for product in dict.fromkeys(_repeated(op)):
            keep_apart(product)


def _repeated(module: ModuleOp) -> Iterator[SSAValue]:
    """Products with a factor that is repeated along some of the dimensions in which they are added up."""
    for op in module.walk():
        for product, added in _sums(op):
            if any(0 < len(added & dims) < len(added) for dims in _factors(product.owner)):
                yield product


def _sums(op: Operation) -> Iterator[tuple[SSAValue, set[int]]]:
    """What an op adds up, and in which of its dimensions."""
    if isinstance(op, hlo.ReduceOp):
        for operand in op.operands[: len(op.results)]:
            yield operand, {*integers(op.properties["dimensions"])}
    elif isinstance(op, linalg.GenericOp) and linalg.REDUCTION in op.iterator_types.data:
        kinds = op.iterator_types.data
        for operand, map in zip(op.inputs, op.indexing_maps.data, strict=False):
            loops = _loops(map.data)
            yield operand, {d for d, loop in enumerate(loops) if kinds[loop] == linalg.REDUCTION}


def _factors(op: object) -> Iterator[set[int]]:
    """The dimensions of a product along which each of its factors varies."""
    if isinstance(op, hlo.MulOp):
        yield from map(_varying, op.operands)
    elif isinstance(op, linalg.GenericOp) and linalg.REDUCTION not in op.iterator_types.data:
        end = op.body.block.last_op
        if end is not None and isinstance(end.operands[0].owner, arith.MulfOp):
            yield from _varying_inputs(op, _DEEPEST)


def _varying(x: SSAValue, depth: int = _DEEPEST) -> set[int]:
    """The dimensions along which a tensor varies, as far as the ops say that compute it."""
    op, sizes = x.owner, shape_of(x)
    varying = {dim for dim, size in enumerate(sizes) if size != 1}
    if depth == 0 or not isinstance(op, Operation):
        return varying
    if isinstance(op, linalg.BroadcastOp):
        added = integers(op.properties["dimensions"])
        kept = [dim for dim in range(len(sizes)) if dim not in added]
        return {kept[dim] for dim in _varying(op.operands[0], depth - 1)}
    if isinstance(op, hlo.BroadcastInDimOp):
        kept = [*integers(op.properties["broadcast_dimensions"])]
        return {kept[dim] for dim in _varying(op.operands[0], depth - 1)}
    if isinstance(op, linalg.GenericOp) and linalg.REDUCTION not in op.iterator_types.data:
        return set().union(*_varying_inputs(op, depth - 1))
    if is_elementwise(op.name) and all(shape_of(each) == sizes for each in op.operands):
        return set().union(*(_varying(each, depth - 1) for each in op.operands))
    return varying


def _varying_inputs(op: linalg.GenericOp, depth: int) -> Iterator[set[int]]:
    """The dimensions of its result along which each input of a nest varies."""
    places = _loops(op.indexing_maps.data[-1].data)
    for x, map in zip(op.inputs, op.indexing_maps.data, strict=False):
        loops = _loops(map.data)
        varying = {loops[dim] for dim in _varying(x, depth)}
        yield {dim for dim, loop in enumerate(places) if loop in varying}


def _loops(map: AffineMap) -> list[int]:
    """The loop along each dimension; -1 where a place is computed otherwise."""
    return [each.position if isinstance(each, AffineDimExpr) else -1 for each in map.results]
