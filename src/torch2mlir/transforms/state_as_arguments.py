"""``torch-state-as-arguments``: tensors in global slots that functions change become arguments and results.

After the arguments of a public function that reads or writes such slots come the tensors they hold before the call;
before its results come the tensors they hold after it. Calls are inlined first. Slots of other things than one tensor
are left: numbers and lists that change are no values of the backend contract.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.object_graph import (
    GlobalSlotGetOp,
    GlobalSlotModuleInitializerOp,
    GlobalSlotOp,
    GlobalSlotSetOp,
    InitializeGlobalSlotsOp,
)
from torch2mlir.dialects.torch.symbols import retype_function
from torch2mlir.transforms.adjust_calling_conventions import cast_tensor
from torch2mlir.transforms.folding.casts import underived
from torch2mlir.transforms.inline_global_slots import without_slots

Held = dict[str, SSAValue]
"""Slot -> the tensor it refers to at some place of a function."""


@dataclass(frozen=True)
class State:
    """A tensor that a function takes and gives back.

    Attributes:
        name: of its slot.
        elements: it has these before the first call.
        type: of the argument and the result.
    """

    name: str
    elements: Attribute
    type: t.ValueTensorType


@dataclass
class _Cell:
    """One tensor and the slots that refer to it at first."""

    state: State
    slots: list[GlobalSlotOp]


def _type_bound(slot: GlobalSlotOp) -> Attribute:
    """The type that everything a slot may refer to has."""
    bound = slot.type_bound
    return bound.contained if isinstance(bound, t.OptionalType) else bound


def _cells(module: ModuleOp, initializer: InitializeGlobalSlotsOp) -> list[_Cell]:
    """The tensors in the module's slots that can be state."""
    assigned = dict[str, list[SSAValue]]()
    for op in module.walk():
        if isinstance(op, GlobalSlotSetOp):
            assigned.setdefault(op.slot.string_value(), []).append(underived(op.value))
    slots = {op.sym_name.data: op for op in module.ops if isinstance(op, GlobalSlotOp)}
    named = defaultdict[SSAValue, list[GlobalSlotOp]](list)
    for name, value in zip(initializer.slot_names.data, initializer.initial_values, strict=True):
        named[underived(value)].append(slots[name.string_value()])
    cells = list[_Cell]()
    for value, sharing in named.items():
        literal, tensor = value.owner, value.type
        if not isinstance(literal, core.NonValueTensorLiteralOp) or not isinstance(
            tensor, t.NonValueTensorType
        ):
            continue
        given = [v for slot in sharing for v in assigned.get(slot.sym_name.data, ())]
        if len(sharing) > 1 and given:
            continue  # two names of one tensor, of which one comes to mean another
        types = [*map(_type_bound, sharing), *(v.type for v in given)]
        if not all(isinstance(type, t.NonValueTensorType) for type in types):
            continue
        type = t.ValueTensorType.of(tensor.sizes, tensor.dtype)
        cells.append(_Cell(State(sharing[0].sym_name.data, literal.value, type), sharing))
    return cells


class _Rewriter:
    """Makes the slots of a function what they refer to: values that branches and loops hand on.

    Args:
        bounds: slot -> the type of what it refers to where branches meet.
    """

    def __init__(self, bounds: Mapping[str, Attribute]) -> None:
        self._bounds = bounds

    def run(self, block: Block, held: Held) -> Held:
        """Rewrites a block that begins with ``held``; what is held at its end."""
        for op in list(block.ops):
            builder = Builder(InsertPoint.before(op))
            match op:
                case GlobalSlotGetOp() if op.slot.string_value() in held:
                    value = held[op.slot.string_value()]
                    op.result.replace_all_uses_with(_of_type(builder, value, op.result.type))
                    _erase(op)
                case GlobalSlotSetOp() if op.slot.string_value() in held:
                    held[op.slot.string_value()] = underived(op.value)
                    _erase(op)
                case core.PrimIfOp() | core.PrimLoopOp():
                    self._region_op(op, held)
                case _:
                    pass
        return held

    def _region_op(self, op: core.PrimIfOp | core.PrimLoopOp, held: Held) -> None:
        """A branch or a loop has a result more for each slot that comes to refer to something else in it."""
        names = sorted(
            {s.slot.string_value() for s in op.walk() if isinstance(s, GlobalSlotSetOp)}
            & held.keys()
        )
        types = [self._bounds[name] for name in names]
        before = Builder(InsertPoint.before(op))
        operands = list(op.operands)
        loops = isinstance(op, core.PrimLoopOp)
        if loops:
            operands += self._handed_on(before, held, names)
        for region in op.regions:
            block, inner = region.block, dict(held)
            if loops:
                for name, type in zip(names, types, strict=True):
                    inner[name] = block.insert_arg(type, len(block.args))
            after = self.run(block, inner)
            if (end := block.last_op) is not None:
                builder = Builder(InsertPoint.before(end))
                end.operands = [*end.operands, *self._handed_on(builder, after, names)]
        if not names:
            return
        new = op.__class__.create(
            operands=operands,
            result_types=[*op.result_types, *types],
            regions=[op.detach_region(0) for _ in list(op.regions)],
            attributes=op.attributes,
            location=op.location,
        )
        before.insert(new)
        for old, result in zip(op.results, new.results, strict=False):
            old.replace_all_uses_with(result)
        held.update(zip(names, new.results[len(op.results) :], strict=True))
        _erase(op)

    def _handed_on(self, builder: Builder, held: Held, names: Sequence[str]) -> list[SSAValue]:
        return [_of_type(builder, held[name], self._bounds[name]) for name in names]


