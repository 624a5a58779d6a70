"""``torch-check-indices``: an index outside of the tensor it is for is an error, as in eager PyTorch.

Engines take the nearest element, or read and write what lies there. An op gets its indices held inside, so that it does
neither, and an assertion that they were inside already. Of indices that are an argument, the function says in
``torch.preconditions`` what a caller has to look at instead: nothing has been computed or written then. Left as they
are: constants, positions that the program has found itself, and what else is known to be in range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    i1,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.torch import core, dims
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import KnownSize
from torch2mlir.dialects.torch.values import Values
from torch2mlir.program import Precondition
from torch2mlir.transforms.folding.constants import constant, insert_before, int_before
from torch2mlir.transforms.index_ranges.intervals import (
    PART,
    Intervals,
    held_by,
    is_at_most,
    is_narrower,
    shares_all,
)
from torch2mlir.transforms.index_ranges.operands import (
    TAKING_INDICES,
    Indices,
    SizeOf,
    indices_of,
    is_integer,
    known_size,
    operator_name,
    sizes_of,
)


@dataclass(frozen=True)
class _Range:
    """What an index must be: at least one number and below another, None where a size is not known; or ignored."""

    indices: Indices
    low: KnownSize | None
    end: KnownSize | None

    @staticmethod
    def of(indices: Indices, values: Values) -> _Range:
        size = known_size(indices, values)
        if size is None:
            return _Range(indices, None if indices.from_end else indices.lowest, None)
        low = dims.mul(-1, size) if indices.from_end else indices.lowest
        return _Range(indices, low, dims.add(size, indices.beyond))

    def covers(self, other: _Range) -> bool:
        """Whether an index in this range is in the other one."""
        mine, theirs = self.indices, other.indices
        if mine.ignored != theirs.ignored:
            return False
        if self.low is None or other.low is None or self.end is None or other.end is None:
            same = tuple(mine.factors) == tuple(theirs.factors) and mine.beyond == theirs.beyond
            return same and mine.lowest >= theirs.lowest and mine.from_end <= theirs.from_end
        return is_at_most(other.low, self.low) and is_at_most(self.end, other.end)

    def sides(self, tensor: SSAValue, intervals: Intervals) -> tuple[bool, bool]:
        """Whether an element may be too low, or too high."""
        low, high = intervals.of(tensor)
        held = held_by(tensor) or (None, None)
        low, high = held[0] if low is None else low, held[1] if high is None else high
        return (
            self.low is None or low is None or not is_at_most(self.low, low),
            self.end is None or high is None or not is_at_most(dims.add(high, 1), self.end),
        )

    def message(self, op: Operation) -> str:
        """What is wrong where an index of the op is not in it."""
        indices = self.indices
        size: KnownSize | str = "n" if self.end is None else dims.sub(self.end, indices.beyond)
        first = f"-{size}" if indices.from_end else str(indices.lowest)
        last = dims.sub(self.end, 1) if isinstance(self.end, int) else size
        less = "" if isinstance(self.end, int) or indices.beyond else " - 1"
        passed = "" if indices.ignored is None else f", or {indices.ignored}"
        name = operator_name(op).removeprefix("torch.")
        return (
            f"an index of {name} is out of range: it takes {first} to {last}{less}{passed}, "
            f"{indices.words} being {size}"
        )


@dataclass
class _Checks:
    """The assertions of a block and of those around it: the tensor they are of, its range, it held inside of that."""

    intervals: Intervals
    function: FuncOp
    made: dict[SSAValue, list[tuple[_Range, SSAValue]]] = field(default_factory=dict)

    def inside(self) -> _Checks:
        """For a region: what holds before it holds in it, and not the other way round."""
        made = {tensor: list(held) for tensor, held in self.made.items()}
        return _Checks(self.intervals, self.function, made)

    def run(self, block: Block) -> None:
        """Adds the assertions of a block."""
        for op in list(block.ops):
            for indices in indices_of(op, self.intervals.values):
                self._check(op, indices)
            for region in op.regions:
                for nested in region.blocks:
                    self.inside().run(nested)

    def _check(self, op: Operation, indices: Indices) -> None:
        tensor = whole_of(indices.tensor)
        sizes = sizes_of(tensor)
        if not is_integer(tensor) or sizes is None or 0 in sizes:
            return
        range = _Range.of(indices, self.intervals.values)
        sides = range.sides(tensor, self.intervals)
        if not any(sides):
            return
        known = self._covering(tensor, range)
        if known is None:
            known = tensor, self._held(op, tensor, range, sides)
            self.made.setdefault(tensor, []).append((range, known[1]))
        _put(op, indices, _again(op, indices.tensor, *known))

    def _held(
        self, op: Operation, tensor: SSAValue, range: _Range, sides: tuple[bool, bool]
    ) -> SSAValue:
        """The tensor held inside of a range, where nobody else has looked at it."""
        if not isinstance(tensor, BlockArgument) or op.parent_op() is not self.function:
            return _Assertion(op, tensor, range).insert(*sides)
        condition = precondition(op, tensor, range)
        if condition is None:
            return _Assertion(op, tensor, range).insert(*sides)
        known = self.function.attributes.get(PRECONDITIONS, ArrayAttr([]))
        assert isinstance(known, ArrayAttr)
        self.function.attributes[PRECONDITIONS] = ArrayAttr([*known, condition])
        return tensor

    def _covering(self, tensor: SSAValue, range: _Range) -> tuple[SSAValue, SSAValue] | None:
        """The tensor that an assertion as strict is of, this one or what it is a part of, and it held inside."""
        for made, held in self.made.get(tensor, ()):
            if made.covers(range):
                return tensor, held
        op = tensor.owner
        if not isinstance(op, Operation) or operator_name(op) not in PART:
            return None
        return self._covering(whole_of(op.operands[0]), range)


PRECONDITIONS = "torch.preconditions"
"""The attribute of a function that says between which integers the elements of arguments must be."""


def precondition(op: Operation, argument: BlockArgument, range: _Range) -> DictionaryAttr | None:
    """What a caller of the function must look at, if the range is of numbers that are known."""
    if not isinstance(range.low, int) or not isinstance(range.end, int):
        return None
    numbers = {"argument": argument.index, "lowest": range.low, "highest": range.end - 1}
    if range.indices.ignored is not None:
        numbers["ignored"] = range.indices.ignored
    words = {"message": range.message(op), "location": describe(op.location) or ""}
    return DictionaryAttr(
        {name: IntegerAttr(number, i64) for name, number in numbers.items()}
        | {name: StringAttr(text) for name, text in words.items()}
    )


def preconditions_of(function: FuncOp) -> list[Precondition]:
    """What a function says of its arguments; it says so no more."""
    stated = function.attributes.pop(PRECONDITIONS, ArrayAttr([]))
    assert isinstance(stated, ArrayAttr)
    return [Precondition(**_plain(each)) for each in stated]


def _plain(stated: Attribute) -> dict[str, Any]:
    """The integers and texts of a dictionary."""
    assert isinstance(stated, DictionaryAttr)
    values = dict[str, Any]()
    for name, attribute in stated.data.items():
        assert isinstance(attribute, IntegerAttr | StringAttr)
        data = attribute.value.data if isinstance(attribute, IntegerAttr) else attribute.data
        values[name] = data
    return values


def whole_of(tensor: SSAValue) -> SSAValue:
    """The tensor of the same elements that is found behind views and copies; the smallest, as a rule."""
    while isinstance(op := tensor.owner, Operation) and shares_all(op, sizes_of(tensor)):
        source = op.operands[0]
        if not is_integer(source) or not is_narrower(source, tensor):
            break
        tensor = source
    return tensor


def _again(user: Operation, tensor: SSAValue, old: SSAValue, new: SSAValue) -> SSAValue:
    """What a tensor, made of an old one by views and copies, is of a new one."""
    chain = list[Operation]()
    while tensor is not old:
        assert isinstance(tensor.owner, Operation)
        chain.append(tensor.owner)
        tensor = tensor.owner.operands[0]
    for op in reversed(chain):
        made = op.clone()
        made.operands = [new, *op.operands[1:]]
        insert_before(user, made)
        made.location = op.location
        new = made.results[0]
    return new


def _put(op: Operation, indices: Indices, held: SSAValue) -> None:
    """Gives an op other indices."""
    given = op.operands[indices.place]
    if isinstance(given.type, t.AnyTensorType):
        op.operands[indices.place] = held
        return
    assert isinstance(given.owner, Operation)
    members = list(given.owner.operands)
    members[indices.member] = held
    new = core.PrimListConstructOp.create(operands=members, result_types=[given.type])
    insert_before(op, new)
    op.operands[indices.place] = new.results[0]


class _Assertion:
    """That a tensor is in a range, before an op."""

    def __init__(self, op: Operation, tensor: SSAValue, range: _Range) -> None:
        self.op, self.tensor, self.range = op, tensor, range

    def insert(self, low: bool, end: bool) -> SSAValue:
        """Writes it; the tensor, held inside where it may be too low or too high."""
        none = constant(None, t.none_type)
        insert_before(self.op, none)
        bounds = [
            self._low() if low else none.results[0],
            self._highest() if end else none.results[0],
        ]
        held = self._emit("clamp", [self.tensor, *bounds], self.tensor.type)
        within = self._elements("eq.Tensor", held, self.tensor)
        if (ignored := self.range.indices.ignored) is not None:
            passed = self._elements("eq.Scalar", self.tensor, int_before(self.op, ignored))
            within = self._elements("logical_or", within, passed)
            other = [within, self.tensor, int_before(self.op, ignored)]
            held = self._emit("where.ScalarOther", other, self.tensor.type)
        if sizes_of(self.tensor):
            within = self._emit("all", [within], t.vtensor((), i1))
        holds = self._emit("Bool.Tensor", [within], t.bool_type)
        text = {"message": StringAttr(self.range.message(self.op))}
        insert_before(self.op, core.RuntimeAssertOp.create(operands=[holds], properties=text))
        return held

    def _low(self) -> SSAValue:
        if isinstance(self.range.low, int):
            return int_before(self.op, self.range.low)
        return self._number("neg.int", self._size())

    def _highest(self) -> SSAValue:
        if isinstance(self.range.end, int):
            return int_before(self.op, self.range.end - 1)
        last = int_before(self.op, self.range.indices.beyond - 1)
        return self._number("add.int", self._size(), last)

    def _size(self) -> SSAValue:
        """The size as a number of the program."""
        total: SSAValue | None = None
        for factor in self.range.indices.factors:
            if isinstance(factor, SizeOf):
                factor = self._number("size.int", factor.tensor, int_before(self.op, factor.dim))
            total = factor if total is None else self._number("mul.int", total, factor)
        return int_before(self.op, 1) if total is None else total

    def _elements(self, name: str, *operands: SSAValue) -> SSAValue:
        return self._emit(name, operands, t.vtensor(tuple(sizes_of(self.tensor) or ()), i1))

    def _number(self, name: str, *operands: SSAValue) -> SSAValue:
        return self._emit(name, operands, t.int_type)

    def _emit(self, name: str, operands: Sequence[SSAValue], type: Attribute) -> SSAValue:
        made = core.build(f"torch.aten.{name}", operands, [type])
        insert_before(self.op, made)
        return made.results[0]


@dataclass(frozen=True)
class CheckIndicesPass(PassForOps):
    """See the module's docstring."""

    name = "torch-check-indices"
    looks_for = TAKING_INDICES | {core.OperatorOp.name}

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        intervals = Intervals(Values())
        for function in op.body.block.ops:
            if isinstance(function, FuncOp):
                for block in function.body.blocks:
                    _Checks(intervals, function).run(block)
