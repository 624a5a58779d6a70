"""Constants of the torch dialect: Python scalars and tensor literals."""

from __future__ import annotations

import struct
from typing import Any, ClassVar, Self

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, OpTraits
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.ops import TorchOp
from torch2mlir.dialects.weights import WeightAttr

CONSTANT = OpTraits(lambda: (Pure(), ConstantLike()))


class ConstantOp(TorchOp):
    """Base of the scalar constants; ``value`` is the Python value."""

    traits = CONSTANT
    result_type: ClassVar[Attribute]

    @classmethod
    def of(cls, attribute: Attribute, location: Any = None) -> Self:
        """The constant with this ``value`` attribute."""
        return cls.create(
            result_types=[cls.result_type], properties={"value": attribute}, location=location
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        value = cls.parse_value(parser)
        op = cls.of(value)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    @classmethod
    def parse_value(cls, parser: Parser) -> Attribute:
        """Parses the constant's own spelling."""
        raise NotImplementedError

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        self.print_value(printer)
        printer.print_op_attributes(self.attributes)

    def print_value(self, printer: Printer) -> None:
        """Prints the constant's own spelling."""
        printer.print_string(str(self.value))

    @property
    def value(self) -> Any:
        """The constant as a Python value."""
        return self.properties["value"].data  # type: ignore[attr-defined]


class ConstantIntOp(ConstantOp):
    """``torch.constant.int 3``."""

    name = "torch.constant.int"
    result_type = t.int_type

    @classmethod
    def parse_value(cls, parser: Parser) -> Attribute:
        return IntegerAttr(parser.parse_integer(allow_boolean=False), i64)

    @property
    def value(self) -> int:
        return self.properties["value"].value.data  # type: ignore[attr-defined]


class ConstantBoolOp(ConstantOp):
    """``torch.constant.bool true``."""

    name = "torch.constant.bool"
    result_type = t.bool_type

    @classmethod
    def parse_value(cls, parser: Parser) -> Attribute:
        return IntegerAttr(int(parser.parse_boolean()), i1)

    def print_value(self, printer: Printer) -> None:
        printer.print_string("true" if self.value else "false")

    @property
    def value(self) -> bool:
        return bool(self.properties["value"].value.data)  # type: ignore[attr-defined]


class ConstantFloatOp(ConstantOp):
    """``torch.constant.float 1.5``; infinities and NaN in hexadecimal."""

    name = "torch.constant.float"
    result_type = t.float_type

    @classmethod
    def parse_value(cls, parser: Parser) -> Attribute:
        number = parser.parse_number()
        if isinstance(number, int):  # hexadecimal: the bits of the double
            number = struct.unpack("<d", struct.pack("<Q", number))[0]
        return FloatAttr(number, f64)

    def print_value(self, printer: Printer) -> None:
        printer.print_float(self.value, f64)

    @property
    def value(self) -> float:
        return self.properties["value"].value.data  # type: ignore[attr-defined]


class ConstantStrOp(ConstantOp):
    """``torch.constant.str "abc"``."""

    name = "torch.constant.str"
    result_type: ClassVar[Attribute] = t.str_type

    @classmethod
    def parse_value(cls, parser: Parser) -> Attribute:
        return StringAttr(parser.parse_str_literal())

    def print_value(self, printer: Printer) -> None:
        printer.print_string_literal(self.value)


class ConstantDeviceOp(ConstantStrOp):
    """``torch.constant.device "cpu"``."""

    name = "torch.constant.device"
    result_type: ClassVar[Attribute] = t.device_type


class ConstantNumberOp(ConstantOp):
    """``"torch.constant.number"() <{value = 3 : i64}> : () -> !torch.number``; generic form only, as in Torch-MLIR."""

    name = "torch.constant.number"
    result_type = t.number_type
    print = Operation.print

    @property
    def value(self) -> int | float:
        held = (
            self.properties.get("value") or self.attributes["value"]
        )  # older texts have no properties
        return held.value.data  # type: ignore[attr-defined]


class ConstantNoneOp(ConstantOp):
    """``torch.constant.none``."""

    name = "torch.constant.none"
    result_type = t.none_type

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        return cls.create(
            result_types=[cls.result_type], attributes=parser.parse_optional_attr_dict()
        )

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)

    @property
    def value(self) -> None:
        return None


class LiteralOp(TorchOp):
    """``torch.vtensor.literal(dense<..> : tensor<2xf32>) : !torch.vtensor<[2],f32>``."""

    traits = CONSTANT

    @property
    def value(self) -> Attribute:
        """The elements: a dense attribute, a resource reference or a weight in memory."""
        return self.properties["value"]

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        with parser.in_parens():
            value = parser.parse_attribute()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return cls.create(
            result_types=[parser.parse_type()], properties={"value": value}, attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        printer.print_string("(")
        printer.print_attribute(self.value)
        printer.print_string(")")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)

    def verify_(self) -> None:
        value = self.value
        if not isinstance(value, WeightAttr | DenseIntOrFPElementsAttr | DenseResourceAttr):
            raise VerifyException(f"{self.name} holds a dense literal, got {value}")
        type = self.results[0].type
        if (
            isinstance(type, t.AnyTensorType)
            and isinstance(value.type, TensorType)
            and type.sizes is not None
            and list(type.sizes) != list(value.type.get_shape())
        ):
            raise VerifyException(f"literal of type {value.type} cannot be a {type}")


class ValueTensorLiteralOp(LiteralOp):
    """A literal with value semantics."""

    name = "torch.vtensor.literal"


class NonValueTensorLiteralOp(LiteralOp):
    """A literal that may be mutated."""

    name = "torch.tensor.literal"
