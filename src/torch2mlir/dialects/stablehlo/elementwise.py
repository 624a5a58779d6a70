"""StableHLO ops of two or three tensors that compute element by element."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.dialects.builtin import ComplexType, TensorType, i1
from xdsl.ir import Attribute
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Commutative, Pure

from torch2mlir.dialects.stablehlo import checks, syntax
from torch2mlir.dialects.stablehlo.checks import Kinds
from torch2mlir.dialects.stablehlo.enums import ComparisonDirectionAttr, ComparisonTypeAttr
from torch2mlir.dialects.stablehlo.syntax import SAME, HloOp, TypeSyntax

# --- two operands --------------------------------------------------------------------------------


class BinaryOp(HloOp):
    """Two operands of one shape and element type, and a result of the same."""

    TYPES: ClassVar[TypeSyntax] = SAME
    KINDS: ClassVar[Kinds] = checks.ANY

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        checks.require_kind(self.lhs, self.KINDS)
        checks.require_same_shapes(self)
        element_type = checks.tensor_type(self.lhs).element_type
        if checks.element_kind(element_type) is not None:
            checks.require_element_type(self.rhs, element_type, "rhs")
            checks.require_element_type(self.result, element_type, "result")


class CommutativeOp(BinaryOp):
    """A binary op whose operands may change places."""

    traits = traits_def(Commutative())


class LogicalOp(CommutativeOp):
    """A logical op on booleans, the bitwise one on integers."""

    KINDS: ClassVar[Kinds] = checks.LOGICAL


class ShiftOp(BinaryOp):
    """A shift of the bits of `lhs` by `rhs` places."""

    KINDS: ClassVar[Kinds] = checks.INTEGERS


@irdl_op_definition
class AddOp(CommutativeOp):
    """Sum; logical or, on booleans."""

    name = "stablehlo.add"


@irdl_op_definition
class AndOp(LogicalOp):
    """Logical or bitwise and."""

    name = "stablehlo.and"


@irdl_op_definition
class Atan2Op(BinaryOp):
    """Angle of the point (rhs, lhs)."""

    name = "stablehlo.atan2"
    KINDS: ClassVar[Kinds] = checks.FLOAT_OR_COMPLEX


@irdl_op_definition
class DivOp(BinaryOp):
    """Quotient; of integers, rounded toward zero."""

    name = "stablehlo.divide"
    KINDS: ClassVar[Kinds] = checks.NUMBERS


@irdl_op_definition
class MaxOp(CommutativeOp):
    """Larger of the two; NaN if one is."""

    name = "stablehlo.maximum"


@irdl_op_definition
class MinOp(CommutativeOp):
    """Smaller of the two; NaN if one is."""

    name = "stablehlo.minimum"


@irdl_op_definition
class MulOp(CommutativeOp):
    """Product; logical and, on booleans."""

    name = "stablehlo.multiply"


@irdl_op_definition
class OrOp(LogicalOp):
    """Logical or bitwise or."""

    name = "stablehlo.or"


@irdl_op_definition
class PowOp(BinaryOp):
    """`lhs` to the power of `rhs`."""

    name = "stablehlo.power"
    KINDS: ClassVar[Kinds] = checks.NUMBERS


@irdl_op_definition
class RemOp(BinaryOp):
    """Remainder, with the sign of `lhs`: PyTorch's ``fmod``."""

    name = "stablehlo.remainder"
    KINDS: ClassVar[Kinds] = checks.NUMBERS


@irdl_op_definition
class ShiftLeftOp(ShiftOp):
    """Left shift."""

    name = "stablehlo.shift_left"


@irdl_op_definition
class ShiftRightArithmeticOp(ShiftOp):
    """Right shift that keeps the sign."""

    name = "stablehlo.shift_right_arithmetic"


@irdl_op_definition
class ShiftRightLogicalOp(ShiftOp):
    """Right shift that fills with zeros."""

    name = "stablehlo.shift_right_logical"


@irdl_op_definition
class SubtractOp(BinaryOp):
    """Difference."""

    name = "stablehlo.subtract"
    KINDS: ClassVar[Kinds] = checks.NUMBERS


@irdl_op_definition
class XorOp(LogicalOp):
    """Logical or bitwise exclusive or."""

    name = "stablehlo.xor"


