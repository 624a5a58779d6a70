"""``torch-reduce-op-variants``: ops on tensors that can be written become ops on values, and explicit writes.

An op that only reads gets value tensors, and its results become new tensors. An op that writes, in place or to
``out=``, becomes its functional form and ``torch.overwrite.tensor.contents``. Ops whose results may share memory with
an operand are left: what they are depends on who writes later, which ``torch-maximize-value-semantics`` looks at.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp, Signedness
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from torch2mlir.dialects.placing import place_before
from torch2mlir.dialects.set_type import set_type
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.functional_variants import (
    SHAPE_CHANGES,
    Variant,
    functional_variant,
)
from torch2mlir.dialects.torch.lists import is_written
from torch2mlir.dialects.torch.ops import RegistryOp
from torch2mlir.dialects.torch.schema import DROPOUTS
from torch2mlir.dialects.torch.tensor_facts import DTYPE_NUMBERS
from torch2mlir.dialects.torch.values import Values
from torch2mlir.transforms.aliasing.effects import Effect, effect
from torch2mlir.transforms.folding.casts import underived
from torch2mlir.transforms.folding.constants import constant

_AS_DTYPE = "torch.aten.to.dtype"
_DTYPE_OF = "torch.prim.dtype"

_KEEPS_DTYPE = {
    f"torch.aten.{name}" for name in ("copy", "fill.Tensor", "masked_fill.Tensor", "index_put")
}
"""Functional ops whose result has the dtype of the tensor that the in-place op writes."""


def value_type(type: Attribute) -> Attribute:
    """A type with value tensors for the tensors in it."""
    match type:
        case t.NonValueTensorType():
            return t.vtensor(type.sizes, type.dtype)
        case t.ListType():
            return t.ListType(value_type(type.contained))
        case t.OptionalType():
            return t.OptionalType(value_type(type.contained))
        case t.TupleType():
            return t.TupleType(type.contained.__class__(map(value_type, type.contained.data)))
        case t.DictType():
            return t.DictType(type.key, value_type(type.value))
    return type


def _has_tensors(type: Attribute) -> bool:
    return value_type(type) != type


def _can_be_value(value: SSAValue) -> bool:
    """Whether :func:`_as_value` can make a value of an operand."""
    if not _has_tensors(value.type) or isinstance(value.type, t.NonValueTensorType):
        return True
    owner = value.owner
    if isinstance(owner, core.PrimListConstructOp):
        return not is_written(value) and all(map(_can_be_value, owner.operands))
    return isinstance(owner, core.DerefineOp) and _can_be_value(owner.operands[0])


def _as_value(builder: Builder, value: SSAValue) -> SSAValue:
    """What a tensor, or a list or an optional of tensors, holds at this place."""
    type = value.type
    if isinstance(type, t.NonValueTensorType):
        copy = core.CopyToValueTensorOp.create(operands=[value], result_types=[value_type(type)])
        return builder.insert(copy).results[0]
    owner = value.owner
    if not _has_tensors(type) or not isinstance(owner, Operation):
        return value
    members = list(owner.operands)
    if isinstance(owner, core.PrimListConstructOp):
        members = [underived(member) for member in members]  # a list of optionals takes tensors
    operands = [_as_value(builder, member) for member in members]
    if operands == list(owner.operands):
        return value
    result = value_type(type)
    if isinstance(owner, core.DerefineOp):
        result = t.OptionalType(operands[0].type)
    return builder.insert(_like(owner, operands, result)).results[0]


def _like(owner: Operation, operands: list[SSAValue], result: Attribute) -> Operation:
    """The same kind of op for other operands."""
    return owner.__class__.create(operands=operands, result_types=[result], location=owner.location)


def _reduce_value_op(op: Operation) -> None:
    """Wraps an op that only reads: value tensors in, new tensors out."""
    results = [r for r in op.results if _has_tensors(r.type)]
    operands = [o for o in op.operands if _has_tensors(o.type)]
    if not results and not operands:
        return
    if not all(isinstance(r.type, t.NonValueTensorType) for r in results):
        return
    if not all(map(_can_be_value, operands)):
        return
    before = Builder(InsertPoint.before(op))
    op.operands = [_as_value(before, operand) for operand in op.operands]
    after = Builder(InsertPoint.after(op))
    for result in results:
        type = result.type
        uses = list(result.uses)
        set_type(result, value_type(type))
        copy = after.insert(
            core.CopyToNonValueTensorOp.create(operands=[result], result_types=[type])
        )
        copy.results[0].name_hint = result.name_hint
        for use in uses:
            use.operation.operands[use.index] = copy.results[0]


def _reduce_literal(op: core.NonValueTensorLiteralOp) -> None:
    """A literal that can be written is a new tensor with a constant's elements."""
    type, shape = op.results[0].type, op.value.type  # type: ignore[attr-defined]
    builder = Builder(InsertPoint.before(op))
    known = t.vtensor(tuple(shape.get_shape()), _dtype_of(type, shape.element_type))
    literal = core.ValueTensorLiteralOp.create(
        result_types=[known], properties=op.properties, location=op.location
    )
    value = builder.insert(literal).results[0]
    if known != value_type(type):
        cast = core.TensorStaticInfoCastOp.create(operands=[value], result_types=[value_type(type)])
        value = builder.insert(cast).results[0]
    copy = core.CopyToNonValueTensorOp.create(operands=[value], result_types=[type])
    _replace(op, [builder.insert(copy).results[0]])


