"""Copies of the arguments that a program computes into, for an engine that takes any destination for its own memory.

A destination that an op reads (what a linalg op accumulates into, what a slice is inserted into, what is sorted) may
be updated where it lies. What shares memory with an argument is followed: views, broadcasts of size 1, loops.

IREE 3.13 writes into the caller's memory then. A copy that is made for the call is not enough: where the argument is a
result as well, if only because what is computed from it is the argument again (``v.sort().values, v.amin(0)`` of one
line), the result is what was written. Of a tensor that the program itself has computed IREE makes the copies it needs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product, zip_longest
from math import prod

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
from xdsl.ir import Block, Operation, SSAValue

from torch2mlir.dialects import arith_ext, linalg, stablehlo
from torch2mlir.dialects.iree_barriers import OptimizationBarrierOp
from torch2mlir.dialects.linalg.structured import dims_map, iterator_types
from torch2mlir.dialects.tensors import element_of, shape_of
from torch2mlir.dialects.weights import dense_elements
from torch2mlir.engine_passes.beside import INDEX, Beside
from torch2mlir.engine_passes.views import RESHAPES, SLICES

_VIEWS = (
    RESHAPES
    | SLICES
    | {
        "stablehlo.bitcast_convert",
        "stablehlo.broadcast_in_dim",
        "stablehlo.dynamic_broadcast_in_dim",
        "stablehlo.optimization_barrier",
        "tensor.bitcast",
        "tosa.identity",
        "iree_tensor_ext.compute_barrier.start",
        "tosa.tile",
        "util.optimization_barrier",
    }
)
"""Ops whose result may be their first operand's memory, some only where sizes allow it."""

_OVERWRITING = frozenset({"linalg.broadcast", "linalg.fill", "linalg.transpose"})
"""Linalg ops that do not read what they compute into."""

_OF_ELEMENTS = frozenset({"chlo", "linalg", "stablehlo", "tensor", "tosa"})
"""Dialects whose ops are sometimes one of their operands: of one element the sum, the only one that is gathered."""
_FRESH = frozenset({"const", "constant", "empty", "fill", "iota", "yield", "return"})
"""Their ops that never are."""

_CONTROL_FLOW = frozenset({"scf", "stablehlo.case", "stablehlo.if", "stablehlo.while"}) | frozenset(
    {"tosa.cond_if", "tosa.while_loop"}
)
"""Dialects and ops whose regions hand tensors on."""


def own_written_arguments(function: FuncOp) -> None:
    """Copies the arguments that the function may compute into, at its beginning; it reads and writes the copies."""
    written = written_arguments(function)
    if not written:
        return
    block = function.body.block
    first = block.first_op
    assert first is not None
    is_stablehlo = any(op.name.startswith("stablehlo.") for op in function.body.walk())
    before = Beside(first)
    yes = before.constant(dense_elements(TensorType(i1, []), [True]))
    unknown = before.value(OptimizationBarrierOp, [yes], yes.type)
    for place in sorted(written):
        arg = block.args[place]
        uses = [*arg.uses]
        copy = (_chosen_in_stablehlo if is_stablehlo else _chosen)(before, unknown, arg)
        for use in uses:
            use.operation.operands[use.index] = copy


def _chosen_in_stablehlo(before: Beside, unknown: SSAValue, x: SSAValue) -> SSAValue:
    """What is chosen between a tensor and other numbers is the tensor, but IREE does not know it."""
    has_sign = isinstance(element_of(x), AnyFloat | ComplexType)
    other = before.value(stablehlo.NegOp if has_sign else stablehlo.NotOp, [x], x.type)
    return before.value(stablehlo.SelectOp, [unknown, x, other], x.type)


def _chosen(before: Beside, unknown: SSAValue, x: SSAValue) -> SSAValue:
    """The same by a loop nest of Linalg."""
    shape, element = shape_of(x), element_of(x)
    sizes = [
        before.value(tensor.DimOp, [x, before.index(axis)], INDEX)
        for axis, size in enumerate(shape)
        if size == DYNAMIC_INDEX
    ]
    empty = before.value(tensor.EmptyOp, sizes, x.type)
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
        other = inside.constant(IntegerAttr(0, element))
    end.operands[0] = inside.value(arith.SelectOp, [condition, value, other], element)
    rank = len(shape)
    every = dims_map(rank, tuple(range(rank)))
    maps = ArrayAttr([dims_map(rank, ()), every, every])
    nest = linalg.GenericOp.of([unknown, x], [empty], block, maps, iterator_types(parallel=rank))
    return before.insert(nest).results[0]


