"""Sizes that elements decide: what a program asserts of them, and assertions of what its ops need.

Nobody knows such a size before a call: what is asked of it is asked by the program itself, while it runs.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim, is_symbol
from torch2mlir.dialects.torch.symbols import INT64_MAX
from torch2mlir.dialects.torch.values import Values
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


def assert_before(op: Operation, decision: Decision, values: Values) -> bool:
    """Has a program end where what is decided about the sizes of an op's operands does not hold.

    Args:
        op: the op; the assertion stands before it.
        decision: of these sizes.
        values: reads operands.

    Returns:
        Whether the dialect has words for the question, and the operands have the sizes.
    """
    sizes = dict(_sizes_of(op, values))
    if not set(decision.symbols) <= sizes.keys():
        return False
    writer = _Writer(op, sizes)
    try:
        holds = writer.condition(ast.parse(decision.asked, mode="eval").body)
    except KeyError:  # a function or an operator that the dialect does not have for sizes
        return False
    if not decision.answer:
        holds = writer.emit("aten.__not__", t.bool_type, holds)
    text = f"a size that elements decide is not as the program needs it: {decision.asked} is not {decision.answer}"
    properties = {"message": StringAttr(text)}
    insert_before(op, core.RuntimeAssertOp.create(operands=[holds], properties=properties))
    return True


def _sizes_of(op: Operation, values: Values) -> Iterator[tuple[str, tuple[SSAValue, int | None]]]:
    """Symbol -> a value before an op that is the size, or a tensor that has it, and where."""
    for value in _before(op):
        type = value.type
        if isinstance(type, t.ValueTensorType):
            for dim, size in enumerate(type.sizes or ()):
                if is_symbol(size):
                    yield size.name, (value, dim)
        elif type == t.int_type and is_symbol(size := values.of(value)):
            yield size.name, (value, None)


def _before(op: Operation) -> Iterator[SSAValue]:
    """The values that an op can use."""
    block = op.parent
    if block is None:
        return
    if (around := block.parent_op()) is not None:
        yield from _before(around)
    yield from block.args
    for each in block.ops:
        if each is op:
            return
        yield from each.results


class _Writer:
    """Writes a question about sizes, as Python has it, before an op.

    Args:
        op: the op.
        sizes: where sizes are found, by symbol.
    """

    def __init__(self, op: Operation, sizes: Mapping[str, tuple[SSAValue, int | None]]) -> None:
        self.op, self.sizes = op, sizes

    def emit(self, name: str, type: Attribute, *operands: SSAValue) -> SSAValue:
        """The result of a new op."""
        new = core.build(f"torch.{name}", operands, [type])
        insert_before(self.op, new)
        return new.results[0]

    def integer(self, name: str, *operands: SSAValue) -> SSAValue:
        """The result of arithmetic."""
        return self.emit(f"{name}.int", t.int_type, *operands)

    def condition(self, tree: ast.expr) -> SSAValue:
        """A truth value.

        Raises:
            KeyError: the dialect has no word for it.
        """
        match tree:
            case ast.BoolOp(op=operator, values=parts):
                name = "aten.__and__.bool" if isinstance(operator, ast.And) else "aten.__or__.bool"
                return self._joined(name, [self.condition(part) for part in parts])
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return self.emit("aten.__not__", t.bool_type, self.condition(inner))
            case ast.Compare(left=first, ops=operators, comparators=others):
                numbers = [self.number(each) for each in (first, *others)]
                pairs = zip(operators, numbers, numbers[1:], strict=False)
                asked = [
                    self.emit(f"aten.{_WORDS[type(word)]}.int", t.bool_type, one, other)
                    for word, one, other in pairs
                ]
                return self._joined("aten.__and__.bool", asked)
        raise KeyError(type(tree))

    def _chosen(self, name: str, numbers: Sequence[SSAValue]) -> SSAValue:
        first, *others = numbers
        for other in others:
            first = self.integer(f"prim.{name}", first, other)
        return first

    def _joined(self, name: str, conditions: Sequence[SSAValue]) -> SSAValue:
        first, *others = conditions
        for other in others:
            first = self.emit(name, t.bool_type, first, other)
        return first

    def number(self, tree: ast.expr) -> SSAValue:
        """An integer.

        Raises:
            KeyError: the dialect has no word for it.
        """
        match tree:
            case ast.Constant(value=int(known)):
                return int_before(self.op, known)
            case ast.Name(id=name):
                value, dim = self.sizes[name]
                if dim is None:
                    return value
                return self.integer("aten.size", value, int_before(self.op, dim))
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return self.integer("aten.neg", self.number(inner))
            case ast.BinOp(left=left, op=operator, right=right):
                name = f"aten.{_ARITHMETIC[type(operator)]}"
                return self.integer(name, self.number(left), self.number(right))
            case ast.Call(func=ast.Name(id="max" | "min" as name), args=given):
                return self._chosen(name, [self.number(each) for each in given])
            case ast.Call(func=ast.Name(id="len"), args=[ast.Subscript() as part]):
                return self._length(part)
            case ast.IfExp(test=test, body=one, orelse=other):
                taken = self.emit("aten.Int.bool", t.int_type, self.condition(test))
                first, second = self.number(one), self.number(other)
                change = self.integer("aten.mul", taken, self.integer("aten.sub", first, second))
                return self.integer("aten.add", second, change)
        raise KeyError(type(tree))

    def _length(self, part: ast.Subscript) -> SSAValue:
        """``len(range(size)[start:end:step])``."""
        match part:
            case ast.Subscript(
                value=ast.Call(func=ast.Name(id="range"), args=[whole]), slice=ast.Slice() as cut
            ):
                size, zero = self.number(whole), int_before(self.op, 0)
                first = self._inside(cut.lower, zero, size)
                last = self._inside(cut.upper, size, size)
                step = int_before(self.op, 1) if cut.step is None else self.number(cut.step)
                span = self.integer("aten.add", self.integer("aten.sub", last, first), step)
                rounded = self.integer("aten.sub", span, int_before(self.op, 1))
                return self.integer("prim.max", self.integer("aten.floordiv", rounded, step), zero)
        raise KeyError(type(part))

    def _inside(self, place: ast.expr | None, otherwise: SSAValue, size: SSAValue) -> SSAValue:
        """A position of a slice, counted from the front and held inside of a dimension."""
        if place is None:
            return otherwise
        number, zero = self.number(place), int_before(self.op, 0)
        is_negative = self.emit("aten.lt.int", t.bool_type, number, zero)
        turns = self.emit("aten.Int.bool", t.int_type, is_negative)
        counted = self.integer("aten.add", number, self.integer("aten.mul", turns, size))
        return self.integer("prim.min", self.integer("prim.max", counted, zero), size)


_WORDS: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
}
_ARITHMETIC: Mapping[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.FloorDiv: "floordiv",
    ast.Mod: "remainder",
}
