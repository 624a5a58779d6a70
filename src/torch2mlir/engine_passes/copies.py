"""Copies of tensors that IREE keeps: it does not know that they are copies."""

from __future__ import annotations

from functools import cached_property

from xdsl.dialects import arith, complex, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    ArrayAttr,
    ComplexType,
    IntegerAttr,
    IntegerType,
    Signedness,
    TensorType,
    i1,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue, Use

from torch2mlir.dialects import arith_ext, linalg, stablehlo
from torch2mlir.dialects.iree_barriers import OptimizationBarrierOp
from torch2mlir.dialects.linalg.structured import dims_map, iterator_types
from torch2mlir.dialects.tensors import element_of, i64_array, shape_of
from torch2mlir.dialects.weights import dense_elements
from torch2mlir.engine_passes.beside import INDEX, Beside


class Copies:
    """Makes copies in a function: what is chosen between a tensor and numbers that are never its own is the tensor."""

    def __init__(self, function: FuncOp) -> None:
        self._function = function

    @cached_property
    def _unknown(self) -> SSAValue:
        """True, of which IREE does not know it; the first op of the function."""
        first = self._function.body.block.first_op
        assert first is not None
        before = Beside(first)
        yes = before.constant(dense_elements(TensorType(i1, []), [True]))
        return before.value(OptimizationBarrierOp, [yes], yes.type)

    def replace(self, x: SSAValue) -> None:
        """Hands a copy of a tensor to whoever uses the tensor."""
        uses, unknown = [*x.uses], self._unknown
        op = unknown.owner if isinstance(x, BlockArgument) else x.owner
        assert isinstance(op, Operation)
        copy = _copied(Beside(op, behind=True), unknown, x)
        for use in uses:
            use.operation.operands[use.index] = copy

    def for_use(self, use: Use) -> None:
        """Hands a copy of a tensor to one of those who use it, and to nobody else: IREE makes one of equal copies.

        It is computed alone, so that its memory is its own: after the tensor, and before anything else.
        """
        x, before = use.operation.operands[use.index], Beside(use.operation)
        if DYNAMIC_INDEX not in shape_of(x) and not is_unsigned(x):
            x = before.value(OptimizationBarrierOp, [x], x.type)
        unknown = before.value(OptimizationBarrierOp, [self._unknown], self._unknown.type)
        use.operation.operands[use.index] = _copied(before, unknown, x)


def is_unsigned(x: SSAValue) -> bool:
    """Whether a tensor has elements that StableHLO alone computes with."""
    element = element_of(x)
    return isinstance(element, IntegerType) and element.signedness.data == Signedness.UNSIGNED


def _copied(beside: Beside, unknown: SSAValue, x: SSAValue) -> SSAValue:
    return (_chosen_unsigned if is_unsigned(x) else _chosen)(beside, unknown, x)


def _chosen_unsigned(behind: Beside, unknown: SSAValue, x: SSAValue) -> SSAValue:
    other = behind.value(stablehlo.NotOp, [x], x.type)
    shape = shape_of(x)
    if DYNAMIC_INDEX not in shape:  # a condition for all elements is no tensor to IREE
        properties = {"broadcast_dimensions": i64_array([])}
        type = TensorType(i1, shape)
        unknown = behind.value(stablehlo.BroadcastInDimOp, [unknown], type, properties)
    return behind.value(stablehlo.SelectOp, [unknown, x, other], x.type)


def _chosen(behind: Beside, unknown: SSAValue, x: SSAValue) -> SSAValue:
    """The same by a loop nest of Linalg, which reads the condition from memory."""
    shape, element = shape_of(x), element_of(x)
    sizes = [
        behind.value(tensor.DimOp, [x, behind.index(axis)], INDEX)
        for axis, size in enumerate(shape)
        if size == DYNAMIC_INDEX
    ]
    empty = behind.value(tensor.EmptyOp, sizes, x.type)
    block = Block(arg_types=[i1, element, element])
    condition, value, _ = block.args
    end = linalg.YieldOp(value)
    block.add_op(end)
    inside = Beside(end)
    if isinstance(element, AnyFloat):
        flags = {"fastmath": arith_ext.NO_FLAGS}
        other = inside.value(arith.NegfOp, [value], element, flags)
    elif isinstance(element, ComplexType):
        other = inside.value(complex.NegOp, [value], element, {"fastmath": arith_ext.NO_FLAGS})
    else:
        assert isinstance(element, IntegerType)
        ones = inside.constant(IntegerAttr(-1, element))
        other = inside.value(arith.XOrIOp, [value, ones], element)
    end.operands[0] = inside.value(arith.SelectOp, [condition, value, other], element)
    rank = len(shape)
    every = dims_map(rank, tuple(range(rank)))
    maps = ArrayAttr([dims_map(rank, ()), every, every])
    nest = linalg.GenericOp.of([unknown, x], [empty], block, maps, iterator_types(parallel=rank))
    return behind.insert(nest).results[0]