def _dtype_of(type: Attribute, element: Attribute) -> Attribute:
    """The torch dtype of a literal: builtin integers have no sign, torch's have."""
    if isinstance(type, t.AnyTensorType) and type.dtype is not None:
        return type.dtype
    if (
        isinstance(element, IntegerType)
        and element.signedness.data is Signedness.SIGNLESS
        and element.width.data > 1
    ):
        return IntegerType(element.width.data, Signedness.SIGNED)
    return element


def _replace(op: Operation, values: list[SSAValue]) -> None:
    for old, new in zip(op.results, values, strict=True):
        new.name_hint = new.name_hint or old.name_hint
        old.replace_all_uses_with(new)
    op.detach()
    op.erase()


def _reduce_writing_op(op: RegistryOp, variant: Variant) -> None:
    """The functional op, and what it gives written to where the op wrote."""
    builder = Builder(InsertPoint.before(op))
    taken = [op.operands[i] for i in variant.operands]
    if not all(map(_can_be_value, taken)):
        return
    if any(not isinstance(op.operands[i].type, t.NonValueTensorType) for i, _ in variant.written):
        return
    operands = [_as_value(builder, operand) for operand in taken]
    inside = variant.operands == tuple(range(len(op.operands)))
    count = 1 + max([i for _, i in (*variant.written, *variant.returned)], default=0)
    types: list[Attribute] = [t.vtensor(None, None)] * count
    for result, (_, index) in zip(op.results, variant.returned, strict=True):
        types[index] = value_type(result.type)
    casts = dict[int, t.NonValueTensorType]()
    for place, index in variant.written:
        target = op.operands[place].type
        assert isinstance(target, t.NonValueTensorType)
        types[index] = value_type(target)
        if inside and _may_promote(op, variant, place):
            types[index] = t.vtensor(target.sizes, None)
            casts[index] = target
    new = core.build(variant.name, operands, types, op.location)
    values = list(builder.insert(new).results)
    for place, index in variant.written:
        value: SSAValue = values[index]
        if index in casts:
            value = _as_dtype(builder, value, op.operands[place], casts[index], op.location)
        builder.insert(
            core.OverwriteTensorContentsOp.create(
                operands=[value, op.operands[place]], location=op.location
            )
        )
    replacements = list[SSAValue]()
    for result, (place_of, index) in zip(op.results, variant.returned, strict=True):
        if place_of is not None:
            replacements.append(_of_type(builder, op.operands[place_of], result.type))
        elif isinstance(result.type, t.NonValueTensorType):
            copy = core.CopyToNonValueTensorOp.create(
                operands=[values[index]], result_types=[result.type]
            )
            replacements.append(builder.insert(copy).results[0])
        else:
            replacements.append(values[index])
    _replace(op, replacements)


def _of_type(builder: Builder, value: SSAValue, type: Attribute) -> SSAValue:
    """The tensor that was written, under the type of the op's result."""
    if value.type == type:
        return value
    cast = core.TensorStaticInfoCastOp.create(operands=[value], result_types=[type])
    return builder.insert(cast).results[0]


def _may_promote(op: RegistryOp, variant: Variant, place: int) -> bool:
    """Whether the functional op may give a wider dtype than the tensor that is written has."""
    if variant.name in _KEEPS_DTYPE:
        return False
    types = [o.type for o in op.operands if isinstance(o.type, t.AnyTensorType)]
    dtypes = {type.dtype for type in types}
    return len(types) > 1 and (len(dtypes) > 1 or None in dtypes)


