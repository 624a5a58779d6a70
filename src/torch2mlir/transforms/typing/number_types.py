"""Which kind of number ``!torch.number`` is: by the kinds of its operands, or by the dtype it is read from."""

from __future__ import annotations

from xdsl.dialects.builtin import ComplexType, i1
from xdsl.ir import Attribute, Operation

from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.tensor_facts import FLOATS

_ARITHMETIC = (
    "aten.add aten.sub aten.mul aten.floordiv aten.remainder aten.neg prim.max prim.min"
    " prim.abs.Scalar"
)
_SAME_KIND = {f"torch.{name}" for name in _ARITHMETIC.split()}
_FUNCTIONS = ("sqrt", "exp", "log", "sin", "cos", "tanh", "round")
_FLOAT = {"torch.aten.div", "torch.aten.pow", *(f"torch.aten.{name}.Scalar" for name in _FUNCTIONS)}
_INT = {"torch.aten.ceil.Scalar", "torch.aten.floor.Scalar"}
_ELEMENT = {
    "torch.aten.item",
    "torch.aten._local_scalar_dense",
    "torch.aten.ScalarImplicit",
}


def number_type(op: Operation) -> Attribute | None:
    """The type of an op's number, None if it is not known."""
    if op.name in _FLOAT:
        return t.float_type
    if op.name in _INT:
        return t.int_type
    if op.name in _ELEMENT:
        type = op.operands[0].type
        return _of_element(type.dtype) if isinstance(type, t.AnyTensorType) else None
    if op.name in _SAME_KIND:
        types = op.operand_types
        if all(isinstance(type, t.IntType | t.BoolType) for type in types):
            return t.int_type
        if all(isinstance(type, t.IntType | t.BoolType | t.FloatType) for type in types):
            return t.float_type
    return None


def _of_element(dtype: Attribute | None) -> Attribute | None:
    if dtype is None or isinstance(dtype, ComplexType):
        return None
    if dtype == i1:
        return t.bool_type
    return t.float_type if isinstance(dtype, FLOATS) else t.int_type
