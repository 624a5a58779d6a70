"""The arith dialect with what xDSL lacks of it: register `ARITH` in place of xDSL's `Arith`.

Added: remf, index_castui, convertf, flush_denormals. Widened: constant takes weights that are held
outside the IR, trunci the overflow flags of MLIR's generic form, sitofp and fptosi tensors. Left
out: rounding modes, `exact`, `nneg` and fastmath of extf and truncf, which no PyTorch operation
asks for. The comparisons and select are xDSL's and scalar, as in the bodies of linalg operations.
"""

from typing import Self

from xdsl.dialects import arith
from xdsl.dialects.arith import FastMathFlagsAttr, IntegerOverflowAttr
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, UnitAttr, container_of
from xdsl.ir import Attribute, Dialect, Operation, TypedAttribute
from xdsl.irdl import (
    VarConstraint,
    base,
    irdl_op_definition,
    prop_def,
    result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.rows import Kind, op_classes

NO_FLAGS = FastMathFlagsAttr("none")
FLOAT = container_of(AnyFloat)


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


RemfOp, FlushDenormalsOp, ConvertfOp, FPToSIOp, IndexCastUIOp, SIToFPOp, TruncIOp = op_classes(
    "arith",
    {
        "fastmath": Kind(FastMathFlagsAttr),
        "flags": Kind(FastMathFlagsAttr, default=NO_FLAGS),
        "same": Kind(VarConstraint("T", FLOAT)),
        "float": Kind(FLOAT),
        "index": Kind(base(IntegerType) | base(IndexType)),
        "integer": Kind(container_of(IntegerType)),
        "overflow": Kind(IntegerOverflowAttr, default=IntegerOverflowAttr("none")),
        "unit": Kind(UnitAttr),
    },
    """
    remf lhs: same, rhs: same {fastmath?: flags} -> result: same
      | $lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result) |
      The remainder of x / y, with the sign of x.
    flush_denormals operand: same {fastmath?: flags} -> result: same
      | $operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result) |
      x, or zero with its sign if x is denormal.
    convertf input: float {fastmath?} -> result: float
      | $input (`fastmath` `` $fastmath^)? attr-dict `:` type($input) `to` type($result) |
      Converts between float types of equal width.
    fptosi input: float -> result: integer
      | $input attr-dict `:` type($input) `to` type($result) |
      Converts a float to a signed integer, rounded towards zero.
    index_castui input: index {non_neg=nonNeg?: unit} -> result: index
      | $input (`nneg` $nonNeg^)? attr-dict `:` type($input) `to` type($result) |
      Converts between index and an unsigned integer.
    sitofp input: integer -> result: float
      | $input attr-dict `:` type($input) `to` type($result) |
      Converts a signed integer to a float.
    trunci input: integer {overflow_flags=overflowFlags?: overflow} -> result: integer
      | $input (`overflow` `` $overflowFlags^)? attr-dict `:` type($input) `to` type($result) |
      Converts to a narrower integer; MLIR's generic form always names the overflow flags.
    """,
)


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
    FlushDenormalsOp,
    FPToSIOp,
    IndexCastUIOp,
    RemfOp,
    SIToFPOp,
    TruncIOp,
)
