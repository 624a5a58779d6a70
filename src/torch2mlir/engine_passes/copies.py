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
    TensorType,
    i1,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue, Use

from torch2mlir.dialects import arith_ext, linalg
from torch2mlir.dialects.linalg.structured import dims_map, iterator_types
from torch2mlir.dialects.tensors import element_of, shape_of
from torch2mlir.dialects.weights import dense_elements
from torch2mlir.engine_passes.beside import INDEX, Beside
from torch2mlir.engine_passes.kept_apart import signless, typed_like, unknown_to_iree


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
        return unknown_to_iree(before, yes)

    def replace(self, x: SSAValue) -> None:
        """Hands a copy of a tensor to whoever uses the tensor."""
        uses, unknown = [*x.uses], self._unknown
        op = unknown.owner if isinstance(x, BlockArgument) else x.owner
        assert isinstance(op, Operation)
        behind = Beside(op, behind=True)
        copy = typed_like(behind, _chosen(behind, unknown, signless(behind, x)), x)
        for use in uses:
            use.operation.operands[use.index] = copy

    def for_use(self, use: Use, before: Operation | None = None) -> None:
        """Hands a copy of a tensor to one of those who use it, and to nobody else: IREE makes one of equal copies.

        It is computed alone, so that its memory is its own, and before an op that is around the use, or else before
        whatever comes behind the tensor: of the barrier that keeps it alone IREE does not know that it reads the
        tensor, which may be updated in place.
        """
        x, unknown = use.operation.operands[use.index], self._unknown
        place = self._behind(x, use.operation) if before is None else Beside(before)
        bits = signless(place, x)
        if DYNAMIC_INDEX not in shape_of(x):
            bits = unknown_to_iree(place, bits)
        copy = _chosen(place, unknown_to_iree(place, unknown), bits)
        use.operation.operands[use.index] = typed_like(place, copy, x)

    def _behind(self, x: SSAValue, reader: Operation) -> Beside:
        """Where a value has just been computed, or handed to the region that an op reads it in."""
        block = reader.parent
        assert block is not None
        if isinstance(x.owner, Operation) and x.owner.parent is block:
            return Beside(x.owner, behind=True)
        if (first := self._unknown.owner).parent is block:
            return Beside(first, behind=True)
        assert block.first_op is not None
        return Beside(block.first_op)


def _chosen(behind: Beside, unknown: SSAValue, x: SSAValue) -> SSAValue:
    """Of a tensor and its opposite the tensor, by a loop nest of Linalg, which reads the condition from memory."""
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