def _as_dtype(
    builder: Builder,
    value: SSAValue,
    target: SSAValue,
    type: t.NonValueTensorType,
    location: Attribute | None,
) -> SSAValue:
    """A value converted to the dtype of the tensor that it will be written to."""
    number: SSAValue
    if type.dtype in DTYPE_NUMBERS:
        number = builder.insert(constant(DTYPE_NUMBERS[type.dtype], t.int_type)).results[0]
    else:
        held = _as_value(builder, target)
        number = builder.insert(core.build(_DTYPE_OF, [held], [t.int_type])).results[0]
    false = builder.insert(constant(False, t.bool_type)).results[0]
    none = builder.insert(constant(None, t.none_type)).results[0]
    cast = core.build(_AS_DTYPE, [value, number, false, false, none], [value_type(type)], location)
    return builder.insert(cast).results[0]


_IDENTITY = {"torch.aten.__is__": True, "torch.aten.__isnot__": False}


def _reduce_identity(op: Operation, same: bool) -> None:
    """Whether two names are of one tensor; values cannot tell any more."""
    a, b = op.operands
    if not isinstance(a.type, t.NonValueTensorType) or not isinstance(b.type, t.NonValueTensorType):
        return
    if a is b:
        answer = same
    elif all(isinstance(v.owner, core.CopyToNonValueTensorOp | core.LiteralOp) for v in (a, b)):
        answer = not same
    else:
        return
    new = constant(answer, t.bool_type, op.location)
    place_before(op, new)
    _replace(op, [new.results[0]])


def _reduce_shape_change(op: Operation) -> None:
    """``x.squeeze_()`` is a view that ``x`` is the name of from here on, where all that follows is in sight."""
    old, block = op.operands[0], op.parent
    owner = old.owner.parent if isinstance(old.owner, Operation) else old.owner
    if block is None or owner is not block or old.type != op.results[0].type:
        return
    following = set[Operation]()
    after = op.next_op
    while after is not None:
        following.add(after)
        after = after.next_op
    view = core.build(
        SHAPE_CHANGES[op.name], op.operands, [op.results[0].type], location=op.location
    )
    block.insert_op_before(view, op)
    for use in list(old.uses):
        if block.find_ancestor_op_in_block(use.operation) in following:
            use.operation.operands[use.index] = view.results[0]
    _replace(op, [view.results[0]])


def _drops_nothing(op: Operation) -> bool:
    probability, train = map(Values().of, op.operands[1:3])
    return train is False or (isinstance(probability, float) and probability == 0)


def _reduce_idle_dropout(op: Operation) -> None:
    """Out of training dropout gives the tensor that it gets, which can be written by either name."""
    alias = core.build(
        "torch.aten.alias", op.operands[:1], [op.results[0].type], location=op.location
    )
    place_before(op, alias)
    _replace(op, [alias.results[0]])


def _takes_tensors(op: Operation) -> bool:
    return any(_has_tensors(operand.type) for operand in op.operands)


def _is_functional(name: str) -> bool:
    """Whether an op of a library of the user's says in its schema that it writes and shares nothing."""
    try:
        from torch2mlir.transforms.decompositions import find_overload
    except ModuleNotFoundError:  # without PyTorch nobody knows the op
        return False
    overload = find_overload(name)
    if overload is None:
        return False
    schema = overload._schema
    return all(value.alias_info is None for value in (*schema.arguments, *schema.returns))


def reduce_op_variants(root: Operation) -> None:
    """Rewrites the ops inside an op."""
    for op in list(root.walk()):
        if isinstance(op, core.OperatorOp) and _takes_tensors(op):
            if _is_functional(op.op_name):
                _reduce_value_op(op)
            continue
        if isinstance(op, core.NonValueTensorLiteralOp):
            _reduce_literal(op)
            continue
        if not isinstance(op, RegistryOp):
            continue
        if op.name in _IDENTITY:
            _reduce_identity(op, _IDENTITY[op.name])
            continue
        if op.name in SHAPE_CHANGES:
            _reduce_shape_change(op)
            continue
        if op.name in DROPOUTS and _drops_nothing(op):
            _reduce_idle_dropout(op)
            continue
        kind = effect(op)
        if kind is Effect.VALUE:
            _reduce_value_op(op)
        elif kind is Effect.WRITE and (variant := functional_variant(op.name)) is not None:
            _reduce_writing_op(op, variant)


@dataclass(frozen=True)
class ReduceOpVariantsPass(ModulePass):
    """See the module's docstring.

    Args:
        extra_library: taken for scripts that name one; what ops of one's own do is read from their schemas.
    """

    name = "torch-reduce-op-variants"

    extra_library: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.ops:
            if function.name == "func.func":
                reduce_op_variants(function)
