"""Questions about sizes that elements decide: nobody knows these before a call, so the program asks while it runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import INT64_MAX, is_symbol
from torch2mlir.dialects.torch.values import Values
from torch2mlir.program import Decision
from torch2mlir.transforms.folding.constants import insert_before, int_before


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
        if isinstance(place, ast.Constant) and place.value == INT64_MAX:
            return size
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
