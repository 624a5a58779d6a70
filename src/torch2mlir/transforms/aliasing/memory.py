"""Which tensors of a function share memory, and for which of them program order says what they hold.

Every tensor that can be written has a root: the value that its memory was made by. An exact view has its operand's
root. What only may share memory (results of branches, what loops carry, members of lists, ``reshape``) is a root of its
own that is related to the others from some place of the program on. A root is sound to follow if, after each write to
it, no related root is used any more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.transforms.aliasing.effects import Effect, effect, is_mutable, written
from torch2mlir.transforms.aliasing.views import EXACT_VIEWS, write_back
from torch2mlir.transforms.reduce_op_variants import value_type


def is_tracked(type: Attribute) -> bool:
    """Whether a value is, or holds, tensors that can be written."""
    return value_type(type) != type


def _unpacks_new_tensors(op: Operation) -> bool:
    """Whether the results are all that is left of a list of tensors that one op has made."""
    if not isinstance(op, core.PrimListUnpackOp):
        return False
    made = op.operands[0]
    owner = made.owner
    return isinstance(owner, Operation) and effect(owner) is Effect.VALUE and made.has_one_use()


class Memory:
    """What the tensors of a function are, from one walk over it."""

    def __init__(self, function: FuncOp) -> None:
        self.root_of = dict[SSAValue, SSAValue]()
        self.view_of = dict[SSAValue, Operation]()
        self.type_of = dict[SSAValue, Attribute]()
        self.writes = defaultdict[SSAValue, list[Operation]](list)
        self.unsafe = set[SSAValue]()
        self._uses = defaultdict[SSAValue, list[int]](list)
        self._relations = defaultdict[SSAValue, list[tuple[int, SSAValue]]](list)
        self._position = dict[Operation, int]()
        self._loops = list[tuple[int, int]]()
        self._made = dict[SSAValue, int]()
        self._carried = set[SSAValue]()
        self._count = 0
        block = function.body.block
        for argument in block.args:
            if is_tracked(argument.type):
                self._root(argument)
                self.unsafe.add(argument)  # the caller has it too
        self._visit(block)
        self._check()

    def is_safe(self, value: SSAValue) -> bool:
        """Whether a tensor's contents can be followed as values."""
        root = self.root_of.get(value)
        return root is not None and root not in self.unsafe

    def written_in(self, op: Operation) -> list[SSAValue]:
        """The safe roots made outside of an op with regions that are written inside it."""
        inside = set(op.walk())
        return [
            root
            for root, ops in self.writes.items()
            if root not in self.unsafe
            and any(write in inside for write in ops)
            and not (isinstance(root.owner, Operation) and root.owner in inside)
            and not (isinstance(root.owner, Block) and root.owner.parent_op() in inside)
        ]

    def _root(self, value: SSAValue) -> None:
        self.root_of[value] = value
        self.type_of[value] = value.type
        self._made[value] = self._count

    def _relate(self, values: Iterable[SSAValue]) -> None:
        """From here on these may share memory."""
        roots = list(dict.fromkeys(self.root_of[v] for v in values if v in self.root_of))
        for first in roots[:1]:
            for other in roots[1:]:
                self._relations[first].append((self._count, other))
                self._relations[other].append((self._count, first))

    def _visit(self, block: Block) -> None:
        for op in block.ops:
            self._count += 1
            self._position[op] = self._count
            for operand in op.operands:
                if operand in self.root_of:
                    self._uses[self.root_of[operand]].append(self._count)
            match op:
                case core.PrimIfOp():
                    self._branch(op)
                case core.PrimLoopOp():
                    self._loop(op)
                case _:
                    self._straight(op)

    def _branch(self, op: core.PrimIfOp) -> None:
        for region in op.regions:
            self._visit(region.block)
        self._count += 1
        ends = [region.block.last_op for region in op.regions]
        for index, result in enumerate(op.results):
            if is_tracked(result.type):
                self._root(result)
                for end in ends:
                    if end is not None:
                        self._relate([result, end.operands[index]])

    def _loop(self, op: core.PrimLoopOp) -> None:
        block = op.regions[0].block
        start = self._count
        carried = [index for index, result in enumerate(op.results) if is_tracked(result.type)]
        for index in carried:
            argument = block.args[1 + index]
            self._root(argument)
            self._carried.add(argument)
            self._relate([argument, op.operands[2 + index]])
        self._visit(block)
        end = block.last_op
        following: Sequence[SSAValue] = end.operands[1:] if end is not None else ()
        for index in carried:
            self._relate([block.args[1 + index], following[index]])
        self._loops.append((start, self._count))
        self._count += 1
        for index in carried:
            self._root(op.results[index])
            for other in (following[index], op.operands[2 + index]):
                self._relate([op.results[index], other])

    def _straight(self, op: Operation) -> None:
        operands = [o for o in op.operands if is_mutable(o.type)]
        results = [r for r in op.results if is_mutable(r.type)]
        if not any(is_tracked(v.type) for v in (*operands, *results)):
            return
        if op.name in EXACT_VIEWS:
            result, whole = op.results[0], op.operands[0]
            if whole not in self.root_of:
                return
            self.root_of[result] = self.root_of[whole]
            self.type_of[result] = result.type
            self.view_of[result] = op
            return
        kind = effect(op)
        for result in results:
            self._root(result)
        plain = all(isinstance(v.type, t.NonValueTensorType) for v in (*operands, *results))
        if isinstance(op, core.OverwriteTensorContentsOp):
            root = self.root_of[op.operands[1]]
            self.writes[root].append(op)
            if not self._can_write(op.operands[1]):
                self.unsafe.add(root)
        elif kind in (Effect.UNKNOWN, Effect.WRITE) or isinstance(op, core.NonValueTensorLiteralOp):
            self.unsafe.update(self.root_of[v] for v in (*operands, *results) if v in self.root_of)
            self._relate([*operands, *results])
            for index in written(op):
                if op.operands[index] in self.root_of:
                    self.writes[self.root_of[op.operands[index]]].append(op)
        elif _unpacks_new_tensors(op):
            pass
        elif op.results and (kind is Effect.ALIAS or not plain):
            self._relate([*operands, *results])
            if not all(is_tracked(v.type) for v in results):
                self.unsafe.update(self.root_of[v] for v in operands if v in self.root_of)

    def _can_write(self, value: SSAValue) -> bool:
        """Whether a write to a view can be said of the whole."""
        while (view := self.view_of.get(value)) is not None:
            if write_back(view) is None:
                return False
            value = view.operands[0]
        return True

    def _check(self) -> None:
        """Finds the roots that are used after a related one was written."""
        for root, writes in self.writes.items():
            for write in writes:
                position = self._position[write]
                for other in self._seen_through(root, position):
                    if self._used_after(other, position):
                        self.unsafe.update((root, other))
        work = list(self.unsafe)
        while work:
            for _, other in self._relations[work.pop()]:
                if other not in self.unsafe:
                    self.unsafe.add(other)
                    work.append(other)

    def _seen_through(self, root: SSAValue, position: int) -> Iterator[SSAValue]:
        """The roots that may share memory with one that is written at a place."""
        seen = {root}
        work = [(root, False)]
        while work:
            current, earlier = work.pop()
            for since, other in self._relations[current]:
                if other in seen:
                    continue
                again = since > position
                loops = self._common(since, position) if again else []
                if again and not loops:
                    continue
                seen.add(other)
                work.append((other, earlier or again))
                outside = not any(self._inside(other, loop) for loop in loops)
                if not (earlier or again) or outside or other in self._carried:
                    yield other

    def _used_after(self, root: SSAValue, position: int) -> bool:
        return any(
            use > position
            or any(not self._inside(root, loop) for loop in self._common(use, position))
            for use in self._uses[root]
        )

    def _common(self, first: int, second: int) -> list[tuple[int, int]]:
        """The loops that two places are in."""
        return [
            (start, end)
            for start, end in self._loops
            if start < first <= end and start < second <= end
        ]

    def _inside(self, root: SSAValue, loop: tuple[int, int]) -> bool:
        """Whether a root is made anew in each iteration of a loop."""
        start, end = loop
        return start <= self._made[root] <= end and (
            self._made[root] > start or root in self._carried
        )
