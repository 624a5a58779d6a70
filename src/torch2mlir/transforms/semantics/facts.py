"""What a program asserts of sizes that elements decide, read back from its assertions."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from xdsl.ir import Attribute, Operation, SSAValue

from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import INT64_MAX, Dim
from torch2mlir.dialects.torch.values import Values
from torch2mlir.program import Decision
from torch2mlir.transforms.semantics.symbols import symbol_ranges

_COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
_JOINED = {"torch.aten.__or__.bool": "or", "torch.aten.__and__.bool": "and"}


@dataclass
class Facts:
    """What a program asserts of sizes.

    Attributes:
        decisions: all of it.
        ranges: smallest and largest value of those that it compares with numbers.
        same: of two that are equal, the one that comes later by the one before.
    """

    decisions: list[Decision] = field(default_factory=list)
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)
    same: dict[str, str] = field(default_factory=dict)

    def imply(self, question: Decision) -> bool:
        """Whether the answer to a question follows, which is tried for all values if they are few."""
        names = list(question.symbols)
        bounds = [self.ranges.get(name, (0, INT64_MAX)) for name in names]
        if math.prod(high + 1 - low for low, high in bounds) > _MOST_TRIED:
            return False
        about = [d for d in self.decisions if set(d.symbols) <= set(names)]
        for values in product(*(range(low, high + 1) for low, high in bounds)):
            sizes = dict(zip(names, values, strict=True))
            if all(fact.holds(sizes) for fact in about) and not question.holds(sizes):
                return False
        return True


def facts_of(module: Operation) -> Facts:
    """What the assertions of a module say of sizes."""
    facts, values, given = Facts(), Values(), symbol_ranges(module)
    met = {name: place for place, name in enumerate(given)}
    for op in module.walk():
        for result in op.results:
            for name in _sizes(result.type):
                met.setdefault(name, len(met))
        if isinstance(op, core.RuntimeAssertOp):
            _add_comparison(op.operands[0], values, facts, given, met)
            names = set[str]()
            asked = _condition(op.operands[0], values, names)
            if asked is not None and names:
                place = describe(op.location) or ""
                facts.decisions.append(Decision(asked, True, tuple(sorted(names)), place, True))
    for decision in facts.decisions:
        _tighten(facts.ranges, decision)
    return facts


def _sizes(type: Attribute) -> Iterator[str]:
    """The symbols in a type's sizes."""
    for size in (type.sizes or ()) if isinstance(type, t.ValueTensorType) else ():
        if isinstance(size, Dim):
            yield from size.symbols()


def _tighten(ranges: dict[str, tuple[int, int]], decision: Decision) -> None:
    """Lowers the largest value of a symbol until what is asserted of it alone holds."""
    name = decision.symbols[0]
    low, high = ranges.get(name, (0, INT64_MAX))
    if len(decision.symbols) == 1 and high <= _MOST_TRIED:
        while high > low and not decision.holds({name: high}):
            high -= 1
        ranges[name] = low, high


_MOST_TRIED = 4096
"""How many values are tried."""


def _comparison(condition: SSAValue, values: Values) -> tuple[str, list[Any]] | None:
    op = condition.owner
    if not isinstance(op, Operation):
        return None
    name = op.name.removeprefix("torch.aten.").removesuffix(".int")
    if op.name != f"torch.aten.{name}.int" or name not in _COMPARISONS:
        return None
    operands = [values.of(operand) for operand in op.operands]
    return (name, operands) if all(isinstance(each, int | Dim) for each in operands) else None


def _condition(condition: SSAValue, values: Values, names: set[str]) -> str | None:
    """A condition as Python writes it; the symbols in it are added to ``names``."""
    op = condition.owner
    if isinstance(op, Operation) and op.name in _JOINED:
        sides = [_condition(operand, values, names) for operand in op.operands]
        return None if None in sides else f" {_JOINED[op.name]} ".join(f"({s})" for s in sides)
    if (found := _comparison(condition, values)) is None:
        return None
    name, (one, other) = found
    for each in (one, other):
        names.update(each.symbols() if isinstance(each, Dim) else ())
    return f"{one} {_COMPARISONS[name]} {other}"


def _add_comparison(
    condition: SSAValue,
    values: Values,
    facts: Facts,
    given: Collection[str],
    met: Mapping[str, int],
) -> None:
    """Adds what a comparison of a symbol with a number, or with another symbol, says of it.

    Of two that are the same, the one is kept that arguments have, of which the symbols are ``given``, or else the one
    that is ``met`` first: ops before the other is made have it, too.
    """
    match _comparison(condition, values):
        case ("le", [Dim(op="symbol", name=name), int(most)]):
            low, high = facts.ranges.get(name, (0, INT64_MAX))
            facts.ranges[name] = low, min(high, most)
        case ("ge", [Dim(op="symbol", name=name), int(least)]):
            low, high = facts.ranges.get(name, (0, INT64_MAX))
            facts.ranges[name] = max(low, least), high
        case ("eq", [Dim(op="symbol", name=one), Dim(op="symbol", name=other)]):
            one, other = (facts.same.get(name, name) for name in (one, other))
            one, other = sorted((one, other), key=lambda name: met.get(name, len(met)))
            if one != other and other not in given:
                facts.same = {k: one if v == other else v for k, v in facts.same.items()}
                facts.same[other] = one
        case _:
            pass
