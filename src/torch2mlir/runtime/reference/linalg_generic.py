"""The ``linalg`` ops that carry their body: generic, map, reduce, and the index of a loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, StringAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from torch2mlir.errors import EngineError
from torch2mlir.runtime.reference.contraction import contract
from torch2mlir.runtime.reference.interpreter import (
    ReferenceInterpreter,
    attribute,
    implements,
    integers,
    op_name,
)
from torch2mlir.runtime.reference.loops import Nest, run_nest
from torch2mlir.runtime.reference.values import Array

PRODUCTS = {"arith.addf": "arith.mulf", "arith.addi": "arith.muli", "complex.add": "complex.mul"}
"""A sum and the product that makes a contraction with it."""
CASTS = frozenset(
    {"arith.extf", "arith.extsi", "arith.extui", "arith.sitofp", "arith.uitofp", "arith.truncf"}
)


def split_operands(op: Operation, arguments: Sequence[Array]) -> tuple[list[Array], list[Array]]:
    """The inputs and the outputs: on tensors every output has a result."""
    cut = len(arguments) - len(op.results)
    return list(arguments[:cut]), list(arguments[cut:])


def indexing_maps(op: Operation) -> list[AffineMap]:
    """The indexing maps an op carries; empty when it has none."""
    maps = attribute(op, "indexing_maps")
    return [m.data for m in cast("ArrayAttr[AffineMapAttr]", maps)] if maps else []


def _reduces(iterator: Attribute) -> bool:
    name = iterator.data if isinstance(iterator, StringAttr) else str(iterator)
    if "window" in name:
        raise EngineError("window iterators have no meaning of their own to run")
    return "reduction" in name


@implements("linalg.generic")
def generic(
    interpreter: ReferenceInterpreter, op: Operation, *arguments: Array
) -> tuple[Array, ...]:
    """A loop nest given by indexing maps, kinds of loops and a body."""
    inputs, outputs = split_operands(op, arguments)
    maps = indexing_maps(op)
    cut = len(inputs)
    block = op.regions[0].block
    iterators = cast("ArrayAttr[Attribute]", attribute(op, "iterator_types"))
    reduction = [_reduces(iterator) for iterator in iterators]
    if any(reduction) and len(outputs) == 1 and (factors := _factors(block, len(inputs))):
        (left, left_map), (right, right_map) = (
            (_cast(interpreter, factor, inputs), maps[_argument(factor).index])
            for factor in factors
        )
        if reduction == [d not in maps[-1].used_dims() for d in range(len(reduction))]:
            type_ = op.results[0].type
            return (contract(left, left_map, right, right_map, outputs[0], maps[-1], type_),)
    return run_nest(
        interpreter, Nest(op, block, inputs, maps[:cut], outputs, maps[cut:], reduction)
    )


def _factors(block: Block, inputs: int) -> tuple[SSAValue, SSAValue] | None:
    """The two factors, inputs or casts of inputs, when a body adds their product to its output."""
    last = cast(Operation, block.last_op)
    total = last.operands[0].owner
    if not isinstance(total, Operation) or op_name(total) not in PRODUCTS:
        return None
    output = block.args[inputs]
    if output not in total.operands or not output.has_one_use():
        return None
    product = total.operands[1 if total.operands[0] is output else 0].owner
    if not isinstance(product, Operation) or op_name(product) != PRODUCTS[op_name(total)]:
        return None
    factors = product.operands[0], product.operands[1]
    return factors if all(_is_input(factor, block, inputs) for factor in factors) else None


def _is_input(value: SSAValue, block: Block, inputs: int) -> bool:
    if isinstance(value.owner, Operation):
        if op_name(value.owner) not in CASTS:
            return False
        value = value.owner.operands[0]
    return value.owner is block and cast(BlockArgument, value).index < inputs


def _argument(factor: SSAValue) -> BlockArgument:
    owner = factor.owner
    return cast(BlockArgument, owner.operands[0] if isinstance(owner, Operation) else factor)


def _cast(interpreter: ReferenceInterpreter, factor: SSAValue, inputs: Sequence[Array]) -> Array:
    array = inputs[_argument(factor).index]
    if isinstance(factor.owner, Operation):
        return interpreter.run_op(factor.owner, (array,))[0]
    return array


@implements("linalg.index")
def index(interpreter: ReferenceInterpreter, op: Operation) -> Array:
    """The index of a loop of the nest being run, along that loop's axis."""
    return interpreter.iteration[-1][integers(op, "dim")[0]]


@implements("linalg.map")
def elementwise_map(
    interpreter: ReferenceInterpreter, op: Operation, *arguments: Array
) -> tuple[Array, ...]:
    """A body applied to corresponding elements."""
    inputs, outputs = split_operands(op, arguments)
    rank = outputs[0].ndim
    same = [AffineMap.identity(rank)]
    nest = Nest(
        op,
        op.regions[0].block,
        inputs,
        same * len(inputs),
        outputs,
        same * len(outputs),
        [False] * rank,
    )
    return run_nest(interpreter, nest)


@implements("linalg.reduce")
def reduce(
    interpreter: ReferenceInterpreter, op: Operation, *arguments: Array
) -> tuple[Array, ...]:
    """A body that combines the elements along some dimensions into the outputs."""
    inputs, outputs = split_operands(op, arguments)
    rank = inputs[0].ndim
    reduced = integers(op, "dimensions")
    kept = [d for d in range(rank) if d not in reduced]
    to_output = AffineMap(rank, 0, tuple(AffineExpr.dimension(d) for d in kept))
    nest = Nest(
        op,
        op.regions[0].block,
        inputs,
        [AffineMap.identity(rank)] * len(inputs),
        outputs,
        [to_output] * len(outputs),
        [d in reduced for d in range(rank)],
    )
    return run_nest(interpreter, nest)


@implements("linalg.transpose")
def transpose(_: ReferenceInterpreter, op: Operation, source: Array, init: Array) -> Array:
    """Dimension ``i`` of the result is dimension ``permutation[i]`` of the source."""
    return source.transpose(integers(op, "permutation"))


@implements("linalg.broadcast")
def broadcast(_: ReferenceInterpreter, op: Operation, source: Array, init: Array) -> Array:
    """The source repeated along the dimensions that are added."""
    return np.broadcast_to(np.expand_dims(source, tuple(integers(op, "dimensions"))), init.shape)