def written_arguments(function: FuncOp) -> frozenset[int]:
    """The positions of the arguments that the function may compute into."""
    ops = list(function.body.walk())
    written = [value for op in ops for value in _destinations(op)]
    if not written:
        return frozenset()
    sources = defaultdict[SSAValue, list[SSAValue]](list)
    for op in ops:
        for value, source in _shared(op):
            sources[value].append(source)
    reached, waiting = set(written), list(written)
    while waiting:
        found = [source for source in sources[waiting.pop()] if source not in reached]
        reached.update(found)
        waiting += found
    return frozenset(arg.index for arg in function.body.block.args if arg in reached)


def _shared(op: Operation) -> Iterator[tuple[SSAValue, SSAValue]]:
    """Values because of the op, with others whose memory theirs may be."""
    dialect, _, name = op.name.partition(".")
    if op.name in _VIEWS:
        yield op.results[0], op.operands[0]
    elif dialect in _OF_ELEMENTS and name not in _FRESH:
        for result, value in product(op.results, _read(op)):
            if _may_be_the_same(value, result):
                yield result, value
    if op.name in _CONTROL_FLOW or dialect in _CONTROL_FLOW:
        blocks = [block for region in op.regions for block in region.blocks]
        ends = [block.last_op.operands for block in blocks if block.last_op is not None]
        for given in [op.operands, *ends]:
            yield from _matched(op.results, given)
            for block in blocks:
                yield from _matched(block.args, given)
        for first, second in zip(blocks, blocks[1:]):
            yield from _matched(second.args, first.args)


def _may_be_the_same(value: SSAValue, result: SSAValue) -> bool:
    """Whether a result may be an operand as it is, if only in another order of dimensions of size 1."""
    one, other = value.type, result.type
    if not isinstance(one, TensorType) or not isinstance(other, TensorType):
        return False
    if one.element_type != other.element_type or isinstance(value.owner, tensor.EmptyOp):
        return False
    shapes = one.get_shape(), other.get_shape()
    is_dynamic = any(DYNAMIC_INDEX in shape for shape in shapes)
    return is_dynamic or prod(shapes[0]) == prod(shapes[1])


def _matched(
    one: Sequence[SSAValue], other: Sequence[SSAValue]
) -> Iterator[tuple[SSAValue, SSAValue]]:
    """Values at the same places, counted from the end: conditions and bounds come first."""
    for first, second in zip(reversed(one), reversed(other)):
        if first.type == second.type:
            yield first, second


def _read(op: Operation) -> Iterator[SSAValue]:
    """The tensors whose elements an op may hand on as they are.

    A loop nest that yields them does, and compilers see more: that 0 is added, that a condition always holds, that the
    only element is gathered.
    """
    yield from op.operands
    for region in op.regions:
        for each in region.walk():
            if each.name == "tensor.extract":
                yield each.operands[0]


def _destinations(op: Operation) -> Sequence[SSAValue]:
    """The operands that an op reads and may compute into."""
    match op.name:
        case "tensor.insert_slice" | "tensor.insert" | "tensor.scatter":
            return op.operands[1:2]
        case "iree_linalg_ext.scatter":
            return op.operands[2:]
        case "iree_linalg_ext.scan":
            return op.operands[1:]
        case "stablehlo.dynamic_update_slice" | "tosa.scatter":
            return op.operands[:1]
        case "stablehlo.sort":
            return op.operands
        case "stablehlo.scatter":
            return op.operands[: len(op.results)]
    if not op.name.startswith("linalg.") or not op.results or op.name in _OVERWRITING:
        return ()
    outputs = op.operands[-len(op.results) :]
    if op.name != "linalg.generic":
        return outputs
    elements = op.regions[0].block.args[-len(outputs) :]
    return [o for o, e in zip_longest(outputs, elements) if e is None or e.first_use is not None]
