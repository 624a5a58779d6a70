"""``torch-inline-global-slots``: private slots that are never written become the values they are initialized with.

A slot stays when it is public or set, or when what it holds may be changed by any name it goes by: a tensor taken from
a list in a slot is a part of the slot.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from torch2mlir.dialects.placing import place_before
from torch2mlir.dialects.rows import RowOp
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.object_graph import (
    GlobalSlotGetOp,
    GlobalSlotModuleInitializerOp,
    GlobalSlotOp,
    GlobalSlotSetOp,
    InitializeGlobalSlotsOp,
)
from torch2mlir.transforms.aliasing.effects import Effect, effect, is_mutable, written

Node = SSAValue | str
"""A value, or the name of a slot."""


class _Flow:
    """Which values may be, or be part of, which others; and what is written."""

    def __init__(self, module: ModuleOp) -> None:
        self.sources = defaultdict[Node, list[Node]](list)
        self.written = list[Node]()
        self.functions = {f.sym_name.data: f for f in module.ops if isinstance(f, FuncOp)}
        for op in module.walk():
            self._follow(op)

    def changeable(self) -> set[Node]:
        """Everything that may be written, by whatever name."""
        seen = set[Node]()
        work = list(self.written)
        while work:
            node = work.pop()
            if node not in seen:
                seen.add(node)
                work += self.sources[node]
        return seen

    def _into(self, target: Node, sources: Iterable[Node]) -> None:
        self.sources[target] += sources

    def _follow(self, op: Operation) -> None:
        mutable = [v for v in op.operands if is_mutable(v.type)]
        if isinstance(op, GlobalSlotGetOp):
            self._into(op.result, [op.slot.string_value()])
        elif isinstance(op, GlobalSlotSetOp):
            self._into(op.slot.string_value(), [op.value])
        elif isinstance(op, InitializeGlobalSlotsOp):
            for name, value in zip(op.slot_names.data, op.initial_values, strict=True):
                self._into(name.string_value(), [value])
        elif isinstance(op, core.PrimIfOp):
            for region in op.regions:
                self._join(op.results, region.block.last_op, 0)
        elif isinstance(op, core.PrimLoopOp):
            body = op.regions[0].block
            for argument, first in zip(body.args[1:], op.operands[2:], strict=True):
                self._into(argument, [first])
            self._join(body.args[1:], body.last_op, 1)
            self._join(op.results, body.last_op, 1)
            for result, first in zip(op.results, op.operands[2:], strict=True):
                self._into(result, [first])
        elif isinstance(op, CallOp) and op.callee.string_value() in self.functions:
            self._call(op, self.functions[op.callee.string_value()])
        elif mutable:
            kind = effect(op)
            if kind is Effect.UNKNOWN:
                self.written += mutable
            if kind is Effect.WRITE:
                self.written += [op.operands[index] for index in written(op)]
            if kind is not Effect.VALUE:
                for result in op.results:
                    self._into(result, mutable)

    def _join(self, targets: Sequence[SSAValue], end: Operation | None, skipped: int) -> None:
        """What a region's terminator hands on."""
        if end is not None:
            for target, value in zip(targets, end.operands[skipped:], strict=True):
                self._into(target, [value])

    def _call(self, call: CallOp, callee: FuncOp) -> None:
        if not callee.body.blocks:
            self.written += call.arguments
            return
        for argument, value in zip(callee.body.blocks.first.args, call.arguments, strict=True):  # type: ignore[union-attr]
            self._into(argument, [value])
        for block in callee.body.blocks:
            if isinstance(end := block.last_op, ReturnOp):
                for result, value in zip(call.results, end.operands, strict=True):
                    self._into(result, [value])


def _slice(value: SSAValue) -> list[Operation]:
    """The ops of the initializer that compute a value, in order."""
    needed = set[Operation]()
    work = [value.owner]
    while work:
        op = work.pop()
        if isinstance(op, Operation) and op not in needed:
            needed.add(op)
            work += [operand.owner for operand in op.operands]
    block = value.owner.parent if isinstance(value.owner, Operation) else None
    return [op for op in block.ops if op in needed] if isinstance(block, Block) else []


def _inline(get: RowOp, value: SSAValue) -> None:
    """Computes a slot's initial value where the slot was read."""
    copies = dict[SSAValue, SSAValue]()
    for op in _slice(value):
        clone = op.clone(copies)
        clone.location = op.location
        place_before(get, clone)
    replacement = copies[value]
    if replacement.type != get.result.type:
        tensor = isinstance(get.result.type, t.AnyTensorType)
        kind = core.TensorStaticInfoCastOp if tensor else core.DerefineOp
        cast = kind.create(operands=[replacement], result_types=[get.result.type])
        place_before(get, cast)
        replacement = cast.results[0]
    get.result.replace_all_uses_with(replacement)
    get.detach()
    get.erase()


def without_slots(initializer: InitializeGlobalSlotsOp, slots: Iterable[GlobalSlotOp]) -> None:
    """Erases slots that nobody uses, with what the initializer computes for them alone."""
    removed = set[str]()
    for slot in slots:
        removed.add(slot.sym_name.data)
        slot.detach()
        slot.erase()
    pairs = [
        (name, value)
        for name, value in zip(initializer.slot_names.data, initializer.initial_values, strict=True)
        if name.string_value() not in removed
    ]
    initializer.properties["slotSymNames"] = ArrayAttr(name for name, _ in pairs)
    initializer.operands = [value for _, value in pairs]
    op = initializer.prev_op
    while op is not None:
        previous = op.prev_op
        if all(result.first_use is None for result in op.results):
            op.detach()
            op.erase()
        op = previous


@dataclass(frozen=True)
class InlineGlobalSlotsPass(ModulePass):
    """See the module's docstring."""

    name = "torch-inline-global-slots"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        slots = {s.sym_name.data: s for s in op.ops if isinstance(s, GlobalSlotOp)}
        regions = [i for i in op.ops if isinstance(i, GlobalSlotModuleInitializerOp)]
        if not slots or not regions:
            return
        initializer = regions[0].body.block.last_op
        if not isinstance(initializer, InitializeGlobalSlotsOp):
            return
        initial = {
            name.string_value(): value
            for name, value in zip(
                initializer.slot_names.data, initializer.initial_values, strict=True
            )
        }
        gets = [get for get in op.walk() if isinstance(get, GlobalSlotGetOp)]
        kept = {s.slot.string_value() for s in op.walk() if isinstance(s, GlobalSlotSetOp)}
        kept |= {n for n, s in slots.items() if s.sym_visibility != StringAttr("private")}
        changeable = _Flow(op).changeable()
        inlined = {name for name in initial.keys() & slots.keys() if name not in kept}
        inlined = {
            name
            for name in inlined
            if not is_mutable(initial[name].type)
            or not any(r in changeable for o in _slice(initial[name]) for r in o.results)
        }
        for get in gets:
            if (name := get.slot.string_value()) in inlined:
                _inline(get, initial[name])
        without_slots(initializer, [slots[name] for name in inlined])
