"""``torch-maximize-value-semantics``: tensors that are written become the values they hold at each place.

A write to a view is a new value of the whole; what a branch writes is one more result of the branch, what a loop writes
one more value that it carries. Tensors for which this would not be the truth (see :mod:`memory`) are left as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from torch2mlir.dialects.placing import place_before
from torch2mlir.dialects.set_type import set_type
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.errors import PassError
from torch2mlir.transforms.adjust_calling_conventions import cast_tensor
from torch2mlir.transforms.aliasing.memory import Memory, is_tracked
from torch2mlir.transforms.aliasing.views import EXACT_VIEWS, write_back
from torch2mlir.transforms.reduce_op_variants import value_type


class _Values:
    """Rewrites one function: follows what each tensor holds, in program order."""

    def __init__(self, function: FuncOp) -> None:
        self.memory = Memory(function)
        self.held = dict[SSAValue, SSAValue]()
        self.version = dict[SSAValue, int]()
        self.known = dict[SSAValue, tuple[int, SSAValue]]()
        self.dead = list[Operation]()
        self.emitted = list[Operation]()
        self.writes = 0

    def run(self, block: Block) -> None:
        self._follow(block)
        for op in reversed(self.dead):
            op.detach()
            op.erase()
        for op in reversed(self.emitted):
            if op.parent is not None and all(r.first_use is None for r in op.results):
                op.detach()
                op.erase()

    def _set(self, root: SSAValue, value: SSAValue) -> None:
        """From here on the memory of ``root`` holds ``value``."""
        self.writes += 1
        self.held[root], self.version[root] = value, self.writes

    def _read(self, builder: Builder, value: SSAValue) -> SSAValue:
        """What a tensor holds here; itself if it cannot be followed."""
        if not self.memory.is_safe(value):
            return value
        root = self.memory.root_of[value]
        if value is root:
            return self.held[root]
        version, known = self.known.get(value, (-1, value))
        if version == self.version[root]:
            return known
        view = self.memory.view_of[value]
        whole = self._read(builder, view.operands[0])
        type = value_type(value.type)
        if isinstance(view, core.TensorStaticInfoCastOp):
            part = self._cast(builder, whole, type)
        else:
            others = [self._as_value(builder, operand) for operand in view.operands[1:]]
            op = view.__class__.create(
                operands=[whole, *others], result_types=[type], location=view.location
            )
            self.emitted.append(builder.insert(op))
            part = op.results[0]
        part.name_hint = part.name_hint or value.name_hint
        self.known[value] = (self.version[root], part)
        return part

    def _as_value(self, builder: Builder, value: SSAValue) -> SSAValue:
        """An operand of an op that reads it."""
        if isinstance(value.type, t.NonValueTensorType) and not self.memory.is_safe(value):
            return cast_tensor(builder, value, value_type(value.type))
        return self._read(builder, value)

    def _cast(self, builder: Builder, value: SSAValue, type: Attribute) -> SSAValue:
        """A value under a type that says more or less of it."""
        if value.type == type:
            return value
        if isinstance(type, t.AnyTensorType):
            return cast_tensor(builder, value, type)
        op = core.DerefineOp.create(operands=[value], result_types=[type])
        return builder.insert(op).results[0]

    def _write(self, builder: Builder, value: SSAValue, target: SSAValue) -> None:
        """The memory of ``target`` gets new contents: so does what it is a view of."""
        value = self._cast(builder, value, value_type(target.type))
        while (view := self.memory.view_of.get(target)) is not None:
            whole = self._read(builder, view.operands[0])
            into = write_back(view)
            if into is None:
                raise PassError(f"'{view.name}' cannot be written through", op=str(view))
            changed = into(builder, view, whole, value)
            value = self._cast(builder, changed, value_type(view.operands[0].type))
            target = view.operands[0]
        self._set(target, value)

    def _follow(self, block: Block) -> None:
        for op in list(block.ops):
            match op:
                case core.PrimIfOp():
                    self._branch(op)
                case core.PrimLoopOp():
                    self._loop(op)
                case core.PrimIfYieldOp() | core.PrimLoopConditionOp():
                    pass
                case _:
                    self._straight(op)

    def _straight(self, op: Operation) -> None:
        if not any(self.memory.is_safe(v) for v in (*op.operands, *op.results)):
            return
        builder = Builder(InsertPoint.before(op))
        if isinstance(op, core.OverwriteTensorContentsOp):
            self._write(builder, op.operands[0], op.operands[1])
            self.dead.append(op)
        elif isinstance(op, core.CopyToNonValueTensorOp):
            self._set(op.results[0], op.operands[0])
            self.dead.append(op)
        elif isinstance(op, core.CopyToValueTensorOp):
            held = self._read(builder, op.operands[0])
            op.results[0].replace_all_uses_with(self._cast(builder, held, op.results[0].type))
            self.dead.append(op)
        elif op.name in EXACT_VIEWS:
            self._read(builder, op.results[0])
            self.dead.append(op)
        elif isinstance(op, ReturnOp):
            op.operands = [self._returned(builder, operand) for operand in op.operands]
        else:
            self._retype(builder, op)

    def _returned(self, builder: Builder, value: SSAValue) -> SSAValue:
        """A result of the function, of the type it was."""
        type = self.memory.type_of.get(value, value.type)
        held = self._read(builder, value)
        return cast_tensor(builder, held, type) if isinstance(type, t.NonValueTensorType) else held

    def _retype(self, builder: Builder, op: Operation) -> None:
        """An op that reads, or that makes something of what it gets: the same with values."""
        op.operands = [self._as_value(builder, operand) for operand in op.operands]
        after = Builder(InsertPoint.after(op))
        for result in op.results:
            if self.memory.is_safe(result):
                set_type(result, value_type(result.type))
                self._set(result, result)
            elif isinstance(result.type, t.NonValueTensorType):
                type, uses = result.type, list(result.uses)
                set_type(result, value_type(type))
                copy = cast_tensor(after, result, type)
                for use in uses:
                    use.operation.operands[use.index] = copy

    def _region(
        self,
        block: Block,
        end: Operation,
        skipped: int,
        roots: Sequence[SSAValue],
        carried: set[int],
    ) -> None:
        """Follows a region; it hands on values, and what the memory of ``roots`` holds at its end."""
        held, version, known = self.held.copy(), self.version.copy(), self.known.copy()
        self._follow(block)
        builder = Builder(InsertPoint.before(end))
        operands = list(end.operands)
        for index in carried:
            operand = operands[skipped + index]
            operands[skipped + index] = self._handed_on(builder, operand, value_type(operand.type))
        operands += [self._cast(builder, self.held[r], value_type(r.type)) for r in roots]
        end.operands = operands
        self.held, self.version, self.known = held, version, known

    def _handed_on(self, builder: Builder, value: SSAValue, type: Attribute) -> SSAValue:
        return self._cast(builder, self._read(builder, value), type)

    def _branch(self, op: core.PrimIfOp) -> None:
        roots = self.memory.written_in(op)
        safe = {i for i, r in enumerate(op.results) if self.memory.is_safe(r)}
        for region in op.regions:
            if (end := region.block.last_op) is not None:
                self._region(region.block, end, 0, roots, safe)
        types = [value_type(r.type) if i in safe else r.type for i, r in enumerate(op.results)]
        new = core.PrimIfOp.create(
            operands=op.operands,
            result_types=[*types, *(value_type(r.type) for r in roots)],
            regions=[op.detach_region(0), op.detach_region(0)],
            attributes=op.attributes,
            location=op.location,
        )
        self._replace(op, new, roots, safe)

    def _loop(self, op: core.PrimLoopOp) -> None:
        roots = self.memory.written_in(op)
        safe = {i for i, r in enumerate(op.results) if self.memory.is_safe(r)}
        block = op.regions[0].block
        builder = Builder(InsertPoint.before(op))
        operands = list(op.operands)
        for index in safe:
            first, argument = operands[2 + index], block.args[1 + index]
            type = value_type(argument.type)
            operands[2 + index] = self._handed_on(builder, first, type)
        operands += [self._cast(builder, self.held[r], value_type(r.type)) for r in roots]
        outer = self.held.copy(), self.version.copy()
        for index in safe:
            argument = block.args[1 + index]
            set_type(argument, value_type(argument.type))
            self._set(argument, argument)
        for root in roots:
            argument = block.insert_arg(value_type(root.type), len(block.args))
            argument.name_hint = root.name_hint
            self._set(root, argument)
        if (end := block.last_op) is not None:
            self._region(block, end, 1, roots, safe)
        self.held, self.version = outer
        types = [value_type(r.type) if i in safe else r.type for i, r in enumerate(op.results)]
        new = core.PrimLoopOp.create(
            operands=operands,
            result_types=[*types, *(value_type(r.type) for r in roots)],
            regions=[op.detach_region(0)],
            attributes=op.attributes,
            location=op.location,
        )
        self._replace(op, new, roots, safe)

    def _replace(
        self, op: Operation, new: Operation, roots: Sequence[SSAValue], safe: set[int]
    ) -> None:
        """Puts a branch or loop in place; what it wrote is what its last results are."""
        place_before(op, new)
        for index, (old, result) in enumerate(zip(op.results, new.results, strict=False)):
            result.name_hint = old.name_hint
            if index in safe:
                self._set(old, result)
            else:
                old.replace_all_uses_with(result)
                if old in self.memory.root_of:
                    self.memory.root_of[result] = result
                    self.memory.unsafe.add(result)
        for root, result in zip(roots, new.results[len(op.results) :], strict=True):
            self._set(root, result)
        self.dead.append(op)


def maximize_value_semantics(function: FuncOp) -> None:
    """Rewrites one function, if it has tensors that can be written."""
    if len(function.body.blocks) == 1 and any(
        is_tracked(result.type) for op in function.walk() for result in op.results
    ):
        _Values(function).run(function.body.block)


@dataclass(frozen=True)
class MaximizeValueSemanticsPass(ModulePass):
    """See the module's docstring."""

    name = "torch-maximize-value-semantics"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.ops:
            if isinstance(function, FuncOp):
                maximize_value_semantics(function)