def _of_type(builder: Builder, value: SSAValue, type: Attribute) -> SSAValue:
    if value.type == type or isinstance(type, t.AnyTensorType):
        return cast_tensor(builder, value, type)
    return builder.insert(core.DerefineOp.create(operands=[value], result_types=[type])).results[0]


def _erase(op: Operation) -> None:
    op.detach()
    op.erase()


def _adjust(function: FuncOp, cells: Sequence[_Cell]) -> list[State]:
    """Gives a function the arguments and results for the slots it uses."""
    used = {
        op.slot.string_value()
        for op in function.walk()
        if isinstance(op, GlobalSlotGetOp | GlobalSlotSetOp)
    }
    cells = [cell for cell in cells if any(slot.sym_name.data in used for slot in cell.slots)]
    block = function.body.block
    end = block.last_op
    if not cells or not isinstance(end, ReturnOp):
        return []
    start, held, bounds = Builder(InsertPoint.at_start(block)), Held(), dict[str, Attribute]()
    for cell in cells:
        argument = block.insert_arg(cell.state.type, len(block.args))
        argument.name_hint = cell.state.name.rpartition(".")[2]
        type = t.NonValueTensorType.of(cell.state.type.sizes, cell.state.type.dtype)
        memory = cast_tensor(start, argument, type)
        for slot in cell.slots:
            held[slot.sym_name.data] = memory
            bounds[slot.sym_name.data] = _type_bound(slot)
    if function.arg_attrs is not None:
        added = [DictionaryAttr({}) for _ in cells]
        function.properties["arg_attrs"] = ArrayAttr([*function.arg_attrs.data, *added])
    held = _Rewriter(bounds).run(block, held)
    finish = Builder(InsertPoint.before(end))
    results = list[SSAValue]()
    for cell in cells:
        value = held[cell.slots[0].sym_name.data]
        tensor = value.type
        assert isinstance(tensor, t.AnyTensorType)
        results.append(cast_tensor(finish, value, t.vtensor(tensor.sizes, tensor.dtype)))
    end.operands = [*results, *end.operands]
    retype_function(function)
    return [cell.state for cell in cells]


def state_as_arguments(module: ModuleOp) -> dict[str, list[State]]:
    """Public function -> its state: its last arguments, and its first results; changes the module in place."""
    initializer = next(
        (
            op.body.block.last_op
            for op in module.ops
            if isinstance(op, GlobalSlotModuleInitializerOp)
        ),
        None,
    )
    if not isinstance(initializer, InitializeGlobalSlotsOp) or any(
        isinstance(op, CallOp) for op in module.walk()
    ):
        return {}
    cells = _cells(module, initializer)
    states = {
        function.sym_name.data: _adjust(function, cells)
        for function in module.ops
        if isinstance(function, FuncOp) and function.sym_visibility != StringAttr("private")
    }
    without_slots(initializer, [slot for cell in cells for slot in cell.slots])
    return states


@dataclass(frozen=True)
class StateAsArgumentsPass(ModulePass):
    """See the module's docstring."""

    name = "torch-state-as-arguments"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        state_as_arguments(op)
