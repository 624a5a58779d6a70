"""The arith dialect with what xDSL lacks of it: register `ARITH` in place of xDSL's `Arith`.

Added: remf, index_castui, convertf, flush_denormals. Widened: constant takes weights that are held
outside the IR, trunci the overflow flags of MLIR's generic form, sitofp and fptosi tensors. Left
out: rounding modes, `exact`, `nneg` and fastmath of extf and truncf, which no PyTorch operation
asks for. The comparisons and select are xDSL's and scalar, as in the bodies of linalg operations.
"""

from abc import ABC
from typing import ClassVar, Self

from xdsl.dialects import arith, math
from xdsl.dialects.arith import FastMathFlagsAttr, IntegerOverflowAttr
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, UnitAttr, container_of
from xdsl.ir import Attribute, Dialect, Operation, TypedAttribute
from xdsl.irdl import (
    base,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.rows import FormattedOp

NO_FLAGS = FastMathFlagsAttr("none")
FLOAT = container_of(AnyFloat)
INTEGER = container_of(IntegerType)
INDEX_OR_INTEGER = base(IntegerType) | base(IndexType)


@irdl_op_definition
class ConstantOp(arith.ConstantOp):
    """A constant of any literal that has a type, weights held outside the IR included."""

    name = "arith.constant"

    value = prop_def()  # type: ignore[assignment]
    result = result_def()

    # The type is the literal's own, which a declarative format cannot express.
    assembly_format = None  # type: ignore[assignment]

    @classmethod
    def of(cls, value: Attribute) -> Self:
        """The constant with this literal and the literal's type."""
        return cls.create(result_types=[literal_type(value)], properties={"value": value})

    def verify_(self) -> None:
        type_ = literal_type(self.value)
        if type_ != self.result.type:
            raise VerifyException(
                f"{self.name}: the literal has type {type_}, the result {self.result.type}"
            )

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        printer.print_attribute(self.value)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        attributes = parser.parse_optional_attr_dict()
        position = parser.pos
        value = parser.parse_attribute()
        if not isinstance(value, TypedAttribute):
            parser.raise_error("expected a literal with a type", position)
        constant = cls.of(value)
        constant.attributes |= attributes
        return constant


def literal_type(value: Attribute) -> Attribute:
    """The type of a literal.

    Raises:
        VerifyException: the attribute is not a literal with a type.
    """
    if not isinstance(value, TypedAttribute):
        raise VerifyException(f"arith.constant: {value} is not a literal with a type")
    return value.get_type()


@irdl_op_definition
class RemfOp(arith.FloatingPointLikeBinaryOperation):
    """The remainder of x / y, with the sign of x."""

    name = "arith.remf"

    traits = traits_def(Pure())


@irdl_op_definition
class IndexCastUIOp(FormattedOp):
    """Convert between index and an unsigned integer."""

    name = "arith.index_castui"

    input = operand_def(INDEX_OR_INTEGER)
    non_neg = opt_prop_def(UnitAttr, prop_name="nonNeg")
    result = result_def(INDEX_OR_INTEGER)
    traits = traits_def(Pure())

    FORMAT: ClassVar[str] = (
        "$input (`nneg` $nonNeg^)? attr-dict `:` type($input) `to` type($result)"
    )


@irdl_op_definition
class ConvertfOp(FormattedOp):
    """Convert between float types of equal width."""

    name = "arith.convertf"

    input = operand_def(FLOAT)
    fastmath = opt_prop_def(FastMathFlagsAttr)
    result = result_def(FLOAT)
    traits = traits_def(Pure())

    FORMAT: ClassVar[str] = (
        "$input (`fastmath` `` $fastmath^)? attr-dict `:` type($input) `to` type($result)"
    )


@irdl_op_definition
class FlushDenormalsOp(math.FloatingPointLikeUnaryMathOperation):
    """x, or zero with its sign if x is denormal."""

    name = "arith.flush_denormals"

    traits = traits_def(Pure())


@irdl_op_definition
class TruncIOp(FormattedOp):
    """Convert to a narrower integer; MLIR's generic form always names the overflow flags."""

    name = "arith.trunci"

    input = operand_def(INTEGER)
    overflow_flags = prop_def(
        IntegerOverflowAttr, default_value=IntegerOverflowAttr("none"), prop_name="overflowFlags"
    )
    result = result_def(INTEGER)
    traits = traits_def(Pure())

    FORMAT: ClassVar[str] = (
        "$input (`overflow` `` $overflowFlags^)? attr-dict `:` type($input) `to` type($result)"
    )


class ConversionOp(FormattedOp, ABC):
    """A conversion between integers and floats, of numbers or tensors."""

    traits = traits_def(Pure())

    FORMAT: ClassVar[str] = "$input attr-dict `:` type($input) `to` type($result)"


@irdl_op_definition
class SIToFPOp(ConversionOp):
    """Convert a signed integer to a float."""

    name = "arith.sitofp"

    input = operand_def(INTEGER)
    result = result_def(FLOAT)


@irdl_op_definition
class FPToSIOp(ConversionOp):
    """Convert a float to a signed integer, rounded towards zero."""

    name = "arith.fptosi"

    input = operand_def(FLOAT)
    result = result_def(INTEGER)


def extended(original: Dialect, *operations: type[Operation]) -> Dialect:
    """`original` with operations added, or replaced where the name is there already."""
    own = {op.name: op for op in (*original.operations, *operations)}
    dialect = Dialect(original.name, list(own.values()), list(original.attributes))
    dialect._interfaces = original._interfaces
    return dialect


ARITH = extended(
    arith.Arith,
    ConstantOp,
    ConvertfOp,
    FPToSIOp,
    FlushDenormalsOp,
    IndexCastUIOp,
    RemfOp,
    SIToFPOp,
    TruncIOp,
)
