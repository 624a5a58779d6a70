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

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from torch2mlir.dialects import linalg
from torch2mlir.engine_passes.copies import Copies
from torch2mlir.engine_passes.op_kinds import (
    BROADCASTS,
    CONTROL_FLOW,
    LITERALS,
    NUMBERS,
    PLACES,
    RESHAPES,
    SLICES,
)

VIEWS = (RESHAPES | SLICES | BROADCASTS) | {
    *("iree_tensor_ext.compute_barrier.start", "stablehlo.bitcast_convert"),
    *("stablehlo.optimization_barrier", "tosa.identity", "util.optimization_barrier"),
}
"""Ops whose result may be their first operand's memory, some only where sizes allow it."""

_OVERWRITING = frozenset({"linalg.broadcast", "linalg.fill", "linalg.transpose"})
"""Linalg ops that do not read what they compute into."""

_OF_ELEMENTS = frozenset({"chlo", "linalg", "stablehlo", "tensor", "tosa"})
"""Dialects whose ops are sometimes one of their operands: of one element the sum, the only one that is gathered."""
_FRESH = LITERALS | NUMBERS | PLACES
"""Their ops that never are."""


def viewed(value: SSAValue) -> SSAValue:
    """What a value is, or is a view of."""
    while isinstance(op := value.owner, Operation) and op.name in VIEWS:
        value = op.operands[0]
    return value


def own_written_arguments(function: FuncOp) -> None:
    """Copies the arguments that the function may compute into, at its beginning; it reads and writes the copies."""
    written = written_values(function)
    copies = Copies(function)
    for arg in function.body.block.args:
        if arg in written:
            copies.replace(arg)


def written_values(function: FuncOp, of_linalg: bool = True) -> set[SSAValue]:
    """The values in whose memory the function may compute; what ops of Linalg accumulate into, if asked for."""
    ops = list(function.body.walk())
    writing = (op for op in ops if of_linalg or not op.name.startswith("linalg."))
    written = {value for op in writing for value in destinations(op)}
    if not written:
        return written
    sources = defaultdict[SSAValue, list[SSAValue]](list)
    for op in ops:
        for value, source in _shared(op):
            sources[value].append(source)
    waiting = list(written)
    while waiting:
        found = [source for source in sources[waiting.pop()] if source not in written]
        written.update(found)
        waiting += found
    return written


def _shared(op: Operation) -> Iterator[tuple[SSAValue, SSAValue]]:
    """Values because of the op, with others whose memory theirs may be."""
    if op.name in VIEWS:
        yield op.results[0], op.operands[0]
    elif op.name.partition(".")[0] in _OF_ELEMENTS and op.name not in _FRESH:
        for result, value in product(op.results, _read(op)):
            if _may_be_the_same(value, result):
                yield result, value
    if op.name in CONTROL_FLOW:
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


def destinations(op: Operation) -> Sequence[SSAValue]:
    """The operands that an op reads and may compute into."""
    return [op.operands[place] for place in destination_places(op)]


def updates_in_place(op: Operation) -> bool:
    """Whether an op may compute into a tensor with elements."""
    fresh = (linalg.FillOp, tensor.EmptyOp)
    return any(not isinstance(each.owner, fresh) for each in destinations(op))


def destination_places(op: Operation) -> Sequence[int]:
    """Where among its operands those are that an op reads and may compute into."""
    every = range(len(op.operands))
    match op.name:
        case "tensor.insert_slice" | "tensor.insert" | "tensor.scatter":
            return every[1:2]
        case "iree_linalg_ext.scatter":
            return every[2:]
        case "iree_linalg_ext.scan":
            return every[1:]
        case "stablehlo.dynamic_update_slice" | "tosa.scatter":
            return every[:1]
        case "stablehlo.sort":
            return every
        case "stablehlo.scatter":
            return every[: len(op.results)]
    if not op.name.startswith("linalg.") or not op.results or op.name in _OVERWRITING:
        return ()
    outputs = every[-len(op.results) :]
    if op.name != "linalg.generic":
        return outputs
    elements = op.regions[0].block.args[-len(outputs) :]
    return [o for o, e in zip_longest(outputs, elements) if e is None or e.first_use is not None]
