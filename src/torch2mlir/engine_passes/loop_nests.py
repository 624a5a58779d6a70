"""Elementwise ops of any dialect as loop nests of Linalg, their bodies written with ``arith`` and ``math``."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr
from xdsl.ir import Block, Operation, SSAValue

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
    x, result, before = op.operands[0], tensor_type(op.results[0]), Beside(op)
    sizes = [
        before.value(tensor.DimOp, [x, before.index(axis)], INDEX)
        for axis, size in enumerate(shape_of(x))
        if size == DYNAMIC_INDEX
    ]
    empty = before.value(tensor.EmptyOp, sizes, result)
    block = Block(arg_types=[element_of(x), element_of(op.results[0])])
    end = linalg.YieldOp(block.args[0])
    block.add_op(end)
    end.operands[0] = body(Beside(end), block.args[0])
    rank = len(shape_of(x))
    maps = ArrayAttr([dims_map(rank, tuple(range(rank)))] * 2)
    nest = linalg.GenericOp.of([x], [empty], block, maps, iterator_types(parallel=rank))
    before.replace(*before.insert(nest).results)
