"""``reductions-by-columns``: what combines the floats of long lines combines those of 16 columns first.

IREE 3.13 combines a line with one vector, each step of which waits for the one before: 0.10 ms for the sums of 128
lines of 3072, 5 times eager mode's time. A line that is a table of 16 columns is combined by columns, as many vectors
at a time as there are lines in a tile, and then the 16: 0.04 ms. A softmax of 256 takes 0.25 ms instead of 0.65.
Where dimensions before those of the lines are combined as well, as in a batch norm, the lines come first: 3.2 ms
instead of 8.4 for 8 images of 64 channels of 56x56.

Sums of products of what lies in memory stay as they are: IREE takes these for contractions, and those of columns for
slow ones (an RMS norm of 768 takes 1.2 times as long).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, ModuleOp, TensorType, f32
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.conversion.lowering import Lowering, ResultType, Tensor
from torch2mlir.conversion.torch_to_linalg.lowering import LinalgLowering
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering
from torch2mlir.dialects import linalg, tosa
from torch2mlir.dialects.tensors import element_of, integer, shape_of
from torch2mlir.engine_passes.in_place_of import as_tensor, replace

_WORDS: dict[type[Operation], str] = {
    arith.AddfOp: "add",
    arith.MulfOp: "mul",
    arith.MaximumfOp: "max",
    arith.MinimumfOp: "min",
}
"""What combines two elements -> the word of lowerings for it."""
_NEUTRAL = {"add": 0.0, "mul": 1.0, "max": -math.inf, "min": math.inf}
"""What changes nothing, as lowerings begin with it."""
_WORDS_OF_TOSA: dict[type[Operation], str] = {
    tosa.ReduceSumOp: "add",
    tosa.ReduceProductOp: "mul",
}
"""Those of floats; extrema are nests already (``tosa-extrema-to-linalg``)."""
_WRITTEN = (tosa.Conv2DOp, tosa.MatMulOp, tosa.ReshapeOp, tosa.TransposeOp)
"""Ops of TOSA's whose results lie in memory."""
_COLUMNS = 16
"""Elements of f32 in a vector of 512 bits."""
_SHORTEST = 256
"""Elements of a line that is worth two loop nests."""


class ReductionsByColumnsPass(PassForOps):
    """See the module's docstring."""

    name = "reductions-by-columns"
    looks_for = frozenset({linalg.GenericOp.name, *(op.name for op in _WORDS_OF_TOSA)})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(op.walk()):
            if isinstance(each, linalg.GenericOp) and (word := _word(each)) is not None:
                replace(each, partial(_by_columns, op=each, word=word), "linalg-on-tensors")
            elif type(each) in _WORDS_OF_TOSA and _is_of_long_lines(each):
                replace(each, partial(_tosa_by_columns, op=each), "tosa")


def _word(op: linalg.GenericOp) -> str | None:
    """What a nest combines the last dimensions of its one input with; None if it does anything else."""
    if len(op.inputs) != 1 or len(op.outputs) != 1 or not _is_along_lines(op):
        return None
    if _is_contraction(op.inputs[0]):
        return None
    combine = op.body.block.first_op
    if combine is None or set(combine.operands) != set(op.body.block.args):
        return None
    word = _WORDS.get(type(combine))
    is_alone = combine.next_op is op.body.block.last_op
    return word if word and is_alone and _first(op) == _NEUTRAL[word] else None


def _first(op: linalg.GenericOp) -> float | None:
    """The number that everything is combined with."""
    fill = op.outputs[0].owner
    number = fill.operands[0].owner if isinstance(fill, linalg.FillOp) else None
    value = number.value if isinstance(number, arith.ConstantOp) else None
    return value.value.data if isinstance(value, FloatAttr) else None


