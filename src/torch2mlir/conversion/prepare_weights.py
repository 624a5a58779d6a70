"""``prepare-weights``: what a function computes from its weights alone becomes a function of its own.

``@main(args, weights)`` of StableHLO, TOSA or Linalg-on-Tensors becomes ``@main_prepare(weights) -> prepared`` and
``@main(args, prepared)``: the first runs once for each state of the weights, the second at every call. The runtime does
so in ``torch2mlir.compile``; an exported program stays whole, for the toolchains that read it fold by themselves.

What is prepared costs memory for as long as the program lives, so a value is prepared only

- if it takes no more bytes than the weights it is computed from and ``small`` more: a mask, a table of positions or a
  weight filled up to whole tiles yes, a large weight that is dequantized or a broadcast no;
- if the op behind it does work: constants, iotas, broadcasts, slices and reshapes cost nothing where they are used.

Where a value is not prepared, what it is computed from is looked at in its stead. Only ops of the function's own block
move, with the regions they have; control flow (``scf``) and assertions stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ComplexType, FixedBitwidthType, FunctionType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from torch2mlir.conversion.driver import drop_unused
from torch2mlir.dialects.tensors import shape_of
from torch2mlir.errors import PassError

SMALL = 1 << 20
"""Bytes a prepared value may take beyond the weights it is computed from."""

VALUE_DIALECTS = frozenset(
    {"arith", "chlo", "complex", "linalg", "math", "stablehlo", "tensor", "tosa"}
)
"""Dialects whose ops compute values and do nothing else, but for those of ``STATEFUL``."""

STATEFUL = frozenset({"stablehlo.custom_call", "stablehlo.rng"})

FREE = frozenset(
    {
        "linalg.broadcast",
        "linalg.fill",
        "stablehlo.broadcast_in_dim",
        "stablehlo.dynamic_broadcast_in_dim",
        "stablehlo.dynamic_reshape",
        "stablehlo.reshape",
        "stablehlo.slice",
        "tensor.cast",
        "tensor.collapse_shape",
        "tensor.empty",
        "tensor.expand_shape",
        "tensor.extract_slice",
        "tensor.generate",
        "tensor.reshape",
        "tensor.splat",
        "tosa.reshape",
        "tosa.slice",
        "tosa.tile",
    }
)
"""Ops that an engine does where their result is used: preparing it would only cost memory."""


@dataclass(frozen=True)
class Prepared:
    """What became of a function's arguments.

    The function now takes the arguments ``kept`` and then the results of ``prepare``, which takes ``weights``; both
    list positions in the function as it was.
    """

    prepare: FuncOp
    weights: list[int]
    kept: list[int]


def prepare_weights(
    function: FuncOp, weights: Iterable[int], small: int = SMALL
) -> Prepared | None:
    """Moves out of a function what it computes from weights and constants; in place.

    Args:
        function: of one block, in a target dialect.
        weights: positions of the arguments that stay the same over many calls.
        small: bytes a prepared value may take beyond those weights.

    Returns:
        The new function, which is not in a module yet, or None if there is nothing to prepare.
    """
    block = function.body.block
    arguments = list(block.args)
    positions = sorted(set(weights))
    if positions and not 0 <= positions[0] <= positions[-1] < len(arguments):
        raise PassError(
            f"@{function.sym_name.data} has no argument {positions[-1]}",
            hint=f"arguments are counted from 0 to {len(arguments) - 1}",
        )
    if not positions and not _computes_from_constants(block):
        return None
    cone = _Cone(block, [arguments[position] for position in positions], small)
    if not cone.prepared:
        return None
    prepare = cone.function(f"{function.sym_name.data}_prepare")
    for value in cone.prepared:
        argument = block.insert_arg(value.type, len(block.args))
        argument.name_hint = value.name_hint
        value.replace_all_uses_with(argument)
    drop_unused(block)
    dropped = {p for p in positions if arguments[p].first_use is None}
    for position in sorted(dropped, reverse=True):
        block.erase_arg(arguments[position])
    function.properties["function_type"] = FunctionType.from_lists(
        [arg.type for arg in block.args], list(function.function_type.outputs)
    )
    function.properties.pop("arg_attrs", None)
    taken = [p for p, a in zip(positions, cone.weights, strict=True) if a in cone.read]
    return Prepared(prepare, taken, [p for p in range(len(arguments)) if p not in dropped])


def _computes_from_constants(block: Block) -> bool:
    """Whether an op that does work takes nothing but constants."""
    known = set[SSAValue]()
    for op in block.ops:
        if known.issuperset(op.operands):
            if op.operands and op.results and op.name not in FREE:
                return True
            known.update(op.results)
    return False


class _Cone:
    """The values of a block that are functions of weights and constants, and those of them worth preparing.

    Attributes:
        prepared: in the order they are computed.
        read: the weights these are computed from.
    """

    def __init__(self, block: Block, weights: Sequence[SSAValue], small: int) -> None:
        self.weights = weights
        self.small = small
        self.sources: dict[SSAValue, frozenset[SSAValue]] = {w: frozenset((w,)) for w in weights}
        wanted = self._grow(block)
        chosen = self._choose(wanted)
        self.prepared = [r for op in block.ops for r in op.results if r in chosen]
        self.read = frozenset[SSAValue]().union(*(self.sources[value] for value in self.prepared))
        self._block = block

    def _grow(self, block: Block) -> list[SSAValue]:
        """Finds the values of the cone; those that are used outside of it."""
        wanted = list[SSAValue]()
        for op in block.ops:
            operands = _used_by(op)
            sources = [self.sources.get(operand) for operand in operands]
            known = [source for source in sources if source is not None]
            if op.results and len(known) == len(sources) and _computes_values(op):
                merged = _union(known)
                self.sources.update((result, merged) for result in op.results)
            else:
                wanted += [operand for operand in operands if operand in self.sources]
        return wanted

    def _choose(self, wanted: list[SSAValue]) -> set[SSAValue]:
        """The values to prepare; for a value that is not worth it, what it is computed from is looked at."""
        chosen, seen = set[SSAValue](), set[SSAValue]()
        while wanted:
            value = wanted.pop()
            if value in seen:
                continue
            seen.add(value)
            if not isinstance(op := value.owner, Operation):
                continue
            if self._is_worth_it(op, value):
                chosen.add(value)
            else:
                wanted += _used_by(op)
        return chosen

    def _is_worth_it(self, op: Operation, value: SSAValue) -> bool:
        size = _bytes(value.type)
        if size is None or op.name in FREE or not op.operands:
            return False
        sources = self.sources[value]
        if not sources and prod(shape_of(value)) == 1:
            return False  # the engine folds a number, and knows it then
        return size <= self.small + sum(_bytes(source.type) or 0 for source in sources)

    def function(self, name: str) -> FuncOp:
        """The function that computes the prepared values."""
        needed, pending = set[Operation](), list[SSAValue](self.prepared)
        while pending:
            op = pending.pop().owner
            if isinstance(op, Operation) and op not in needed:
                needed.add(op)
                pending += _used_by(op)
        inputs = [weight for weight in self.weights if weight in self.read]
        body = Block(arg_types=[weight.type for weight in inputs])
        copies: dict[SSAValue, SSAValue] = dict(zip(inputs, body.args, strict=True))
        for weight, argument in zip(inputs, body.args, strict=True):
            argument.name_hint = weight.name_hint
        body.add_ops(op.clone(copies) for op in self._block.ops if op in needed)
        results = [copies[value] for value in self.prepared]
        body.add_op(ReturnOp(*results))
        types = FunctionType.from_lists([a.type for a in body.args], [r.type for r in results])
        return FuncOp(name, types, Region(body))


def _union(sets: Sequence[frozenset[SSAValue]]) -> frozenset[SSAValue]:
    """Of few weights mostly, and mostly the same ones."""
    distinct = set(sets)
    return distinct.pop() if len(distinct) == 1 else frozenset[SSAValue]().union(*distinct)


def _computes_values(op: Operation) -> bool:
    return all(
        inner.name.partition(".")[0] in VALUE_DIALECTS and inner.name not in STATEFUL
        for inner in op.walk()
    )


def _used_by(op: Operation) -> list[SSAValue]:
    """The values an op takes: its operands, and what its regions use of the block around them."""
    if not op.regions:
        return list(op.operands)
    return [
        operand
        for inner in op.walk()
        for operand in inner.operands
        if inner is op or not op.is_ancestor(operand.owner)
    ]


def _bytes(type: Attribute) -> int | None:
    """Size of a tensor in memory; None for what is no tensor of known size."""
    if not isinstance(type, TensorType) or not type.has_static_shape():
        return None
    element, parts = type.element_type, 1
    if isinstance(element, ComplexType):
        element, parts = element.element_type, 2
    if not isinstance(element, FixedBitwidthType):
        return None
    return prod(type.get_shape()) * parts * max(element.bitwidth // 8, 1)


@dataclass(frozen=True)
class PrepareWeightsPass(ModulePass):
    """See the module's docstring.

    Args:
        arguments: positions of the arguments that are weights; without them only constants are.
        small: bytes a prepared value may take beyond those weights.
        function: the function to split, the first public one by default.
    """

    name = "prepare-weights"

    arguments: tuple[int, ...] = ()
    small: int = SMALL
    function: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        prepared = prepare_weights(self._entry(op), self.arguments, self.small)
        if prepared is not None:
            op.body.block.add_op(prepared.prepare)

    def _entry(self, module: ModuleOp) -> FuncOp:
        for op in module.body.block.ops:
            if isinstance(op, FuncOp) and op.sym_name.data == (self.function or op.sym_name.data):
                return op
        raise PassError(
            f"there is no function @{self.function}" if self.function else "there is no function",
            hint="prepare-weights splits a func.func of the module",
        )
