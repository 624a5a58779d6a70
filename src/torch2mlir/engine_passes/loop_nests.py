"""Elementwise ops of any dialect as loop nests of Linalg, their bodies written with ``arith`` and ``math``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from torch2mlir.contract.target import get_target
from torch2mlir.conversion.expressions import Expr
from torch2mlir.conversion.lowering import Scalar
from torch2mlir.conversion.torch_to_linalg.words import LinalgWords
from torch2mlir.dialects import linalg
from torch2mlir.dialects.linalg.structured import dims_map, iterator_types
from torch2mlir.dialects.tensors import element_of, shape_of
from torch2mlir.engine_passes.beside import INDEX, Beside

Body = Callable[..., SSAValue]
"""Writes, with a :class:`Beside`, what becomes of an element, or of one of each tensor."""


def over_elements(op: Operation, body: Body) -> None:
    """Replaces an elementwise op by a loop nest.

    Args:
        op: its operands and its result are tensors of the same sizes.
        body: for an element of each operand.
    """
    before = Beside(op)
    before.replace(computed(before, op.operands, element_of(op.results[0]), body))


def computed(
    beside: Beside, tensors: Sequence[SSAValue], element: Attribute, body: Body
) -> SSAValue:
    """A tensor of the sizes of others, computed from their elements.

    Args:
        beside: where.
        tensors: the others, one or more.
        element: the type of the elements.
        body: for an element of each.
    """
    x = tensors[0]
    sizes = [
        beside.value(tensor.DimOp, [x, beside.index(axis)], INDEX)
        for axis, size in enumerate(shape_of(x))
        if size == DYNAMIC_INDEX
    ]
    empty = beside.value(tensor.EmptyOp, sizes, TensorType(element, shape_of(x)))
    block = Block(arg_types=[*map(element_of, tensors), element])
    end = linalg.YieldOp(block.args[0])
    block.add_op(end)
    end.operands[0] = body(Beside(end), *block.args[:-1])
    rank = len(shape_of(x))
    maps = ArrayAttr([dims_map(rank, tuple(range(rank)))] * (len(tensors) + 1))
    nest = linalg.GenericOp.of(tensors, [empty], block, maps, iterator_types(parallel=rank))
    return beside.insert(nest).results[0]


def on_elements(before: Beside, formula: Callable[..., Expr], *elements: SSAValue) -> SSAValue:
    """A formula on floats in a loop's body, in the words that Linalg has."""
    lower = get_target("linalg-on-tensors").lowering_class()
    words = LinalgWords(lower.scalars)
    found = formula(*(Expr(words, Scalar(each, each.type)) for each in elements))
    for op in (*lower.entry, *lower.body):
        before.insert(op)
    value: SSAValue = found.value.value
    return value
