"""StableHLO functions of one tensor, element by element, and conversions of its elements."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import ComplexType, IntegerAttr, TensorType, i1, i32
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
from xdsl.traits import Pure

from torch2mlir.dialects.stablehlo import checks
from torch2mlir.dialects.stablehlo.attrs import ResultAccuracyAttr
from torch2mlir.dialects.stablehlo.checks import Kinds, require
from torch2mlir.dialects.stablehlo.syntax import SAME, HloOp, TypeSyntax

# --- functions -----------------------------------------------------------------------------------


class UnaryOp(HloOp):
    """One operand, and a result of its shape and element type."""

    TYPES: ClassVar[TypeSyntax] = SAME
    KINDS: ClassVar[Kinds] = checks.ANY

    operand = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        checks.require_kind(self.operand, self.KINDS)
        checks.require_same_shapes(self)
        expected = self.result_element_type(checks.tensor_type(self.operand).element_type)
        checks.require_element_type(self.result, expected, "result")

    def result_element_type(self, element_type: Attribute) -> Attribute:
        """Element type of the result for that of the operand."""
        return element_type


class FloatUnaryOp(UnaryOp):
    """A function of real numbers."""

    KINDS: ClassVar[Kinds] = checks.FLOATS


class FloatOrComplexUnaryOp(UnaryOp):
    """A transcendental function of real or complex numbers."""

    KINDS: ClassVar[Kinds] = checks.FLOAT_OR_COMPLEX

    result_accuracy = opt_prop_def(ResultAccuracyAttr)


class IntegerUnaryOp(UnaryOp):
    """A function of the bits of an integer."""

    KINDS: ClassVar[Kinds] = checks.INTEGERS


class RealPartUnaryOp(UnaryOp):
    """Complex operand, real result; real numbers stay what they are."""

    KINDS: ClassVar[Kinds] = checks.FLOAT_OR_COMPLEX

    def result_element_type(self, element_type: Attribute) -> Attribute:
        return element_type.element_type if isinstance(element_type, ComplexType) else element_type


@irdl_op_definition
class AbsOp(RealPartUnaryOp):
    """Absolute value, or modulus."""

    name = "stablehlo.abs"
    KINDS: ClassVar[Kinds] = checks.SIGNED_NUMBERS


@irdl_op_definition
class CbrtOp(FloatOrComplexUnaryOp):
    """Cubic root."""

    name = "stablehlo.cbrt"


@irdl_op_definition
class CeilOp(FloatUnaryOp):
    """Smallest integer not below."""

    name = "stablehlo.ceil"


@irdl_op_definition
class ClzOp(IntegerUnaryOp):
    """Number of leading zero bits."""

    name = "stablehlo.count_leading_zeros"


@irdl_op_definition
class CosineOp(FloatOrComplexUnaryOp):
    """Cosine."""

    name = "stablehlo.cosine"


@irdl_op_definition
class ExpOp(FloatOrComplexUnaryOp):
    """Exponential."""

    name = "stablehlo.exponential"


@irdl_op_definition
class Expm1Op(FloatOrComplexUnaryOp):
    """Exponential minus one, exact near zero."""

    name = "stablehlo.exponential_minus_one"


@irdl_op_definition
class FloorOp(FloatUnaryOp):
    """Largest integer not above."""

    name = "stablehlo.floor"


@irdl_op_definition
class ImagOp(RealPartUnaryOp):
    """Imaginary part."""

    name = "stablehlo.imag"


@irdl_op_definition
class IsFiniteOp(FloatUnaryOp):
    """Neither infinite nor NaN."""

    name = "stablehlo.is_finite"

    def result_element_type(self, element_type: Attribute) -> Attribute:
        return i1


@irdl_op_definition
class LogOp(FloatOrComplexUnaryOp):
    """Natural logarithm."""

    name = "stablehlo.log"


@irdl_op_definition
class Log1pOp(FloatOrComplexUnaryOp):
    """Natural logarithm of one plus the operand, exact near zero."""

    name = "stablehlo.log_plus_one"


@irdl_op_definition
class LogisticOp(FloatOrComplexUnaryOp):
    """Logistic function, ``1 / (1 + exp(-x))``."""

    name = "stablehlo.logistic"


@irdl_op_definition
class NegOp(UnaryOp):
    """Negation."""

    name = "stablehlo.negate"
    KINDS: ClassVar[Kinds] = checks.NUMBERS


@irdl_op_definition
class NotOp(UnaryOp):
    """Logical or bitwise not."""

    name = "stablehlo.not"
    KINDS: ClassVar[Kinds] = checks.LOGICAL


@irdl_op_definition
class PopulationCountOp(IntegerUnaryOp):
    """Number of bits that are set."""

    name = "stablehlo.popcnt"


@irdl_op_definition
class RealOp(RealPartUnaryOp):
    """Real part."""

    name = "stablehlo.real"


@irdl_op_definition
class RoundOp(FloatUnaryOp):
    """Nearest integer, halves away from zero."""

    name = "stablehlo.round_nearest_afz"


@irdl_op_definition
class RoundNearestEvenOp(FloatUnaryOp):
    """Nearest integer, halves to the even one: PyTorch's ``round``."""

    name = "stablehlo.round_nearest_even"


