"""What ops need of sizes that vary, for their results to be of the types that a program gives them.

PyTorch finds it out while it runs an op: a place is inside of a tensor, a slice is as long as what is written to it, a
size is not 1 and is not squeezed away. It traces a program at example sizes, for which that is so, and for others
the same program would go on with what is not there. So each is asked again in every call, as Python writes it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim
from torch2mlir.dialects.torch.lists import parts_taken
from torch2mlir.dialects.torch.values import Values
from torch2mlir.errors import BackendContractError
from torch2mlir.frontends.fx.decisions import note
from torch2mlir.frontends.fx.questions import Asked
from torch2mlir.program import Decision
from torch2mlir.transforms.semantics.assertions import assert_before
from torch2mlir.transforms.semantics.facts import Facts
from torch2mlir.transforms.semantics.needs_of_ops import (
    AS_CAPTURED,
    AT_CONTRACT,
    OF_ELEMENTS,
    OF_OPERANDS,
    REFUSED,
    RULES,
    Rule,
    Types,
)
from torch2mlir.transforms.typing.type_lattice import is_known_tensor


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
            elif isinstance(op.parent_op(), FuncOp):
                _refuse_unless_it_holds(op, decision)

    def note_of_elements(self, op: Operation) -> None:
        """Asks what an op needs of sizes that elements decide: capture and decompositions take these for 2 or more.

        Raises:
            BackendContractError: the program cannot ask.
        """
        for decision in needs_of(op, self.values, op.result_types, OF_ELEMENTS):
            if not set(decision.symbols) <= set(self.given):
                self._ask(op, decision)

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


def needs_of(
    op: Operation, values: Values, types: Types, rules: Mapping[str, Rule] = RULES
) -> Iterator[Decision]:
    """What an op needs of sizes that vary."""
    rule = rules.get(op.name)
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
    """As :func:`needs_of`, for an op of one result or of a list that is unpacked.

    How many parts there are otherwise is nothing that examples may decide.
    """
    if _has_list(op):
        return list(needs_of(op, values, types)) if len(types) == parts_taken(op) else []
    return list(needs_of(op, values, types)) if len(types) == 1 else []


def _has_list(op: Operation) -> bool:
    return any(isinstance(result.type, t.ListType) for result in op.results)


def needs_of_operands(op: Operation, values: Values) -> list[Decision]:
    """What an op needs, whatever its results are: if they are unpacked, that there are so many."""
    if (count := parts_taken(op)) is not None:
        return list(needs_of(op, values, (None,) * count))
    return list(needs_of(op, values, ())) if op.name in OF_OPERANDS else []


def needs_as_captured(function: FuncOp, given: Collection[str]) -> list[Decision]:
    """What the ops of a captured program need of the symbols of its arguments, those that nobody reads included.

    Of ``x.unfold(0, 2, 2).shape`` the program has the expression of the size, and the op is removed.

    Raises:
        BackendContractError: operands do not fit, whatever the call.
    """
    values, rules, asked = Values(), AS_CAPTURED if given else REFUSED, list[Decision]()
    for op in function.body.block.ops:
        if op.name not in rules or _has_list(op):
            continue
        for decision in needs_of(op, values, op.result_types, rules):
            if decision.symbols and set(decision.symbols) <= set(given):
                asked.append(decision)
            elif not decision.symbols and op.name in REFUSED:
                _refuse_unless_it_holds(op, decision)
    return asked


def _refuse_unless_it_holds(op: Operation, decision: Decision) -> None:
    if not decision.holds({}):
        raise BackendContractError(
            f"this op cannot run: {decision.asked} does not hold",
            op=op.name,
            location=decision.location or None,
            hint="PyTorch refuses it too; check its arguments",
        )


def needs_at_contract(function: Operation) -> list[Decision]:
    """What the ops of a function at the contract need, of those that somebody reads."""
    values = Values()
    return list(
        dict.fromkeys(
            decision
            for op in function.walk()
            if op.name in AT_CONTRACT and op.results[0].first_use is not None
            for decision in needs_of(op, values, op.result_types)
            if decision.symbols
        )
    )
