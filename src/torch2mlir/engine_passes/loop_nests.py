"""Elementwise ops of any dialect as loop nests of Linalg, their bodies written with ``arith`` and ``math``."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from torch2mlir.dialects import linalg
from torch2mlir.dialects.linalg.structured import dims_map, iterator_types
from torch2mlir.dialects.tensors import element_of, shape_of
from torch2mlir.engine_passes.beside import INDEX, Beside

Body = Callable[[Beside, SSAValue], SSAValue]
"""Writes what becomes of an element."""


def over_elements(op: Operation, body: Body) -> None:
    """Replaces an op on one tensor by a loop nest over its elements.

    Args:
        op: its first operand is the tensor, its result has the same sizes.
        body: for an element.
    """
    before = Beside(op)
    before.replace(computed(before, op.operands[0], element_of(op.results[0]), body))


def computed(beside: Beside, x: SSAValue, element: Attribute, body: Body) -> SSAValue:
    """A tensor of the sizes of another one, computed from its elements.

    Args:
        beside: where.
        x: the other one.
        element: the type of the elements.
        body: for an element.
    """
    sizes = [
        beside.value(tensor.DimOp, [x, beside.index(axis)], INDEX)
        for axis, size in enumerate(shape_of(x))
        if size == DYNAMIC_INDEX
    ]
    empty = beside.value(tensor.EmptyOp, sizes, TensorType(element, shape_of(x)))
    block = Block(arg_types=[element_of(x), element])
    end = linalg.YieldOp(block.args[0])
    block.add_op(end)
    end.operands[0] = body(Beside(end), block.args[0])
    rank = len(shape_of(x))
    maps = ArrayAttr([dims_map(rank, tuple(range(rank)))] * 2)
    nest = linalg.GenericOp.of([x], [empty], block, maps, iterator_types(parallel=rank))
    return beside.insert(nest).results[0]
