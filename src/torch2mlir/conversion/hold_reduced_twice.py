"""``hold-reduced-twice``: what was reduced is held apart from an op that takes it at two places of its result.

IREE 3.13 fuses a reduction into the op that takes it. Where that takes it twice, as ``torch.outer(v, v)`` of
``v = x.sum(0)`` does, once as a row and once as a column, it sums products and not what is multiplied.
``util.optimization_barrier`` keeps the two apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, ModuleOp, TensorType
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from torch2mlir.dialects import linalg
from torch2mlir.dialects.iree_util import OptimizationBarrierOp, TieShapeOp

_FOLLOWED = ("linalg.generic", "tensor.", "tosa.", "stablehlo.", "chlo.")
"""What IREE may fuse with the reduction."""


class HoldReducedTwicePass(ModulePass):
    """See the module's docstring."""

    name = "hold-reduced-twice"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(op.walk()):
            for result in each.results if _reduces(each) else ():
                if isinstance(result.type, TensorType) and _is_taken_twice(result):
                    _hold(result)


def _reduces(op: Operation) -> bool:
    if isinstance(op, linalg.GenericOp):
        return any(kind.data is IteratorType.REDUCTION for kind in op.iterator_types)
    return op.name == "stablehlo.reduce" or op.name.startswith("tosa.reduce_")


def _is_taken_twice(result: SSAValue) -> bool:
    """Whether it, or what is computed of it alone for each element, is taken at more than one place."""
    most, waiting, seen = _elements(result), [result], set[SSAValue]()
    while waiting:
        value = waiting.pop()
        if value in seen or _elements(value) != most:
            continue
        seen.add(value)
        if len({place for op, index in _uses(value) for place in _places(op, index)}) > 1:
            return True
        waiting += [
            r for op, _ in _uses(value) if op.name.startswith(_FOLLOWED) for r in op.results
        ]
    return False


def _uses(value: SSAValue) -> Iterator[tuple[Operation, int]]:
    return ((use.operation, use.index) for use in value.uses)


def _places(op: Operation, index: int) -> Iterator[Any]:
    """Where among the elements of its result an op takes an operand."""
    if isinstance(op, linalg.GenericOp):
        yield op.indexing_maps.data[index]
    elif op.name.startswith(_FOLLOWED):
        yield tuple(result.type for result in op.results), op.properties.get("broadcast_dimensions")


def _elements(value: SSAValue) -> object:
    if not isinstance(value.type, TensorType):
        return None
    shape = [size for size in value.type.get_shape() if size != 1]
    return tuple(shape) if DYNAMIC_INDEX in shape else prod(shape)


def _hold(value: SSAValue) -> None:
    op = value.owner
    assert isinstance(op, Operation) and isinstance(value.type, TensorType)
    uses = list(value.uses)
    barrier = OptimizationBarrierOp.create(operands=[value], result_types=[value.type])
    added: list[Operation] = [barrier]
    sizes = list[SSAValue]()
    for place, size in enumerate(value.type.get_shape()):
        if size == DYNAMIC_INDEX:
            constant = arith.ConstantOp(IntegerAttr.from_index_int_value(place))
            asked = tensor.DimOp(value, constant.result)
            added += [constant, asked]
            sizes.append(asked.result)
    if sizes:  # IREE wants to be told of them after a barrier
        operands = [barrier.result, *sizes]
        added.append(TieShapeOp.create(operands=operands, result_types=[value.type]))
    for each in added:
        each.location = op.location
    Rewriter.insert_op(added, InsertPoint.after(op))
    for use in uses:
        use.operation.operands[use.index] = added[-1].results[0]
