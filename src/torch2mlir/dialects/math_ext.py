"""The math dialect with what xDSL lacks of it: register `MATH` in place of xDSL's `Math`.

Added: erfc, clampf, sincos and the tests isnan, isinf, isfinite, isnormal.

torch-mlir-opt finds the math dialect only once a linalg operation has been read: a file whose
first math operation is not preceded by one (even inside linalg.generic is fine) is refused.
"""

from abc import ABC
from typing import ClassVar, Self

from xdsl.dialects import math
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import TensorType, UnrankedTensorType, VectorType, i1
from xdsl.ir import Attribute
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.arith_ext import FLOAT, NO_FLAGS, extended
from torch2mlir.dialects.rows import FormattedOp


@irdl_op_definition
class ErfcOp(math.FloatingPointLikeUnaryMathOperation):
    """1 - erf(x)."""

    name = "math.erfc"

    traits = traits_def(Pure())


@irdl_op_definition
class ClampFOp(FormattedOp):
    """min(max(value, low), high)."""

    name = "math.clampf"

    T: ClassVar = VarConstraint("T", FLOAT)

    value = operand_def(T)
    min = operand_def(T)
    max = operand_def(T)
    fastmath = prop_def(FastMathFlagsAttr, default_value=NO_FLAGS)
    result = result_def(T)
    traits = traits_def(Pure())

    FORMAT: ClassVar[str] = (
        "$value `to` `[` $min `,` $max `]` (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    )


@irdl_op_definition
class SincosOp(FormattedOp):
    """Sine and cosine of one angle."""

    name = "math.sincos"

    T: ClassVar = VarConstraint("T", FLOAT)

    operand = operand_def(T)
    fastmath = prop_def(FastMathFlagsAttr, default_value=NO_FLAGS)
    sin = result_def(T)
    cos = result_def(T)
    traits = traits_def(Pure())

    FORMAT: ClassVar[str] = "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($operand)"


def boolean_like(type_: Attribute) -> Attribute:
    """i1, or the container of i1 with the shape of `type_`."""
    match type_:
        case TensorType() | VectorType():
            return type(type_)(i1, type_.get_shape())
        case UnrankedTensorType():
            return UnrankedTensorType(i1)
        case _:
            return i1


class FloatTestOp(IRDLOperation, ABC):
    """A question about a float, answered with i1.

    torch-mlir-opt writes its flags in the attribute dictionary, IREE as `fastmath<..>`.
    """

    operand = operand_def(FLOAT)
    fastmath = prop_def(FastMathFlagsAttr, default_value=NO_FLAGS)
    result = result_def()
    traits = traits_def(Pure())

    def verify_(self) -> None:
        wanted = boolean_like(self.operand.type)
        if self.result.type != wanted:
            raise VerifyException(
                f"{self.name}: the result must be {wanted}, got {self.result.type}"
            )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operand)
        flags = {} if self.fastmath == NO_FLAGS else {"fastmath": self.fastmath}
        printer.print_op_attributes({**flags, **self.attributes})
        printer.print_string(" : ")
        printer.print_attribute(self.operand.type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operand = parser.parse_unresolved_operand()
        flags: Attribute = NO_FLAGS
        if parser.parse_optional_keyword("fastmath"):
            flags = FastMathFlagsAttr(FastMathFlagsAttr.parse_parameter(parser))
        attributes = parser.parse_optional_attr_dict()
        flags = attributes.pop("fastmath", flags)
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        return cls.create(
            operands=[parser.resolve_operand(operand, type_)],
            result_types=[boolean_like(type_)],
            properties={"fastmath": flags},
            attributes=attributes,
        )


@irdl_op_definition
class IsFiniteOp(FloatTestOp):
    """Whether x is neither infinite nor NaN."""

    name = "math.isfinite"


@irdl_op_definition
class IsInfOp(FloatTestOp):
    """Whether x is infinite."""

    name = "math.isinf"


@irdl_op_definition
class IsNaNOp(FloatTestOp):
    """Whether x is NaN."""

    name = "math.isnan"


@irdl_op_definition
class IsNormalOp(FloatTestOp):
    """Whether x is neither zero, denormal, infinite nor NaN."""

    name = "math.isnormal"


MATH = extended(math.Math, ClampFOp, ErfcOp, IsFiniteOp, IsInfOp, IsNaNOp, IsNormalOp, SincosOp)
