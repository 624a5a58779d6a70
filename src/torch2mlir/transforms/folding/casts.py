"""Optionals, casts and conversions of numbers: what is there already, under a wider type or as a tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, i1
from xdsl.ir import Attribute, Operation, SSAValue

from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.ops import RegistryOp
from torch2mlir.dialects.torch.tensor_facts import FLOATS
from torch2mlir.dialects.torch.values import Unknown, Values
from torch2mlir.transforms.folding.constants import constant, insert_before

Fold = Callable[[Operation, Values], Sequence[SSAValue] | None]

MAYBE_NONE = (t.OptionalType, t.AnyType, t.UnionType)


def underived(value: SSAValue) -> SSAValue:
    """The value before ``torch.derefine`` forgot what it is."""
    while isinstance(value.owner, core.DerefineOp):
        value = value.owner.operands[0]
    return value


def _identity_with_none(same: bool) -> Fold:
    def fold(op: Operation, values: Values) -> Sequence[SSAValue] | None:
        left, right = (underived(operand).type for operand in op.operands)
        if any(isinstance(type, MAYBE_NONE) for type in (left, right)):
            return None
        if isinstance(left, t.NoneType) != isinstance(right, t.NoneType):
            answer = not same
        elif isinstance(left, t.NoneType):
            answer = same
        else:
            return None
        return _constant(op, answer)

    return fold


def _constant(op: Operation, value: Any) -> Sequence[SSAValue]:
    new = constant(value, op.results[0].type)
    insert_before(op, new)
    return new.results


def is_refinement(type: Attribute, wider: Attribute) -> bool:
    """Whether a value of a type can stand where a wider one is declared, and means the same there."""
    if type == wider:
        return True
    if isinstance(wider, t.OptionalType):
        return isinstance(type, t.NoneType) or is_refinement(type, wider.contained)
    if isinstance(wider, t.UnionType):
        return any(is_refinement(type, member) for member in wider.contained.data)
    if isinstance(wider, t.AnyTensorType):
        if not isinstance(type, t.AnyTensorType) or type.name != wider.name:
            return False
        sizes = wider.sizes is None or (
            type.sizes is not None
            and len(type.sizes) == len(wider.sizes)
            and all(w is None or w == s for s, w in zip(type.sizes, wider.sizes, strict=True))
        )
        return sizes and wider.dtype in (None, type.dtype)
    numbers = (t.IntType, t.FloatType, t.BoolType)
    return isinstance(wider, t.AnyType) or (
        isinstance(wider, t.NumberType) and isinstance(type, numbers)
    )


def _unchecked_cast(op: Operation, values: Values) -> Sequence[SSAValue] | None:
    source = underived(op.operands[0])
    return [source] if is_refinement(source.type, op.results[0].type) else None


def _derefine(op: Operation, values: Values) -> Sequence[SSAValue] | None:
    """Not needed where the types are the same, and where an op takes the more specific value as well."""
    source, wide = op.operands[0], op.results[0]
    if source.type == wide.type:
        return [source]
    if isinstance(source.owner, core.DerefineOp):
        op.operands[0] = source = underived(source)
    for use in list(wide.uses):
        if isinstance(use.operation, RegistryOp | core.OperatorOp):
            use.operation.operands[use.index] = source
    return None


def _static_info_cast(op: Operation, values: Values) -> Sequence[SSAValue] | None:
    """Not needed if what was forgotten is back, or where an op takes the more specific tensor as well."""
    source, result = op.operands[0], op.results[0]
    if isinstance(source.owner, core.TensorStaticInfoCastOp):
        earlier = source.owner.operands[0]
        if earlier.type == result.type:
            return [earlier]
    if source.type == result.type:
        return [source]
    if is_refinement(source.type, result.type):
        for use in list(result.uses):
            if isinstance(use.operation, RegistryOp):
                use.operation.operands[use.index] = source
    return None


def _same_number(*types: type[Attribute]) -> Fold:
    def fold(op: Operation, values: Values) -> Sequence[SSAValue] | None:
        source = underived(op.operands[0])
        return [source] if isinstance(source.type, types) else _read(op, values)

    return fold


_FROM_NUMBER = {
    "torch.prim.NumToTensor.Scalar",
    "torch.prim.NumToTensor.bool",
    "torch.aten.tensor.int",
    "torch.aten.tensor.float",
    "torch.aten.tensor.bool",
    "torch.aten.scalar_tensor",
    "torch.aten.lift_fresh_copy",
}
"""Ops that make a tensor of the number that is their first operand."""
_FILLED = {"torch.aten.full": 1}
"""Ops that fill a tensor with an operand."""


def number_in(tensor: SSAValue) -> SSAValue | Any | None:
    """The number a tensor of one element was made of: the value, or a Python number of a literal."""
    owner = tensor.owner
    if not isinstance(owner, Operation):
        return None
    if isinstance(owner, core.ValueTensorLiteralOp):
        return _element(owner)
    if owner.name in _FROM_NUMBER:
        source = owner.operands[0]
        return number_in(source) if isinstance(source.type, t.AnyTensorType) else source
    if owner.name in _FILLED:
        return owner.operands[_FILLED[owner.name]]
    if isinstance(owner, core.TensorStaticInfoCastOp | core.CopyOp):
        return number_in(owner.operands[0])
    return None


def _element(literal: core.ValueTensorLiteralOp) -> int | float | None:
    """Not of a weight, which may be another number in a later call."""
    value, type = literal.value, literal.results[0].type
    if not isinstance(value, DenseIntOrFPElementsAttr) or len(value) == 0 or not value.is_splat():
        return None
    number = value.get_values()[0]
    if isinstance(type, t.AnyTensorType) and type.dtype == i1:
        return int(bool(number))
    if isinstance(type, t.AnyTensorType) and isinstance(type.dtype, FLOATS):
        return float(number)
    return number if isinstance(number, int) else None


_KINDS: dict[type[Attribute], tuple[type, type[Attribute]]] = {
    t.IntType: (int, t.IntType),
    t.FloatType: (float, t.FloatType),
    t.BoolType: (bool, t.BoolType),
}


def _read(op: Operation, values: Values) -> Sequence[SSAValue] | None:
    """A number read from a tensor that was made of it, converted as the op says."""
    operand, wanted = op.operands[0], op.results[0].type
    if not isinstance(operand.type, t.AnyTensorType):
        return None
    found = number_in(operand)
    if found is None or not _holds(operand.type, found):
        return None
    if isinstance(found, SSAValue):
        if isinstance(found.type, type(wanted)):
            return [found]
        found = values.of(found)
    if isinstance(found, Unknown) or not isinstance(found, bool | int | float):
        return None
    kind = _KINDS.get(type(wanted))
    return _constant(op, found if kind is None else kind[0](found))


def _said(name: str) -> Fold:
    """A number read from a tensor, by the op that is the same and that the contract has."""

    def fold(op: Operation, values: Values) -> Sequence[SSAValue] | None:
        if not isinstance(op.operands[0].type, t.AnyTensorType):
            return None
        new = core.build(name, op.operands, [op.results[0].type])
        insert_before(op, new)
        return new.results

    return fold


def _holds(type: t.AnyTensorType, number: Any) -> bool:
    """Whether the tensor's dtype keeps the number as it is: nothing is rounded, cut or wrapped."""
    source = number.type if isinstance(number, SSAValue) else None
    floating = isinstance(number, float) or isinstance(source, t.FloatType)
    if floating:
        return (
            type.dtype is not None and str(type.dtype) == "f64" or not isinstance(number, SSAValue)
        )
    return type.dtype is not None and str(type.dtype) in ("si64", "i1")


