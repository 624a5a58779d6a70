"""Constants of the torch dialect: Python scalars and tensor literals."""

from __future__ import annotations

import struct
from functools import cache
from typing import Any, ClassVar, Self

from xdsl.dialects.builtin import (
    I1,
    I64,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    f64,
    i1,
)
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    ConstraintContext,
    base,
    eq,
    irdl_op_definition,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.rows import FormattedOp, FormattedRowOp, Kind, op_classes
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.weights import WeightAttr


class ConstantOp(FormattedRowOp):
    """Base of the scalar constants."""

    @classmethod
    def of(cls, attribute: Attribute, location: Any = None) -> Self:
        """The constant with this ``value`` attribute."""
        return cls.create(
            result_types=[cls._type()], properties={"value": attribute}, location=location
        )

    @classmethod
    @cache
    def _type(cls) -> Attribute:
        _, result = cls.get_irdl_definition().results[0]
        (type,) = result.constr.infer(ConstraintContext(), length=1)
        return type

    @property
    def value(self) -> Any:
        """The constant as a Python value."""
        match held := self.properties["value"]:
            case IntegerAttr() if held.type == i1:
                return bool(held.value.data)
            case IntegerAttr() | FloatAttr():
                return held.value.data
            case StringAttr():
                return held.data
        raise TypeError(f"{self.name} of {held}")


class _NumberOp(ConstantOp):
    """Generic form only, as in Torch-MLIR."""

    print = Operation.print


class _NoneOp(ConstantOp):
    """Without a value in the text."""

    @property
    def value(self) -> None:
        return None


class _FloatOp(ConstantOp):
    """Infinities and NaN in hexadecimal."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        number = parser.parse_number()
        if isinstance(number, int):  # hexadecimal: the bits of the double
            number = struct.unpack("<d", struct.pack("<Q", number))[0]
        op = cls.of(FloatAttr(number, f64))
        op.attributes.update(parser.parse_optional_attr_dict())
        return op


_KINDS = {
    "i1": Kind(IntegerAttr[I1]),
    "i64": Kind(IntegerAttr[I64]),
    "f64": Kind(FloatAttr[Float64Type]),
    "text": Kind(StringAttr),
    "any_number": Kind(base(IntegerAttr) | base(FloatAttr)),
    "bool": Kind(eq(t.bool_type)),
    "int": Kind(eq(t.int_type)),
    "float": Kind(eq(t.float_type)),
    "number": Kind(eq(t.number_type)),
    "str": Kind(eq(t.str_type)),
    "device": Kind(eq(t.device_type)),
    "none": Kind(eq(t.none_type)),
}
(
    ConstantIntOp,
    ConstantBoolOp,
    ConstantStrOp,
    ConstantDeviceOp,
    ConstantFloatOp,
    ConstantNumberOp,
    ConstantNoneOp,
) = op_classes(
    "torch",
    _KINDS,
    """
    constant.int {held=value: i64} -> result: int
      ``torch.constant.int 3``.
    constant.bool {held=value: i1} -> result: bool
      ``torch.constant.bool true``.
    constant.str {held=value: text} -> result: str
      ``torch.constant.str "abc"``.
    constant.device {held=value: text} -> result: device
      ``torch.constant.device "cpu"``.
    constant.float {held=value: f64} -> result: float
      ``torch.constant.float 1.5``.
    constant.number {held=value: any_number} -> result: number
      ``"torch.constant.number"() <{value = 3 : i64}> : () -> !torch.number``.
    constant.none -> result: none
      | attr-dict |
      ``torch.constant.none``.
    """,
    (Pure(), ConstantLike()),
    ConstantOp,
    format="$value attr-dict",
    bases={"constant.float": _FloatOp, "constant.number": _NumberOp, "constant.none": _NoneOp},
)


class LiteralOp(FormattedOp):
    """``torch.vtensor.literal(dense<..> : tensor<2xf32>) : !torch.vtensor<[2],f32>``.

    ``value`` holds the elements: a dense attribute, a resource reference or a weight in memory.
    """

    value = prop_def()
    result = result_def()
    traits = traits_def(Pure(), ConstantLike())
    FORMAT: ClassVar[str] = "`(` $value `)` attr-dict `:` type($result)"

    def verify_(self) -> None:
        value = self.value
        if not isinstance(value, WeightAttr | DenseIntOrFPElementsAttr | DenseResourceAttr):
            raise VerifyException(f"{self.name} holds a dense literal, got {value}")
        type = self.result.type
        if (
            isinstance(type, t.AnyTensorType)
            and isinstance(value.type, TensorType)
            and type.sizes is not None
            and list(type.sizes) != list(value.type.get_shape())
        ):
            raise VerifyException(f"literal of type {value.type} cannot be a {type}")


@irdl_op_definition
class ValueTensorLiteralOp(LiteralOp):
    """A literal with value semantics."""

    name = "torch.vtensor.literal"


@irdl_op_definition
class NonValueTensorLiteralOp(LiteralOp):
    """A literal that may be mutated."""

    name = "torch.tensor.literal"
