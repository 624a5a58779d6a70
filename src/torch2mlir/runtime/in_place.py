"""Which arguments a program computes into, as an engine may that takes destinations for memory it can write to.

A destination that an op reads (what a linalg op accumulates into, what a slice is inserted into, what is sorted) may
be updated where it lies. What shares memory with an argument is followed: views, broadcasts of size 1, loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

VIEWS = frozenset(
    {
        "linalg.broadcast",
        "stablehlo.bitcast_convert",
        "stablehlo.broadcast_in_dim",
        "stablehlo.dynamic_broadcast_in_dim",
        "stablehlo.dynamic_reshape",
        "stablehlo.optimization_barrier",
        "stablehlo.reshape",
        "stablehlo.slice",
        "tensor.bitcast",
        "tensor.cast",
        "tensor.collapse_shape",
        "tensor.expand_shape",
        "tensor.extract_slice",
        "tensor.reshape",
        "tosa.identity",
        "tosa.reshape",
        "tosa.slice",
        "iree_tensor_ext.compute_barrier.start",
        "tosa.tile",
        "util.optimization_barrier",
    }
)
"""Ops whose result may be their first operand's memory, some only where sizes allow it."""

OVERWRITING = frozenset({"linalg.broadcast", "linalg.fill", "linalg.transpose"})
"""Linalg ops that do not read what they compute into."""

_FOLDABLE = frozenset(
    f"{dialect}.{name}"
    for dialect, names in {
        "tosa": "add bitwise_and bitwise_or clamp gather maximum minimum mul select sub",
        "stablehlo": "add and clamp divide gather maximum minimum multiply or select subtract",
    }.items()
    for name in names.split()
)
"""Ops that are sometimes one of their operands."""

CONTROL_FLOW = frozenset({"scf", "stablehlo.case", "stablehlo.if", "stablehlo.while"}) | frozenset(
    {"tosa.cond_if", "tosa.while_loop"}
)
"""Dialects and ops whose regions hand tensors on."""


def written_arguments(function: FuncOp) -> frozenset[int]:
    """The positions of the arguments that the function may compute into."""
    ops, block = list(function.body.walk()), function.body.block
    written = [value for op in ops for value in _destinations(op)]
    types = {value.type for value in written}
    if types.isdisjoint(block.arg_types) and not any(map(_retypes, ops)):
        return frozenset()
    memory = _Memory()
    for op in ops:
        for one, other in _shared(op):
            memory.join(one, other)
    places = {memory.of(value) for value in written}
    return frozenset(arg.index for arg in block.args if memory.of(arg) in places)


def _retypes(op: Operation) -> bool:
    """Whether values of two types may share memory because of the op."""
    return op.name in VIEWS or (bool(op.regions) and not op.name.startswith("linalg."))


class _Memory:
    """Values that may share memory, as disjoint sets."""

    def __init__(self) -> None:
        self._parents = dict[SSAValue, SSAValue]()

    def of(self, value: SSAValue) -> SSAValue:
        """What stands for all values that may share memory with this one."""
        while (parent := self._parents.get(value)) is not None:
            value = parent
        return value

    def join(self, one: SSAValue, other: SSAValue) -> None:
        """These two may share memory."""
        one, other = self.of(one), self.of(other)
        if one is not other:
            self._parents[one] = other


def _shared(op: Operation) -> Iterator[tuple[SSAValue, SSAValue]]:
    """Pairs of values that may share memory because of the op."""
    if op.name in VIEWS:
        yield op.results[0], op.operands[0]
    if op.name == "linalg.generic" or op.name in _FOLDABLE:
        for value in _read(op):
            if len(op.results) == 1 and value.type == op.results[0].type:
                yield op.results[0], value
    if op.name in CONTROL_FLOW or op.name.partition(".")[0] in CONTROL_FLOW:
        for region in op.regions:
            for block in region.blocks:
                yield from _matched(op.operands, block.args)
                if block.last_op is not None:
                    yield from _matched(block.last_op.operands, op.results)
                    yield from _matched(block.last_op.operands, block.args)
        for first, second in zip(op.regions, op.regions[1:]):
            yield from _matched(_arguments(first.blocks), _arguments(second.blocks))
        yield from _matched(op.operands, op.results)


def _arguments(blocks: Sequence[Block]) -> Sequence[SSAValue]:
    return blocks[0].args if blocks else ()


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
    if not op.name.startswith("linalg.") or not op.results or op.name in OVERWRITING:
        return ()
    outputs = op.operands[-len(op.results) :]
    if op.name != "linalg.generic":
        return outputs
    elements = op.regions[0].block.args[-len(outputs) :]
    return [o for o, e in zip_longest(outputs, elements) if e is None or e.first_use is not None]
