"""Sizes that elements decide: what a program asserts of them, and assertions of what its ops need.

Nobody knows such a size before a call: what is asked of it is asked by the program itself, while it runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import sympy
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim, KnownSize
from torch2mlir.dialects.torch.symbols import INT64_MAX
from torch2mlir.dialects.torch.values import Values
from torch2mlir.errors import CaptureError
from torch2mlir.frontends.fx import symbols
from torch2mlir.program import Decision
from torch2mlir.transforms.folding.constants import insert_before, int_before

_COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
_JOINED = {"torch.aten.__or__.bool": "or", "torch.aten.__and__.bool": "and"}


@dataclass
class Facts:
    """What a program asserts of sizes.

    Attributes:
        decisions: all of it.
        ranges: smallest and largest value of those that it compares with numbers.
        same: of two that are equal, the second by the first.
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
    facts, values = Facts(), Values()
    for op in module.walk():
        if isinstance(op, core.RuntimeAssertOp):
            _add_comparison(op.operands[0], values, facts)
            names = set[str]()
            asked = _condition(op.operands[0], values, names)
            if asked is not None and names:
                place = describe(op.location) or ""
                facts.decisions.append(Decision(asked, True, tuple(sorted(names)), place, True))
    for decision in facts.decisions:
        _tighten(facts.ranges, decision)
    return facts


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


def _add_comparison(condition: SSAValue, values: Values, facts: Facts) -> None:
    """Adds what a comparison of a symbol with a number, or with another symbol, says of it."""
    match _comparison(condition, values):
        case ("le", [Dim(op="symbol", name=name), int(most)]):
            low, high = facts.ranges.get(name, (0, INT64_MAX))
            facts.ranges[name] = low, min(high, most)
        case ("ge", [Dim(op="symbol", name=name), int(least)]):
            low, high = facts.ranges.get(name, (0, INT64_MAX))
            facts.ranges[name] = max(low, least), high
        case ("eq", [Dim(op="symbol", name=one), Dim(op="symbol", name=other)]):
            one, other = (facts.same.get(name, name) for name in (one, other))
            if one != other:
                facts.same = {k: one if v == other else v for k, v in facts.same.items()}
                facts.same[other] = one
        case _:
            pass


_RELATIONS = {
    sympy.Lt: "lt",
    sympy.Le: "le",
    sympy.Gt: "gt",
    sympy.Ge: "ge",
    sympy.Eq: "eq",
    sympy.Ne: "ne",
}
_ARITHMETIC = {
    "add": "torch.aten.add.int",
    "mul": "torch.aten.mul.int",
    "floordiv": "torch.aten.floordiv.int",
    "mod": "torch.aten.remainder.int",
    "max": "torch.prim.max.int",
    "min": "torch.prim.min.int",
}


def assert_before(op: Operation, question: Any, names: Mapping[sympy.Symbol, str]) -> bool:
    """Has a program end where the answer to a question about the sizes of an op's operands is another one.

    Args:
        op: the op; the assertion stands before it.
        question: a relation of sympy.
        names: of its symbols in the program.

    Returns:
        Whether the dialect has words for it, and the operands have the sizes.
    """
    relation = _RELATIONS.get(type(question))
    if relation is None:
        return False
    known = {symbol: Dim("symbol", (name,)) for symbol, name in names.items()}
    try:
        sides = [symbols.to_dim(side, known) for side in question.args]
    except CaptureError:  # a function that sizes do not have
        return False
    found = dict(_sizes_of(op))
    if any(each.symbols() - found.keys() for each in sides if isinstance(each, Dim)):
        return False
    emit = _Emitter(op, found)
    holds = emit(f"torch.aten.{relation}.int", t.bool_type, *map(emit.size, sides))
    text = f"a size that elements decide is not as the program needs it: {question} does not hold"
    properties = {"message": StringAttr(text)}
    insert_before(op, core.RuntimeAssertOp.create(operands=[holds], properties=properties))
    return True


def _sizes_of(op: Operation) -> Iterator[tuple[str, tuple[SSAValue, int]]]:
    """Symbol -> a tensor among an op's operands that has it for a size, and which."""
    for operand in op.operands:
        made = operand.owner
        is_list = isinstance(made, core.PrimListConstructOp)
        for value in made.operands if is_list else [operand]:  # type: ignore[union-attr]
            type = value.type
            if isinstance(type, t.ValueTensorType):
                for dim, size in enumerate(type.sizes or ()):
                    if isinstance(size, Dim) and size.op == "symbol":
                        yield size.name, (value, dim)


class _Emitter:
    """Writes ops before another one.

    Args:
        op: the other one.
        found: where sizes are found, by symbol.
    """

    def __init__(self, op: Operation, found: Mapping[str, tuple[SSAValue, int]]) -> None:
        self.op, self.found = op, found

    def __call__(self, name: str, type: Attribute, *operands: SSAValue) -> SSAValue:
        new = core.build(name, operands, [type])
        insert_before(self.op, new)
        return new.results[0]

    def size(self, size: KnownSize) -> SSAValue:
        """A size as ``!torch.int``."""
        if isinstance(size, int):
            return int_before(self.op, size)
        if size.op == "symbol":
            tensor, dim = self.found[size.name]
            return self("torch.aten.size.int", t.int_type, tensor, int_before(self.op, dim))
        first, *others = map(self.size, size.operands())
        for other in others:
            first = self(_ARITHMETIC[size.op], t.int_type, first, other)
        return first
