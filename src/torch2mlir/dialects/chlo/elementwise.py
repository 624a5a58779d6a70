"""CHLO's special functions, element by element."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import (
    TensorType,
    i1,
)
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.traits import Pure

from torch2mlir.dialects.stablehlo import checks
from torch2mlir.dialects.stablehlo.checks import Kinds
from torch2mlir.dialects.stablehlo.syntax import HloOp, Signature, TypeSyntax, type_text


def _print_types(op: Operation) -> str:
    inputs = ", ".join([type_text(value.type) for value in op.operands])
    return f"{inputs} -> {type_text(op.results[0].type)}"


def _parse_types(parser: Parser, operand_count: int) -> Signature:
    inputs: list[Attribute] = [parser.parse_type()]
    while parser.parse_optional_punctuation(","):
        inputs.append(parser.parse_type())
    parser.parse_punctuation("->")
    return Signature(inputs, [parser.parse_type()])


ARROW = TypeSyntax(_print_types, _parse_types)
"""CHLO's ``type, type -> type``, without parentheses."""


class ElementwiseOp(HloOp):
    """Operands and result of one shape, CHLO syntax."""

    TYPES: ClassVar[TypeSyntax] = ARROW
    KINDS: ClassVar[Kinds] = checks.FLOATS

    result = result_def(TensorType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        checks.require_same_shapes(self)
        for operand in self.operands:
            checks.require_kind(operand, self.KINDS)
        element_type = checks.tensor_type(self.operands[0]).element_type
        checks.require_element_type(self.result, self.result_element_type(element_type), "result")

    def result_element_type(self, element_type: Attribute) -> Attribute:
        """Element type of the result for that of the first operand."""
        return element_type


class UnaryOp(ElementwiseOp):
    """A function of a real number."""

    operand = operand_def(TensorType)


class ComplexUnaryOp(UnaryOp):
    """A function of a real or complex number."""

    KINDS: ClassVar[Kinds] = checks.FLOAT_OR_COMPLEX


class PredicateOp(UnaryOp):
    """A test of a real number."""

    def result_element_type(self, element_type: Attribute) -> Attribute:
        return i1


@irdl_op_definition
class AcosOp(ComplexUnaryOp):
    """Arc cosine."""

    name = "chlo.acos"


@irdl_op_definition
class AcoshOp(ComplexUnaryOp):
    """Inverse hyperbolic cosine."""

    name = "chlo.acosh"


@irdl_op_definition
class AsinOp(ComplexUnaryOp):
    """Arc sine."""

    name = "chlo.asin"


@irdl_op_definition
class AsinhOp(ComplexUnaryOp):
    """Inverse hyperbolic sine."""

    name = "chlo.asinh"


@irdl_op_definition
class AtanOp(ComplexUnaryOp):
    """Arc tangent."""

    name = "chlo.atan"


@irdl_op_definition
class AtanhOp(ComplexUnaryOp):
    """Inverse hyperbolic tangent."""

    name = "chlo.atanh"


@irdl_op_definition
class BesselI1eOp(UnaryOp):
    """Exponentially scaled modified Bessel function of order 1."""

    name = "chlo.bessel_i1e"


@irdl_op_definition
class CoshOp(ComplexUnaryOp):
    """Hyperbolic cosine."""

    name = "chlo.cosh"


@irdl_op_definition
class DigammaOp(UnaryOp):
    """Derivative of the logarithm of the gamma function."""

    name = "chlo.digamma"


@irdl_op_definition
class ErfOp(UnaryOp):
    """Error function."""

    name = "chlo.erf"


@irdl_op_definition
class ErfInvOp(UnaryOp):
    """Inverse of the error function."""

    name = "chlo.erf_inv"


@irdl_op_definition
class ErfcOp(UnaryOp):
    """Complement of the error function."""

    name = "chlo.erfc"


@irdl_op_definition
class LgammaOp(UnaryOp):
    """Logarithm of the absolute value of the gamma function."""

    name = "chlo.lgamma"


@irdl_op_definition
class SinhOp(ComplexUnaryOp):
    """Hyperbolic sine."""

    name = "chlo.sinh"


@irdl_op_definition
class SquareOp(ComplexUnaryOp):
    """Square."""

    name = "chlo.square"


@irdl_op_definition
class TanOp(ComplexUnaryOp):
    """Tangent."""

    name = "chlo.tan"


@irdl_op_definition
class AsinAcosKernelOp(ComplexUnaryOp):
    """What ``asin`` and ``acos`` of complex numbers have in common."""

    name = "chlo._asin_acos_kernel"


@irdl_op_definition
class ConjOp(ComplexUnaryOp):
    """Complex conjugate."""

    name = "chlo.conj"


@irdl_op_definition
class IsInfOp(PredicateOp):
    """Infinite, of either sign."""

    name = "chlo.is_inf"


@irdl_op_definition
class IsNegInfOp(PredicateOp):
    """Negative infinity."""

    name = "chlo.is_neg_inf"


@irdl_op_definition
class IsPosInfOp(PredicateOp):
    """Positive infinity."""

    name = "chlo.is_pos_inf"


@irdl_op_definition
class NextAfterOp(ElementwiseOp):
    """Next representable number after `x` toward `y`."""

    name = "chlo.next_after"

    x = operand_def(TensorType)
    y = operand_def(TensorType)


@irdl_op_definition
class PolygammaOp(ElementwiseOp):
    """Derivative of order `n` of ``digamma``."""

    name = "chlo.polygamma"

    n = operand_def(TensorType)
    x = operand_def(TensorType)


@irdl_op_definition
class ZetaOp(ElementwiseOp):
    """Hurwitz zeta function."""

    name = "chlo.zeta"

    x = operand_def(TensorType)
    q = operand_def(TensorType)


@irdl_op_definition
class MulhiOp(ElementwiseOp):
    """Upper half of the bits of an integer product."""

    name = "chlo.mulhi"
    KINDS: ClassVar[Kinds] = checks.INTEGERS

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)


OPERATIONS = (
    AcosOp,
    AcoshOp,
    AsinAcosKernelOp,
    AsinOp,
    AsinhOp,
    AtanOp,
    AtanhOp,
    BesselI1eOp,
    ConjOp,
    CoshOp,
    DigammaOp,
    ErfInvOp,
    ErfOp,
    ErfcOp,
    IsInfOp,
    IsNegInfOp,
    IsPosInfOp,
    LgammaOp,
    MulhiOp,
    NextAfterOp,
    PolygammaOp,
    SinhOp,
    SquareOp,
    TanOp,
    ZetaOp,
)