def _is_contraction(terms: SSAValue) -> bool:
    """Whether the terms of a sum are products of elements that no loop computes."""
    product = terms.owner
    if isinstance(product, linalg.GenericOp):
        first, end = product.body.block.first_op, product.body.block.last_op
        if not isinstance(first, arith.MulfOp) or first.next_op is not end:
            return False
        return not any(isinstance(x.owner, linalg.GenericOp) for x in product.inputs)
    if not isinstance(product, tosa.MulOp):
        return False
    return all(isinstance(x.owner, (Block, *_WRITTEN)) for x in product.operands[:2])


def _is_along_lines(op: linalg.GenericOp) -> bool:
    """Whether a nest runs through a static tensor of floats and combines long lines of it."""
    x = op.inputs[0]
    type, kinds = x.type, op.iterator_types.data
    if not isinstance(type, TensorType) or not type.has_static_shape():
        return False
    if type.element_type != f32 or element_of(op.results[0]) != f32:
        return False
    if linalg.PARALLEL not in kinds:
        return False
    length = math.prod(type.get_shape()[_first_of_line(op) :])
    whole, places = (map.data for map in op.indexing_maps.data)
    is_whole = whole == AffineMap.identity(len(kinds))
    return is_whole and places.results in _in_order(op) and _is_long(length)


def _in_order(op: linalg.GenericOp) -> list[tuple[AffineExpr, ...]]:
    """How the dimensions that are not combined come out, with those that are as 1 or without them."""
    kept = _kept(op)
    first, every = AffineConstantExpr(0), range(len(op.iterator_types))
    without = tuple(AffineDimExpr(dim) for dim in kept)
    return [without, tuple(AffineDimExpr(dim) if dim in kept else first for dim in every)]


def _kept(op: linalg.GenericOp) -> tuple[int, ...]:
    kinds = op.iterator_types.data
    return tuple(dim for dim, kind in enumerate(kinds) if kind == linalg.PARALLEL)


def _first_of_line(op: linalg.GenericOp) -> int:
    """The first of the last dimensions, all of which are combined."""
    return _kept(op)[-1] + 1


def _is_of_long_lines(op: Operation) -> bool:
    """Whether an op of TOSA's combines the last dimension."""
    x = op.operands[0]
    type, axis = x.type, integer(op.properties["axis"])
    if not isinstance(type, TensorType) or not type.has_static_shape() or type.element_type != f32:
        return False
    is_last = 0 < axis == type.get_num_dims() - 1
    return is_last and _is_long(type.get_shape()[axis]) and not _is_contraction(x)


def _is_long(length: int) -> bool:
    return length >= _SHORTEST and length % _COLUMNS == 0


def _by_columns(lower: LinalgLowering, op: linalg.GenericOp, word: str) -> list[Tensor | None]:
    x, sizes, first = as_tensor(op.inputs[0]), shape_of(op.results[0]), _first_of_line(op)
    others = [dim for dim in range(first) if dim not in _kept(op)]
    if not others:
        return [_combined(lower, word, x, first, sizes)]
    lines = _combined(lower, word, x, first, shape_of(op.inputs[0])[:first])
    kept = ResultType(tuple(x.sizes[dim] for dim in _kept(op)), x.dtype)
    return [lower.reshape(lower.combined(word, lines, others, kept), sizes)]


def _tosa_by_columns(lower: TosaLowering, op: Operation) -> list[Tensor | None]:
    x = as_tensor(op.operands[0])
    return [_combined(lower, _WORDS_OF_TOSA[type(op)], x, x.rank - 1, shape_of(op.results[0]))]


def _combined(lower: Lowering, word: str, x: Tensor, rank: int, sizes: Sequence[int]) -> Tensor:
    """The elements behind the first dimensions combined, as a tensor of the sizes that are given."""
    kept, length = list(x.sizes[:rank]), math.prod(shape_of(x.value)[rank:])
    table = lower.reshape(x, [*kept, length // _COLUMNS, _COLUMNS])
    line = lower.combined(word, table, [rank], ResultType((*kept, _COLUMNS), x.dtype))
    total = lower.combined(word, line, [rank], ResultType(tuple(kept), x.dtype))
    return lower.reshape(total, sizes)