@irdl_op_definition
class RsqrtOp(FloatOrComplexUnaryOp):
    """Reciprocal of the square root."""

    name = "stablehlo.rsqrt"


@irdl_op_definition
class SignOp(UnaryOp):
    """Sign; of a complex number, the unit of its direction."""

    name = "stablehlo.sign"
    KINDS: ClassVar[Kinds] = checks.SIGNED_NUMBERS


@irdl_op_definition
class SineOp(FloatOrComplexUnaryOp):
    """Sine."""

    name = "stablehlo.sine"


@irdl_op_definition
class SqrtOp(FloatOrComplexUnaryOp):
    """Square root."""

    name = "stablehlo.sqrt"


@irdl_op_definition
class TanOp(FloatOrComplexUnaryOp):
    """Tangent."""

    name = "stablehlo.tan"


@irdl_op_definition
class TanhOp(FloatOrComplexUnaryOp):
    """Hyperbolic tangent."""

    name = "stablehlo.tanh"


# --- conversions ---------------------------------------------------------------------------------


class ElementTypeConversionOp(HloOp):
    """Another element type, the same shape."""

    TYPES: ClassVar[TypeSyntax] = SAME

    operand = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        checks.require_same_shapes(self)


@irdl_op_definition
class ConvertOp(ElementTypeConversionOp):
    """Conversion of each number to the result's element type."""

    name = "stablehlo.convert"


@irdl_op_definition
class BitcastConvertOp(HloOp):
    """The same bits as another element type; a last dimension takes up a change of width."""

    name = "stablehlo.bitcast_convert"

    operand = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        rank, result_rank = (len(checks.shape_of(value)) for value in (self.operand, self.result))
        require(
            abs(rank - result_rank) <= 1,
            f"rank changes by at most one, got {rank} and {result_rank}",
        )
        common = min(rank, result_rank)
        lhs, rhs = (checks.shape_of(value)[:common] for value in (self.operand, self.result))
        require(checks.same_shape(lhs, rhs), "leading dimensions must stay what they are")


@irdl_op_definition
class ReducePrecisionOp(UnaryOp):
    """Rounding to a float format of fewer bits, in the operand's own type."""

    name = "stablehlo.reduce_precision"
    KINDS: ClassVar[Kinds] = checks.FLOATS

    exponent_bits = prop_def(IntegerAttr)
    mantissa_bits = prop_def(IntegerAttr)

    def claimed(self) -> list[str]:
        return ["exponent_bits", "mantissa_bits"]

    def print_clauses(self, printer: Printer, separator: str) -> None:
        exponent, mantissa = self.exponent_bits.value.data, self.mantissa_bits.value.data
        printer.print_string(f"{separator}format = e{exponent}m{mantissa}")

    @classmethod
    def parse_clause(cls, parser: Parser, keyword: str, properties: dict[str, Attribute]) -> None:
        position = parser.pos
        exponent, found, mantissa = parser.parse_identifier().removeprefix("e").partition("m")
        if keyword != "format" or not (found and exponent.isdigit() and mantissa.isdigit()):
            parser.raise_error("expected format = e<bits>m<bits>", position)
        properties["exponent_bits"] = IntegerAttr(int(exponent), i32)
        properties["mantissa_bits"] = IntegerAttr(int(mantissa), i32)


@irdl_op_definition
class UniformQuantizeOp(ElementTypeConversionOp):
    """Float, or quantized, to quantized."""

    name = "stablehlo.uniform_quantize"


@irdl_op_definition
class UniformDequantizeOp(ElementTypeConversionOp):
    """Quantized to float."""

    name = "stablehlo.uniform_dequantize"


OPERATIONS = (
    AbsOp,
    BitcastConvertOp,
    CbrtOp,
    CeilOp,
    ClzOp,
    ConvertOp,
    CosineOp,
    ExpOp,
    Expm1Op,
    FloorOp,
    ImagOp,
    IsFiniteOp,
    Log1pOp,
    LogOp,
    LogisticOp,
    NegOp,
    NotOp,
    PopulationCountOp,
    RealOp,
    ReducePrecisionOp,
    RoundNearestEvenOp,
    RoundOp,
    RsqrtOp,
    SignOp,
    SineOp,
    SqrtOp,
    TanOp,
    TanhOp,
    UniformDequantizeOp,
    UniformQuantizeOp,
)
