"""``long-sums-in-doubles``: floats of 32 bits are added up in 64 bits, if they are many.

IREE 3.13 adds up a line, a column or a tensor one element after the other, or 16 of them: the sum of the squares of a
million numbers was off by 5e-4, and the variance with it, where eager mode, which adds up parts, is off by 3e-8. Sums
whose length nobody knows are taken for long ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FloatAttr,
    ModuleOp,
    TensorType,
    f32,
    f64,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import arith_ext, linalg, tosa
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.tensors import element_of, integer, integers, shape_of
from torch2mlir.engine_passes.beside import Beside
from torch2mlir.engine_passes.loop_nests import computed
from torch2mlir.engine_passes.tosa_extrema_to_linalg import InPlaceOfTosa

_LONGEST = 1024
"""Elements that are added up in 32 bits."""


class LongSumsInDoublesPass(PassForOps):
    """See the module's docstring."""

    name = "long-sums-in-doubles"
    looks_for = frozenset({linalg.GenericOp.name, tosa.ReduceSumOp.name, hlo.ReduceOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(op.walk()):
            if not _is_long(each, _summed(each)):
                continue
            if isinstance(each, hlo.ReduceOp):
                _reduced_in_doubles(each)
            elif isinstance(each, tosa.ReduceSumOp):
                _looped_in_doubles(InPlaceOfTosa(each).reduction(0.0, arith.AddfOp))
            elif isinstance(each, linalg.GenericOp):
                _looped_in_doubles(each)


def _summed(op: Operation) -> Sequence[int]:
    """The dimensions along which an op adds up its first operand from 0, if it does nothing else."""
    match op:
        case tosa.ReduceSumOp():
            return [integer(op.properties["axis"])]
        case hlo.ReduceOp() if len(op.results) == 1:
            body, start = op.regions[0].block, op.operands[1].owner
            is_sum = isinstance(body.first_op, hlo.AddOp) and len(body.ops) == 2
            is_sum = is_sum and isinstance(start, hlo.ConstantOp)
            return integers(op.properties["dimensions"]) if is_sum else ()
        case linalg.GenericOp() if len(op.inputs) == len(op.outputs) == 1:
            kinds = op.iterator_types.data
            return (
                [d for d, kind in enumerate(kinds) if kind != linalg.PARALLEL] if _adds(op) else ()
            )
    return ()


def _adds(op: linalg.GenericOp) -> bool:
    """Whether a loop nest adds the elements of a tensor, each at its own place, to a number."""
    block, fill = op.body.block, op.outputs[0].owner
    combine = block.first_op
    return (
        isinstance(combine, arith.AddfOp)
        and set(combine.operands) == set(block.args)
        and combine.next_op is block.last_op
        and isinstance(fill, linalg.FillOp)
        and isinstance(fill.operands[0].owner, arith.ConstantOp)
        and isinstance(fill.operands[1].owner, tensor.EmptyOp)
        and op.indexing_maps.data[0].data == AffineMap.identity(len(op.iterator_types))
    )


def _is_long(op: Operation, over: Sequence[int]) -> bool:
    if not over or element_of(op.operands[0]) != f32 or element_of(op.results[0]) != f32:
        return False
    sizes = [shape_of(op.operands[0])[dim] for dim in over]
    return DYNAMIC_INDEX in sizes or prod(sizes) > _LONGEST


def _doubles(x: SSAValue) -> TensorType:
    return TensorType(f64, shape_of(x))


def _reduced_in_doubles(op: Operation) -> None:
    before, (x, start), result = Beside(op), op.operands, op.results[0]
    wide = [before.value(hlo.ConvertOp, [each], _doubles(each)) for each in (x, start)]
    scalar = TensorType(f64, [])
    block = Block(arg_types=[scalar, scalar])
    both = hlo.AddOp.create(operands=block.args, result_types=[scalar], location=op.location)
    block.add_ops([both, hlo.ReturnOp.create(operands=both.results)])
    total = before.create(hlo.ReduceOp, wide, [_doubles(result)], op.properties, [Region(block)])
    before.replace(before.value(hlo.ConvertOp, total.results, result.type))


def _looped_in_doubles(op: linalg.GenericOp) -> None:
    before, x, fill = Beside(op), op.inputs[0], op.outputs[0].owner
    assert isinstance(fill, linalg.FillOp)
    number, empty = (each.owner for each in fill.operands)
    assert isinstance(number, arith.ConstantOp) and isinstance(empty, tensor.EmptyOp)
    assert isinstance(number.value, FloatAttr)
    wide = _doubles(op.outputs[0])
    start = before.constant(FloatAttr(number.value.value.data, f64))
    room = before.value(tensor.EmptyOp, empty.operands, wide)
    filled = before.value(linalg.FillOp, [start, room], wide, fill.properties)
    block = Block(arg_types=[f32, f64])
    end = linalg.YieldOp(block.args[1])
    block.add_op(end)
    inside = Beside(end)
    term = inside.value(arith.ExtFOp, block.args[:1], f64)
    flags = {"fastmath": arith_ext.NO_FLAGS}
    end.operands[0] = inside.value(arith.AddfOp, [term, block.args[1]], f64, flags)
    nest = linalg.GenericOp.of([x], [filled], block, op.indexing_maps, op.iterator_types)
    total = before.insert(nest).results[0]
    before.replace(
        computed(before, [total], f32, lambda inside, a: inside.value(arith.TruncFOp, [a], f32))
    )