@irdl_op_definition
class ComplexOp(HloOp):
    """A complex number of its real and imaginary part."""

    name = "stablehlo.complex"
    TYPES: ClassVar[TypeSyntax] = syntax.COMPLEX

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        checks.require_same_shapes(self)
        part_type = checks.tensor_type(self.lhs).element_type
        checks.require_kind(self.lhs, checks.FLOATS)
        checks.require_element_type(self.rhs, part_type, "rhs")
        checks.require_element_type(self.result, ComplexType(part_type), "result")  # type: ignore[type-var]


@irdl_op_definition
class CompareOp(HloOp):
    """Comparison of two tensors; ``stablehlo.compare LT, %0, %1, FLOAT : ...``."""

    name = "stablehlo.compare"

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    comparison_direction = prop_def(ComparisonDirectionAttr)
    compare_type = opt_prop_def(ComparisonTypeAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.comparison_direction.data.value}, ")
        syntax.print_operands(printer, self.operands)
        if self.compare_type is not None:
            printer.print_string(f", {self.compare_type.data.value}")
        syntax.print_attr_dict(self, printer, printed=["comparison_direction", "compare_type"])
        printer.print_string(f" : {syntax.function_type_text(self)}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        direction = parser.parse_str_enum(ComparisonDirectionAttr.enum_type)
        properties: dict[str, Attribute] = {
            "comparison_direction": ComparisonDirectionAttr(direction)  # type: ignore[arg-type]
        }
        parser.parse_punctuation(",")
        operands = syntax.parse_operands(parser)
        compare_type = parser.parse_optional_str_enum(ComparisonTypeAttr.enum_type)
        if compare_type is not None:
            properties["compare_type"] = ComparisonTypeAttr(compare_type)  # type: ignore[arg-type]
        attributes = syntax.parse_attr_dict(cls, parser, properties)
        signature = syntax.parse_function_signature(parser)
        return syntax.build(cls, parser, operands, signature, properties, attributes)

    def verify_(self) -> None:
        checks.require_same_shapes(self)
        checks.require_element_type(self.rhs, checks.tensor_type(self.lhs).element_type, "rhs")
        checks.require_element_type(self.result, i1, "result")


# --- three operands ------------------------------------------------------------------------------


@irdl_op_definition
class SelectOp(HloOp):
    """`on_true` where the predicate, a scalar or of the same shape, holds, else `on_false`."""

    name = "stablehlo.select"
    TYPES: ClassVar[TypeSyntax] = syntax.SELECT

    pred = operand_def(TensorType)
    on_true = operand_def(TensorType)
    on_false = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        checks.require_element_type(self.pred, i1, "pred")
        shape = checks.shape_of(self.on_true)
        if checks.shape_of(self.pred):
            checks.require_shape(self.pred, shape, "pred")
        for value, what in ((self.on_false, "on_false"), (self.result, "result")):
            checks.require_shape(value, shape, what)
            checks.require_element_type(value, checks.tensor_type(self.on_true).element_type, what)


@irdl_op_definition
class ClampOp(HloOp):
    """The operand held between `min` and `max`, each a scalar or of the same shape."""

    name = "stablehlo.clamp"
    TYPES: ClassVar[TypeSyntax] = SAME

    min = operand_def(TensorType)
    operand = operand_def(TensorType)
    max = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        shape = checks.shape_of(self.operand)
        element_type = checks.tensor_type(self.operand).element_type
        for bound, what in ((self.min, "min"), (self.max, "max")):
            checks.require_element_type(bound, element_type, what)
            if checks.shape_of(bound):
                checks.require_shape(bound, shape, what)
        checks.require_shape(self.result, shape, "result")
        checks.require_element_type(self.result, element_type, "result")


OPERATIONS = (
    AddOp,
    AndOp,
    Atan2Op,
    ClampOp,
    CompareOp,
    ComplexOp,
    DivOp,
    MaxOp,
    MinOp,
    MulOp,
    OrOp,
    PowOp,
    RemOp,
    SelectOp,
    ShiftLeftOp,
    ShiftRightArithmeticOp,
    ShiftRightLogicalOp,
    SubtractOp,
    XorOp,
)
