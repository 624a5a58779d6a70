"""What ops need of sizes that vary, for their results to be of the types that a program gives them.

PyTorch finds it out while it runs an op: a place is inside of a tensor, a slice is as long as what is written to it, a
size is not 1 and is not squeezed away. It traces a program at example sizes, for which that is so, and for others
the same program would go on with what is not there. So each is asked again in every call, as Python writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim, KnownSize
from torch2mlir.dialects.torch.symbols import INT64_MAX
from torch2mlir.dialects.torch.values import Values
from torch2mlir.errors import BackendContractError
from torch2mlir.frontends.fx.decisions import note
from torch2mlir.frontends.fx.questions import Asked
from torch2mlir.program import Decision
from torch2mlir.transforms.semantics.assertions import assert_before
from torch2mlir.transforms.semantics.facts import Facts
from torch2mlir.transforms.typing.type_lattice import is_known_tensor

Types = Sequence[Attribute | None]
Question = tuple[str, Sequence[KnownSize | None]]
"""It as Python writes it, and what it is about."""


@dataclass(frozen=True)
class Needs:
    """What the ops of a program need, asked in every call, or by the program itself where elements decide a size.

    Attributes:
        given: the symbols of the arguments.
        values: reads operands.
        facts: what the program asserts already.
    """

    given: Collection[str]
    values: Values
    facts: Facts = field(default_factory=Facts)

    def note(self, op: Operation, types: Types) -> None:
        """Asks what an op needs for its results to be of some types.

        Args:
            op: an op that is typed, or replaced by others that do not tell any more.
            types: of its results, of lists those of the members.

        Raises:
            BackendContractError: it does not have it, whatever the call, or the program cannot ask.
        """
        for decision in needs_of(op, self.values, types):
            if decision.symbols:
                self._ask(op, decision)
            elif isinstance(op.parent_op(), FuncOp) and not decision.holds({}):
                raise BackendContractError(
                    f"this op cannot run: {decision.asked} does not hold",
                    op=op.name,
                    location=decision.location or None,
                    hint="PyTorch refuses it too; check its arguments",
                )

    def note_questions(
        self, op: Operation, questions: Sequence[Any], names: Mapping[sympy.Symbol, str]
    ) -> None:
        """Asks what PyTorch asked, at examples, of the sizes of an op's operands.

        Args:
            op: the op, before it is replaced.
            questions: relations of sympy, which hold.
            names: of its symbols in the program.

        Raises:
            BackendContractError: the program cannot ask.
        """
        for question in questions:
            asked = Asked(question, True, "")
            if not asked.is_about_nothing:
                place = describe(op.location)
                self._ask(op, asked.decision_of_op(names, place, matters=True))

    def _ask(self, op: Operation, decision: Decision) -> None:
        if set(decision.symbols) <= set(self.given):
            note(decision)
        elif not self.facts.imply(decision) and not assert_before(op, decision, self.values):
            raise BackendContractError(
                f"what this op does depends on sizes that elements decide ({decision.asked})",
                hint="bound them with torch._check",
            )


def needs_of(op: Operation, values: Values, types: Types) -> Iterator[Decision]:
    """What an op needs of sizes that vary."""
    rule = _RULES.get(op.name)
    if rule is None:
        return
    first, *others = op.operands
    sizes = first.type.sizes if is_known_tensor(first.type) else None  # type: ignore[attr-defined]
    if sizes is None and isinstance(first.type, t.AnyTensorType):
        return
    own = () if sizes is not None else (values.of(first),)
    arguments = [*own, *map(values.of, others)]
    for asked, parts in rule(sizes or (), arguments, types):
        names = {name for part in parts if isinstance(part, Dim) for name in part.symbols()}
        yield Decision(asked, True, tuple(sorted(names)), describe(op.location) or "", True)


def needs_of_a_result(op: Operation, values: Values, types: Types) -> list[Decision]:
    """As :func:`needs_of`, for an op of one result: how many it has is nothing that examples may decide."""
    return list(needs_of(op, values, types)) if len(types) == 1 and not _has_list(op) else []


def _has_list(op: Operation) -> bool:
    return any(isinstance(result.type, t.ListType) for result in op.results)


def needs_of_operands(op: Operation, values: Values) -> list[Decision]:
    """What an op needs, whatever its results are."""
    return list(needs_of(op, values, ())) if op.name in _OF_OPERANDS else []


def needs_as_captured(function: FuncOp, given: Collection[str]) -> list[Decision]:
    """What the ops of a captured program need of the symbols of its arguments, those that nobody reads included.

    Of ``x.unfold(0, 2, 2).shape`` the program has the expression of the size, and the op is removed.
    """
    values = Values()
    return [
        decision
        for op in function.body.block.ops
        if op.name in _RULES and not _has_list(op)
        for decision in needs_of(op, values, op.result_types)
        if decision.symbols and set(decision.symbols) <= set(given)
    ]


def needs_at_contract(function: Operation) -> list[Decision]:
    """What the ops of a function at the contract need, of those that somebody reads."""
    values = Values()
    return list(
        dict.fromkeys(
            decision
            for op in function.walk()
            if op.name in _AT_CONTRACT and op.results[0].first_use is not None
            for decision in needs_of(op, values, op.result_types)
            if decision.symbols
        )
    )


Sizes = Sequence[KnownSize]
Rule = Callable[[Sizes, Sequence[Any], Types], Iterator[Question]]


def _length(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """``x[start:end:step]`` is as long as its type says."""
    dim, *positions = arguments
    (length,) = (_size_of(type, dim) for type in types[:1])
    if length is not None:
        yield from _slice(sizes, dim, positions, length)


def _written_length(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """``x[start:end:step]`` is as long as what is written to it."""
    source, dim, *positions = arguments
    length = _size_of(source.type, dim)
    if length is not None:
        yield from _slice(sizes, dim, positions, length)


def _slice(
    sizes: Sizes, dim: Any, positions: Sequence[Any], length: KnownSize
) -> Iterator[Question]:
    if isinstance(dim, int) and all(isinstance(each, int | Dim | None) for each in positions):
        size = sizes[dim]
        start, end, step = positions
        if not start and (end is None or end == INT64_MAX) and step == 1 and size == length:
            return
        shown = ":".join("" if each is None else f"{each}" for each in positions)
        yield f"len(range({size})[{shown}]) == {length}", [size, length, *positions]


def _place(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """``x[place]`` is inside of the tensor."""
    dim, place = arguments[-2:]
    if isinstance(dim, int) and isinstance(place, int | Dim):
        size = sizes[dim]
        yield f"-({size}) <= {place} < {size}", [size, place]


def _part(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """``narrow`` stays inside of the tensor."""
    dim, start, length = arguments
    if isinstance(dim, int) and isinstance(start, int | Dim) and isinstance(length, int | Dim):
        size = sizes[dim]
        first = f"({start} + {size} if {start} < 0 else {start})"
        yield f"0 <= {first} and 0 <= {length} <= {size} - {first}", [size, start, length]


def _squeezed(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """Sizes that are left are not 1, those that are gone are."""
    given = arguments[0] if arguments else list(range(len(sizes)))
    asked = given if isinstance(given, list) else [given]
    result: Any = types[0]
    if not is_known_tensor(result) or not all(isinstance(dim, int) for dim in asked):
        return
    varying = [size for size in {sizes[dim] for dim in asked} if isinstance(size, Dim)]
    ones = sum(sizes[dim] == 1 for dim in asked)
    is_left = len(result.sizes) == len(sizes) - ones
    if not is_left and len(asked) > 1:  # which of them is gone is not said
        return
    for size in varying:
        yield f"{size} {'!=' if is_left else '=='} 1", [size]


def _padding_of(spatial: int, mode: str) -> Rule:
    """What is taken for padding is there.

    Args:
        spatial: how many dimensions are padded.
        mode: of ``torch.nn.functional.pad``.
    """

    def rule(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
        yield from _padding(sizes, arguments[0], spatial, mode)

    return rule


def _padded(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """What ``pad`` of a mode takes for padding is there."""
    pads, mode = arguments[:2]
    if isinstance(pads, list) and mode in _LEAST:
        yield from _padding(sizes, pads, len(pads) // 2, mode)


def _padding(sizes: Sizes, pads: Any, spatial: int, mode: str) -> Iterator[Question]:
    if not isinstance(pads, list) or not all(isinstance(pad, int | Dim) for pad in pads):
        return
    first = int(len(sizes) == spatial + 2)  # a batch may be empty
    for dim in range(first, len(sizes) - spatial if mode != "circular" else 0):
        yield f"{sizes[dim]} > 0", [sizes[dim]]
    for number in range(spatial):
        low, high, size = pads[2 * number], pads[2 * number + 1], sizes[-1 - number]
        yield f"{size} >= {_LEAST[mode].format(low=low, high=high)}", [size, low, high]


_LEAST = {
    "reflect": "max({low}, {high}, 0) + 1",
    "replicate": "1",
    "circular": "max({low}, {high})",
}
"""By mode, the smallest size of a dimension that can be padded by so many elements before and behind it."""


def _windows(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """A window is not longer than its dimension."""
    dim, length, _ = arguments
    if isinstance(dim, int) and isinstance(length, int | Dim) and sizes:
        yield f"{length} <= {sizes[dim]}", [length, sizes[dim]]


def _ranked(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """There are as many elements as are taken by rank."""
    count, dim = arguments[:2]
    if isinstance(dim, int) and isinstance(count, int | Dim) and sizes:
        yield f"{count} <= {sizes[dim]}", [count, sizes[dim]]


def _counted(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """``arange`` counts in the direction of its step."""
    start, end, *options = arguments
    step = options[0] if len(options) == 5 else 1
    if isinstance(start, int | Dim) and isinstance(end, int | Dim) and isinstance(step, int):
        yield f"{start} {'<=' if step > 0 else '>='} {end}", [start, end]


def _parts(count: str) -> Rule:
    """There are as many parts as the program takes.

    Args:
        count: of ``size`` and ``each``, how many.
    """

    def rule(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
        each, dim = arguments
        if isinstance(dim, int) and isinstance(each, int | Dim):
            size = sizes[dim]
            asked = count.format(size=f"({size})", each=f"({each})")
            yield f"{asked} == {len(types)}", [size, each]

    return rule


def _members(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """A dimension is as long as it is taken apart."""
    (dim,) = arguments
    if isinstance(dim, int):
        yield f"{sizes[dim]} == {len(types)}", [sizes[dim]]


_CHUNKS = "({each} if {size} == 0 else -(-{size} // -(-{size} // {each})))"
_SPLIT = "(1 if {size} == 0 else -(-{size} // {each}))"
_SLICE, _SELECT = "torch.aten.slice.Tensor", "torch.aten.select.int"
_OF_OPERANDS = {
    "torch.aten.arange.start",
    "torch.aten.arange.start_step",
    "torch.aten.narrow",
    "torch.aten.pad",
    "torch.aten.select_scatter",
    "torch.aten.slice_scatter",
    "torch.aten.unfold",
    *(f"torch.aten.{kind}_pad{n}d" for kind in ("reflection", "replication") for n in (1, 2, 3)),
}
"""Ops whose needs say nothing of their results."""
_SQUEEZE = "torch.aten.squeeze.dims"
_AT_CONTRACT = {_SLICE, _SELECT, _SQUEEZE}
_RULES: Mapping[str, Rule] = {
    _SLICE: _length,
    _SELECT: _place,
    "torch.aten.slice_scatter": _written_length,
    "torch.aten.select_scatter": _place,
    "torch.aten.narrow": _part,
    "torch.aten.squeeze": _squeezed,
    "torch.aten.squeeze.dim": _squeezed,
    _SQUEEZE: _squeezed,
    **{f"torch.aten.reflection_pad{n}d": _padding_of(n, "reflect") for n in (1, 2, 3)},
    **{f"torch.aten.replication_pad{n}d": _padding_of(n, "replicate") for n in (1, 2, 3)},
    "torch.aten.pad": _padded,
    "torch.aten.unfold": _windows,
    "torch.aten.topk": _ranked,
    "torch.aten.kthvalue": _ranked,
    "torch.aten.arange.start": _counted,
    "torch.aten.arange.start_step": _counted,
    "torch.aten.chunk": _parts(_CHUNKS),
    "torch.aten.unsafe_chunk": _parts(_CHUNKS),
    "torch.aten.split.Tensor": _parts(_SPLIT),
    "torch.aten.unsafe_split.Tensor": _parts(_SPLIT),
    "torch.aten.unbind.int": _members,
}


def _size_of(type: Any, dim: Any) -> KnownSize | None:
    return type.sizes[dim] if isinstance(dim, int) and is_known_tensor(type) else None
