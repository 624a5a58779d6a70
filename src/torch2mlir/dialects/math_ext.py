"""The math dialect with what xDSL lacks of it: register `MATH` in place of xDSL's `Math`.

Added: erfc, clampf, sincos and the tests isnan, isinf, isfinite, isnormal.

torch-mlir-opt finds the math dialect only once a linalg operation has been read: a file whose
first math operation is not preceded by one (even inside linalg.generic is fine) is refused.
"""

from abc import ABC
from typing import Self

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
from torch2mlir.dialects.rows import Kind, op_classes

ErfcOp, ClampFOp, SincosOp = op_classes(
    "math",
    {
        "same": Kind(VarConstraint("T", FLOAT)),
        "fastmath": Kind(FastMathFlagsAttr, default=NO_FLAGS),
    },
    """
    erfc operand: same {fastmath?} -> result: same
      | $operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result) |
      1 - erf(x).
    clampf value: same, min: same, max: same {fastmath?} -> result: same
      | $value `to` `[` $min `,` $max `]` (`fastmath` `` $fastmath^)? attr-dict `:` type($result) |
      min(max(value, low), high).
    sincos operand: same {fastmath?} -> sin: same, cos: same
      | $operand (`fastmath` `` $fastmath^)? attr-dict `:` type($operand) |
      Sine and cosine of one angle.
    """,
)


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


def _float_test(name: str, doc: str) -> type[FloatTestOp]:
    return irdl_op_definition(
        type(f"{name.title()}Op", (FloatTestOp,), {"name": f"math.{name}", "__doc__": doc})
    )


IsFiniteOp = _float_test("isfinite", "Whether x is neither infinite nor NaN.")
IsInfOp = _float_test("isinf", "Whether x is infinite.")
IsNaNOp = _float_test("isnan", "Whether x is NaN.")
IsNormalOp = _float_test("isnormal", "Whether x is neither zero, denormal, infinite nor NaN.")


MATH = extended(math.Math, ClampFOp, ErfcOp, IsFiniteOp, IsInfOp, IsNaNOp, IsNormalOp, SincosOp)
