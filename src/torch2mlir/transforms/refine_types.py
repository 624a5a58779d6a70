"""``torch-refine-types``: ranks, sizes and dtypes from PyTorch's meta kernels, op by op.

Anonymous ``?`` sizes of function arguments become symbols; what the arguments' sizes determine is then known of every
value. ``torch.tensor_static_info_cast`` of what is now known disappears. The result of a branch is what both sides have
in common; what a loop carries is of the most specific type that every iteration keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue, Use
from xdsl.passes import ModulePass

from torch2mlir.dialects.placing import end_of, ops_in
from torch2mlir.dialects.set_type import set_type
from torch2mlir.dialects.torch import core, dims
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import INT64_MAX
from torch2mlir.dialects.torch.lists import is_written
from torch2mlir.dialects.torch.ops import RegistryOp
from torch2mlir.dialects.torch.symbols import bind_shape, resolve_shapes, retype_function
from torch2mlir.dialects.torch.values import Values
from torch2mlir.errors import BackendContractError
from torch2mlir.transforms.folding.casts import is_refinement, underived
from torch2mlir.transforms.folding.constants import as_type, insert_before, list_before
from torch2mlir.transforms.folding.containers import members_of
from torch2mlir.transforms.folding.handed_on import is_uninitialized
from torch2mlir.transforms.folding.unroll import CHANGES_TYPES
from torch2mlir.transforms.semantics.fake import FakeWorld
from torch2mlir.transforms.semantics.meta_calls import (
    MetaCalls,
    Undetermined,
    is_typed_by_decomposition,
)
from torch2mlir.transforms.semantics.needs import Needs
from torch2mlir.transforms.typing.number_types import number_type
from torch2mlir.transforms.typing.type_lattice import (
    as_class,
    has_rank_and_dtype,
    is_known,
    join,
    meet,
)

_MOST_ROUNDS = 8
"""Rounds over a loop's body before sizes that still change are given up."""