def _derive_index(op: Operation, values: Values) -> Sequence[SSAValue] | None:
    """``__derive_index`` in plain arithmetic."""
    index, start, step = op.operands
    first, stride = values.of(start), values.of(step)
    result = index
    if stride != 1:
        result = _binary(op, "mul", result, step)
    return [result if first == 0 else _binary(op, "add", result, start)]


def _range_length(op: Operation, values: Values) -> Sequence[SSAValue] | None:
    """``__range_length`` in plain arithmetic, of a step that is known."""
    start, stop, step = op.operands
    stride = values.of(step)
    is_known = not isinstance(values.of(op.results[0]), Unknown)
    if is_known or not isinstance(stride, int) or stride == 0:
        return None

    def number(value: int) -> SSAValue:
        made = constant(value, t.int_type)
        insert_before(op, made)
        return made.results[0]

    near, far = (start, stop) if stride > 0 else (stop, start)
    count = _binary(op, "sub", far, near)
    if abs(stride) != 1:
        count = _binary(op, "add", count, number(abs(stride) - 1))
        count = _binary(op, "floordiv", count, number(abs(stride)))
    return [_binary(op, "max", count, number(0), "prim")]


def _binary(
    op: Operation, name: str, left: SSAValue, right: SSAValue, library: str = "aten"
) -> SSAValue:
    new = core.build(f"torch.{library}.{name}.int", [left, right], [t.int_type])
    insert_before(op, new)
    return new.results[0]


CAST_FOLDS: dict[str, Fold] = {
    "torch.aten.__is__": _identity_with_none(same=True),
    "torch.aten.__isnot__": _identity_with_none(same=False),
    "torch.prim.unchecked_cast": _unchecked_cast,
    "torch.prim.unchecked_unwrap_optional": _unchecked_cast,
    "torch.derefine": _derefine,
    "torch.tensor_static_info_cast": _static_info_cast,
    "torch.aten.Int.Scalar": _same_number(t.IntType),
    "torch.aten.Float.Scalar": _same_number(t.FloatType),
    **dict.fromkeys(
        (
            "torch.aten.Int.Tensor",
            "torch.aten.Float.Tensor",
            "torch.aten.Bool.Tensor",
            "torch.aten.item",
            "torch.aten._local_scalar_dense",
        ),
        _read,
    ),
    "torch.aten.IntImplicit": _said("torch.aten.Int.Tensor"),
    "torch.aten.FloatImplicit": _said("torch.aten.Float.Tensor"),
    "torch.aten.ScalarImplicit": _said("torch.aten.item"),
    "torch.aten.is_nonzero": _said("torch.aten.Bool.Tensor"),
    "torch.aten.__derive_index": _derive_index,
    "torch.aten.__range_length": _range_length,
}
"""Op -> its result, where that is a value that is there already."""
