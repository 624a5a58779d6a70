"""``torch-adjust-calling-conventions``: annotated argument types, and results without Python's None and tuples.

An argument with a ``torch.type_bound`` gets that type; inside, the tensor it was is a copy. A function returns nothing
instead of None, and the members of a tuple, nested ones too, instead of the tuple; callers make of them what they had.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from torch2mlir.dialects.set_type import set_type
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t

TYPE_BOUND = "torch.type_bound"
_UNPACK = "torch.prim.TupleUnpack"


def flattened(type: Attribute) -> Iterator[Attribute]:
    """The results a function has for a return type."""
    if isinstance(type, t.TupleType):
        for member in type.contained.data:
            yield from flattened(member)
    elif not isinstance(type, t.NoneType):
        yield type


def _members(builder: Builder, value: SSAValue) -> Iterator[SSAValue]:
    """The values a function returns instead of ``value``."""
    if not isinstance(value.type, t.TupleType):
        if not isinstance(value.type, t.NoneType):
            yield value
        return
    members: Sequence[SSAValue]
    if isinstance(value.owner, core.PrimTupleConstructOp):
        members = value.owner.operands
    else:
        types = value.type.contained.data
        members = builder.insert(core.build(_UNPACK, [value], types)).results
    for member in members:
        yield from _members(builder, member)


def _rebuilt(builder: Builder, type: Attribute, values: Iterator[SSAValue]) -> SSAValue:
    """The value of a type from the results that stand for it."""
    if isinstance(type, t.NoneType):
        return builder.insert(core.ConstantNoneOp.create(result_types=[type])).results[0]
    if isinstance(type, t.TupleType):
        members = [_rebuilt(builder, member, values) for member in type.contained.data]
        construct = core.PrimTupleConstructOp.create(operands=members, result_types=[type])
        return builder.insert(construct).results[0]
    return next(values)


def cast_tensor(builder: Builder, value: SSAValue, type: Attribute) -> SSAValue:
    """A tensor as another tensor type: static information first, then the copy between the two kinds."""
    source = value.type
    if source == type or not (
        isinstance(source, t.AnyTensorType) and isinstance(type, t.AnyTensorType)
    ):
        return value
    if (source.sizes, source.dtype) != (type.sizes, type.dtype):
        kind = t.ValueTensorType if isinstance(source, t.ValueTensorType) else t.NonValueTensorType
        cast = core.TensorStaticInfoCastOp.create(
            operands=[value], result_types=[kind.of(type.sizes, type.dtype)]
        )
        value = builder.insert(cast).results[0]
    if value.type == type:
        return value
    to_value = isinstance(type, t.ValueTensorType)
    copy = core.CopyToValueTensorOp if to_value else core.CopyToNonValueTensorOp
    return builder.insert(copy.create(operands=[value], result_types=[type])).results[0]


def _bounds(function: FuncOp) -> dict[int, t.AnyTensorType]:
    """The annotated arguments and their types."""
    found = dict[int, t.AnyTensorType]()
    for index, attributes in enumerate(function.arg_attrs.data if function.arg_attrs else ()):
        bound = attributes.data.get(TYPE_BOUND)
        if isinstance(bound, t.AnyTensorType):
            found[index] = bound
    return found


def _adjust_arguments(function: FuncOp) -> list[Attribute]:
    """Gives annotated arguments their type; the types of all of them."""
    bounds = _bounds(function)
    types: list[Attribute] = list(function.function_type.inputs.data)
    for index, bound in bounds.items():
        types[index] = bound
    block = function.body.blocks.first
    if block is not None:
        builder = Builder(InsertPoint.at_start(block))
        for index, bound in bounds.items():
            _retype(builder, block.args[index], bound)
    if function.arg_attrs is not None:
        kept = [
            DictionaryAttr({name: value for name, value in a.data.items() if name != TYPE_BOUND})
            for a in function.arg_attrs.data
        ]
        function.properties.pop("arg_attrs")
        if any(attributes.data for attributes in kept):
            function.properties["arg_attrs"] = ArrayAttr(kept)
    return types


def _retype(builder: Builder, argument: BlockArgument, bound: t.AnyTensorType) -> None:
    old, uses = argument.type, list(argument.uses)
    set_type(argument, bound)
    inside = cast_tensor(builder, argument, old)
    for use in uses:
        use.operation.operands[use.index] = inside


def _returns(function: FuncOp) -> Iterator[ReturnOp]:
    for block in function.body.blocks:
        if isinstance(block.last_op, ReturnOp):
            yield block.last_op


def _adjust_results(function: FuncOp) -> list[Attribute]:
    """Makes a function return the members of tuples and no None; the types of the results."""
    outputs = function.function_type.outputs.data
    types = [member for type in outputs for member in flattened(type)]
    if types != list(outputs):
        for op in _returns(function):
            builder = Builder(InsertPoint.before(op))
            op.operands = [m for operand in op.operands for m in _members(builder, operand)]
    return types


def _adjust_call(call: CallOp, type: FunctionType) -> None:
    """Makes a call fit a function whose type has become ``type``."""
    results = [member for r in call.results for member in flattened(r.type)]
    builder = Builder(InsertPoint.before(call))
    arguments = [
        cast_tensor(builder, argument, wanted)
        for argument, wanted in zip(call.arguments, type.inputs.data, strict=True)
    ]
    if arguments == list(call.arguments) and len(results) == len(call.results):
        return
    new = builder.insert(CallOp(call.callee, arguments, results))
    new.location = call.location
    values = iter(new.results)
    for old in call.results:
        old.replace_all_uses_with(_rebuilt(builder, old.type, values))
    call.detach()
    call.erase()


def remove_unused_tuples(block: Block) -> None:
    """Erases the tuples that only the calling convention was for."""
    for op in reversed(list(block.ops)):
        if isinstance(op, core.PrimTupleConstructOp) and op.results[0].first_use is None:
            op.detach()
            op.erase()


@dataclass(frozen=True)
class AdjustCallingConventionsPass(ModulePass):
    """See the module's docstring."""

    name = "torch-adjust-calling-conventions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        changed = dict[str, FunctionType]()
        for function in op.ops:
            if isinstance(function, FuncOp):
                inputs, outputs = _adjust_arguments(function), _adjust_results(function)
                type = FunctionType.from_lists(inputs, outputs)
                if type != function.function_type:
                    function.properties["function_type"] = type
                    changed[function.sym_name.data] = type
                    for block in function.body.blocks:
                        remove_unused_tuples(block)
        if changed:
            for call in list[Operation](op.walk()):
                if isinstance(call, CallOp) and call.callee.string_value() in changed:
                    _adjust_call(call, changed[call.callee.string_value()])
