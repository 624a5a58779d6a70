"""Elementwise ops of any dialect as loop nests of Linalg, their bodies written with ``arith`` and ``math``."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from torch2mlir.dialects import linalg
from torch2mlir.dialects.linalg.structured import dims_map, iterator_types
from torch2mlir.dialects.tensors import element_of, shape_of, tensor_type
from torch2mlir.engine_passes.beside import INDEX, Beside


def over_elements(op: Operation, body: Callable[[Beside, SSAValue], SSAValue]) -> None:
    """Replaces an op on one tensor by a loop nest over its elements.

    Args:
        op: its first operand is the tensor, its result has the same sizes.
        body: writes what becomes of an element.
    """
    before = Beside(op)
    before.replace(loop_nest(before, op.operands[0], tensor_type(op.results[0]), body))


def loop_nest(
    place: Beside,
    x: SSAValue,
    type: TensorType[Attribute],
    body: Callable[[Beside, SSAValue], SSAValue],
) -> SSAValue:
    """A loop nest over the elements of a tensor.

    Args:
        place: where it is inserted.
        x: the tensor.
        type: of the result, which has the same sizes.
        body: writes what becomes of an element.
    """
    sizes = [
        place.value(tensor.DimOp, [x, place.index(axis)], INDEX)
        for axis, size in enumerate(shape_of(x))
        if size == DYNAMIC_INDEX
    ]
    empty = place.value(tensor.EmptyOp, sizes, type)
    block = Block(arg_types=[element_of(x), type.element_type])
    end = linalg.YieldOp(block.args[0])
    block.add_op(end)
    end.operands[0] = body(Beside(end), block.args[0])
    rank = len(shape_of(x))
    maps = ArrayAttr([dims_map(rank, tuple(range(rank)))] * 2)
    nest = linalg.GenericOp.of([x], [empty], block, maps, iterator_types(parallel=rank))
    return place.insert(nest).results[0]