class _Refiner:
    """Refines the types of one module's values."""

    def __init__(self, module: ModuleOp) -> None:
        self.meta = MetaCalls(FakeWorld.of(module))
        self.values = Values()
        self._retyped = set[SSAValue]()
        self._unset = set[SSAValue]()
        self._visitors: dict[type[Operation], Callable[..., None]] = {
            core.PrimIfOp: self._visit_branch,
            core.PrimLoopOp: self._visit_loop,
            core.TensorStaticInfoCastOp: self._visit_cast,
            core.CopyToNonValueTensorOp: self._visit_copy,
            core.CopyToValueTensorOp: self._visit_copy,
            core.PrimListUnpackOp: self._visit_unpack,
        }

    def run(self, function: FuncOp) -> None:
        """Refines the body of a function and with it the function's type."""
        blocks = list(function.body.blocks)
        if not blocks:
            return
        self._name_sizes(blocks[0])
        for block in blocks:
            self._visit(block, certain=True)
        _settle_casts(function)
        retype_function(function)

    def _name_sizes(self, block: Block) -> None:
        """Gives every unknown size of an argument a symbol of its own."""
        taken = {op.symbol for op in block.ops if isinstance(op, core.SymbolicIntOp)}
        first = block.first_op
        for arg in block.args:
            type = arg.type
            if not isinstance(type, t.ValueTensorType) or not type.sizes or None not in type.sizes:
                continue
            sizes, declared = list(type.sizes), {}
            for index, size in enumerate(sizes):
                if size is None:
                    number = len(taken)
                    while f"s{number}" in taken:
                        number += 1
                    name = f"s{number}"
                    taken.add(name)
                    sizes[index] = dims.symbol(name)
                    op = core.SymbolicIntOp.of(name, 0, INT64_MAX)
                    declared[name] = op.results[0]
                    if first is not None:
                        block.insert_op_before(op, first)
            set_type(arg, t.vtensor(tuple(sizes), type.dtype))
            if (bind := bind_shape(arg, declared)) is not None and first is not None:
                block.insert_op_before(bind, first)

    def _visit(self, block: Block, certain: bool) -> None:
        """Refines the ops of a block; what PyTorch rejects is an error if the block is ``certain`` to run."""
        for op in list(block.ops):
            visitor = self._visitors.get(type(op))
            if visitor is not None:
                visitor(op, certain)
            elif is_typed_by_decomposition(op) or not self._retyped.isdisjoint(op.operands):
                self._retype(op, certain)
            elif isinstance(op, RegistryOp) and not all(map(is_known, _typed(op))):
                self._refine(op, certain)
            elif isinstance(op, core.OperatorOp) and not all(map(is_known, _typed(op))):
                self._run(op, certain)

    def _retype(self, op: Operation, certain: bool) -> None:
        """Gives an op's results their dtypes where those of fake tensors were wrong, of it or of its operands."""
        before = list(op.result_types)
        self._run(op, certain)
        made = isinstance(op, core.PrimListConstructOp)
        changed = zip(op.results, before, strict=True)
        self._retyped.update(result for result, type in changed if made or result.type != type)

    def _refine(self, op: RegistryOp, certain: bool) -> None:
        result = op.results[0] if len(op.results) == 1 else None
        if result is not None and isinstance(result.type, t.NumberType | t.AnyType):
            if (kind := number_type(op)) is not None:
                set_type(result, kind)
            return
        if (sources := self._sources(op)) is not None:
            for result, source in zip(op.results, sources, strict=True):
                _set(result, source.type)
            return
        if _is_on_tensors(op):
            self._run(op, certain)

    def _run(self, op: Operation, certain: bool) -> None:
        """Refines the results by PyTorch's meta kernel."""
        if not any(isinstance(result.type, _REFINED) for result in op.results):
            return
        try:
            types = self.meta.result_types(op, self.values)
        except Undetermined:
            return
        except BackendContractError:
            if certain:
                raise
            return
        if certain or isinstance(op.results[0].type, t.ListType):  # lists are replaced by parts
            needs = Needs(self.meta.world.given, self.values)
            needs.note(op, types)
            needs.note_questions(op, self.meta.questions, self.meta.world.names())
        self._set_results(op, types)

    def _sources(self, op: RegistryOp) -> Sequence[SSAValue] | None:
        """The values that an op's results are."""
        if op.name in _CASTS:
            return [underived(op.operands[0])]
        if op.name not in _ITEMS:
            return None
        members = members_of(op.operands[0])
        if members is None or op.name == "torch.prim.TupleUnpack":
            return members
        index = self.values.of(op.operands[1])
        inside = isinstance(index, int) and -len(members) <= index < len(members)
        return [members[index]] if inside else None

    def _set_results(self, op: Operation, types: Sequence[Attribute | None]) -> None:
        if len(op.results) == 1 and isinstance(op.results[0].type, t.ListType):
            self._set_members(op.results[0], types)
            return
        for result, type in zip(op.results, types, strict=False):
            _set(result, type)

    def _set_members(self, result: SSAValue, types: Sequence[Attribute | None]) -> None:
        """Gives types to the members of a list of tensors, where they are taken out."""
        if is_written(result):
            return
        for use in list(result.uses):
            taker = use.operation
            if isinstance(taker, core.PrimListUnpackOp):
                for member, type in zip(taker.results, types, strict=False):
                    _set(member, type)
            elif taker.name == "torch.aten.__getitem__.t":
                index = self.values.of(taker.operands[1])
                if isinstance(index, int) and -len(types) <= index < len(types):
                    members = _unpacked(taker, result, types)
                    taker.results[0].replace_all_uses_with(members[index])
            elif _takes_whole(taker):
                _take_out(use, types)

    def _visit_cast(self, op: Operation, certain: bool) -> None:
        given, result = op.operands[0].type, op.results[0]
        if isinstance(given, t.AnyTensorType) and isinstance(result.type, t.AnyTensorType):
            set_type(result, meet(given, result.type))

    def _visit_copy(self, op: Operation, certain: bool) -> None:
        given, result = op.operands[0].type, op.results[0]
        if isinstance(given, t.AnyTensorType) and isinstance(result.type, t.AnyTensorType):
            set_type(result, meet(as_class(given, result.type), result.type))  # type: ignore[arg-type]

    def _visit_unpack(self, op: Operation, certain: bool) -> None:
        members = members_of(op.operands[0])
        if members is not None and len(members) == len(op.results):
            for result, member in zip(op.results, members, strict=True):
                _set(result, member.type)

    def _visit_branch(self, op: core.PrimIfOp, certain: bool) -> None:
        condition = self.values.of(op.operands[0])
        taken = (
            op.regions if not isinstance(condition, bool) else [op.regions[0 if condition else 1]]
        )
        for region in taken:
            self._visit(region.block, certain and len(taken) == 1)
        ends = [region.block.last_op for region in taken]
        for i, result in enumerate(op.results):
            yielded = [end.operands[i] for end in ends if end is not None]
            given = [underived(value) for value in yielded if not self._is_unset(value)]
            if not given:
                self._unset.add(result)
            type = _joined([value.type for value in given])
            if type is not None and type != result.type and is_refinement(type, result.type):
                for region in op.regions:
                    end = end_of(region.block)
                    source = underived(end.operands[i])
                    if is_refinement(source.type, type) or source.type == type:
                        end.operands[i] = source
                set_type(result, type)

    def _is_unset(self, value: SSAValue) -> bool:
        """Whether a value has only been declared so far: what it is handed on as says what it is."""
        return underived(value) in self._unset or is_uninitialized(value)

    def _visit_loop(self, op: core.PrimLoopOp, certain: bool) -> None:
        """The most specific types that hold before the first iteration and after each."""
        block = op.regions[0].block
        end = block.last_op
        if end is None:
            return
        before = _types_in(block)
        declared = [argument.type for argument in block.args[1:]]
        carried = [
            None if self._is_unset(initial) else _at_most(underived(initial).type, bound)
            for initial, bound in zip(op.operands[2:], declared, strict=True)
        ]
        for round in range(_MOST_ROUNDS):
            for value, type in before:
                set_type(value, type)
            self.values = Values()
            for argument, found, bound in zip(block.args[1:], carried, declared, strict=True):
                set_type(argument, bound if found is None else found)
                (self._unset.add if found is None else self._unset.discard)(argument)
            self._visit(block, certain=False)
            following = [
                type
                if self._is_unset(value)
                else _after(type, value, bound, give_up=round >= _MOST_ROUNDS // 2)
                for type, value, bound in zip(carried, end.operands[1:], declared, strict=True)
            ]
            if following == carried:
                break
            carried = following
        else:
            for value, type in before:
                set_type(value, type)
            return
        settled = [
            bound if type is None else type for type, bound in zip(carried, declared, strict=True)
        ]
        op.attributes.pop(CHANGES_TYPES, None)
        if any(
            has_rank_and_dtype(underived(initial).type) and not has_rank_and_dtype(type)
            for initial, type in zip(op.operands[2:], settled, strict=True)
        ):
            op.attributes[CHANGES_TYPES] = UnitAttr()
        for i, (result, type) in enumerate(zip(op.results, settled, strict=True)):
            set_type(result, type)
            for user, index in ((op, 2 + i), (end, 1 + i)):
                source = underived(user.operands[index])
                if is_refinement(source.type, type):
                    user.operands[index] = source
        self.values = Values()


def _is_on_tensors(op: RegistryOp) -> bool:
    """Whether PyTorch has a kernel for an op, not only TorchScript's interpreter."""
    return any("Tensor" in returned.type for returned in op.schema.returns)


def _typed(op: Operation) -> Iterator[Attribute]:
    """The types of an op's results; for a list of tensors, those of its members where they are taken out."""
    for result in op.results:
        if isinstance(result.type, t.ListType) and isinstance(
            result.type.contained, t.AnyTensorType
        ):
            for use in result.uses:
                whole = _takes_whole(use.operation)
                yield from [result.type.contained] if whole else use.operation.result_types
        else:
            yield result.type


def _set(value: SSAValue, type: Attribute | None) -> None:
    """Gives a value a type if that says more than the one it has."""
    if type is None or type == value.type:
        return
    if isinstance(type, t.AnyTensorType) and isinstance(value.type, t.AnyTensorType):
        set_type(value, meet(value.type, as_class(type, value.type)))  # type: ignore[arg-type]
    elif is_refinement(type, value.type):
        set_type(value, type)


def _joined(types: Sequence[Attribute]) -> Attribute | None:
    result: Attribute | None = types[0] if types else None
    for type in types[1:]:
        result = None if result is None else join(result, type)
    return result


def _at_most(type: Attribute, bound: Attribute) -> Attribute:
    return type if is_refinement(type, bound) else bound


def _after(
    carried: Attribute | None, value: SSAValue, bound: Attribute, give_up: bool
) -> Attribute:
    """The type of a carried value, None if there is none yet, that may also be what an iteration gives."""
    given = underived(value).type
    common = given if carried is None else join(carried, given)
    if common is None or (give_up and common != carried):
        return bound
    return _at_most(common, bound)


def _types_in(block: Block) -> list[tuple[SSAValue, Attribute]]:
    """The types of all values in a block and the regions in it."""
    values: list[SSAValue] = list(block.args)
    for op in block.walk():
        values.extend(op.results)
        for region in op.regions:
            for nested in region.blocks:
                values.extend(nested.args)
    return [(value, value.type) for value in values]


def _settle_casts(function: FuncOp) -> None:
    """Erases casts that say nothing any more; adds those that branches and loops need, which have one type."""
    for op in list(function.walk()):
        if (
            isinstance(op, core.TensorStaticInfoCastOp)
            and op.operands[0].type == op.results[0].type
        ):
            op.results[0].replace_all_uses_with(op.operands[0])
            op.detach()
            op.erase()
        elif isinstance(op, core.PrimIfOp):
            for region in op.regions:
                if (end := region.block.last_op) is not None:
                    _give(end, 0, op.results)
        elif isinstance(op, core.PrimLoopOp):
            body = op.regions[0].block
            _give(op, 2, body.args[1:])
            if body.last_op is not None:
                _give(body.last_op, 1, body.args[1:])


def _give(op: Operation, start: int, wanted: Sequence[SSAValue]) -> None:
    """Casts the operands from a place on to the types of the values that they become."""
    for place, value in enumerate(wanted, start):
        operand = op.operands[place]
        if operand.type != value.type:
            op.operands[place] = as_type(operand, value.type, op)


def _takes_whole(op: Operation) -> bool:
    """Whether an op takes a list of tensors as it is."""
    return isinstance(op, ReturnOp) or (isinstance(op, RegistryOp) and _is_on_tensors(op))


def _take_out(use: Use, types: Sequence[Attribute | None]) -> None:
    """Makes of a list that is used as a whole one of its members, of which the number is known."""
    op, made = use.operation, use.operation.operands[use.index]
    op.operands[use.index] = list_before(op, _unpacked(op, made, types), made.type)


def _unpacked(
    op: Operation, made: SSAValue, types: Sequence[Attribute | None]
) -> Sequence[SSAValue]:
    """The members of a list, before an op that takes one of them or all."""
    member = made.type.contained  # type: ignore[attr-defined]
    unpack = core.PrimListUnpackOp.create(operands=[made], result_types=[member] * len(types))
    insert_before(op, unpack)
    for result, type in zip(unpack.results, types, strict=True):
        _set(result, type)
    return unpack.results


_REFINED = (t.AnyTensorType, t.ListType)
_CASTS = {"torch.prim.unchecked_cast", "torch.prim.unchecked_unwrap_optional"}
_ITEMS = {"torch.aten.__getitem__.t", "torch.prim.TupleIndex", "torch.prim.TupleUnpack"}


def _is_refined(module: ModuleOp) -> bool:
    """Whether there is nothing to find out or to settle: a captured program of fixed sizes in straight line."""
    for op in ops_in(module):
        if isinstance(op, FuncOp):
            types: Sequence[Attribute] = op.function_type.inputs.data
        elif isinstance(op, RegistryOp | core.OperatorOp):
            if is_typed_by_decomposition(op):
                return False
            types = op.result_types
        elif isinstance(op, _SETTLED):
            return False
        else:
            continue
        for type in types:
            if isinstance(type, t.ListType) or not is_known(type):
                return False
    return True


_SETTLED = (
    core.BindSymbolicShapeOp,
    core.CopyToNonValueTensorOp,
    core.CopyToValueTensorOp,
    core.PrimIfOp,
    core.PrimListUnpackOp,
    core.PrimLoopOp,
    core.TensorStaticInfoCastOp,
)
"""Ops that there is something to do about whatever their types are."""


@dataclass(frozen=True)
class RefineTypesPass(ModulePass):
    """See the module's docstring."""

    name = "torch-refine-types"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if _is_refined(op):
            return
        resolve_shapes(op)
        refiner = _Refiner(op)
        for function in op.walk():
            if isinstance(function, FuncOp):
                refiner.run(function)
