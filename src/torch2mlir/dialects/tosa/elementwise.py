"""Elementwise operations: operands of equal rank, dimensions of size 1 broadcast."""

from abc import ABC

from xdsl.dialects.builtin import AnyFloat, BoolAttr, FloatAttr, IntegerAttr, i1, i8
from xdsl.irdl import (
    base,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Commutative, Pure
from xdsl.utils.hints import isa

from torch2mlir.dialects.tosa.attributes import NanModeAttr, RoundingModeAttr
from torch2mlir.dialects.tosa.base import (
    PROPAGATE,
    TENSOR,
    TosaOp,
    element_type,
    require,
    require_broadcast,
    require_same_element_type,
    require_same_shape,
    require_single_element,
)


class UnaryOp(TosaOp, ABC):
    """One tensor in, a tensor of the same type out."""

    input1 = operand_def(TENSOR)
    output = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        require_same_shape(self, input1=self.input1, output=self.output)
        require_same_element_type(self, input1=self.input1, output=self.output)


class BinaryOp(TosaOp, ABC):
    """Two tensors of one element type."""

    input1 = operand_def(TENSOR)
    input2 = operand_def(TENSOR)
    output = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        require_broadcast(self, (self.input1, self.input2), self.output)
        require_same_element_type(self, input1=self.input1, input2=self.input2, output=self.output)


class NanModeBinaryOp(BinaryOp, ABC):
    """A binary operation that compares, and so has an opinion on NaN."""

    nan_mode = opt_prop_def(NanModeAttr, default_value=PROPAGATE)


class ComparisonOp(TosaOp, ABC):
    """Two tensors of one element type in, booleans out."""

    input1 = operand_def(TENSOR)
    input2 = operand_def(TENSOR)
    output = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        require_broadcast(self, (self.input1, self.input2), self.output)
        require_same_element_type(self, input1=self.input1, input2=self.input2)
        require(
            element_type(self.output) == i1,
            f"{self.name}: result must have element type i1, got {self.output.type}",
        )


@irdl_op_definition
class AbsOp(UnaryOp):
    """|x|."""

    name = "tosa.abs"


@irdl_op_definition
class BitwiseNotOp(UnaryOp):
    """~x on integers."""

    name = "tosa.bitwise_not"


@irdl_op_definition
class CeilOp(UnaryOp):
    """Round up."""

    name = "tosa.ceil"


@irdl_op_definition
class ClzOp(UnaryOp):
    """Number of leading zero bits."""

    name = "tosa.clz"


@irdl_op_definition
class CosOp(UnaryOp):
    """Cosine of an angle in radians."""

    name = "tosa.cos"


@irdl_op_definition
class ErfOp(UnaryOp):
    """Gauss error function."""

    name = "tosa.erf"


@irdl_op_definition
class ExpOp(UnaryOp):
    """e to the power x."""

    name = "tosa.exp"


@irdl_op_definition
class FloorOp(UnaryOp):
    """Round down."""

    name = "tosa.floor"


@irdl_op_definition
class IdentityOp(UnaryOp):
    """x itself."""

    name = "tosa.identity"


@irdl_op_definition
class LogOp(UnaryOp):
    """Natural logarithm."""

    name = "tosa.log"


@irdl_op_definition
class LogicalNotOp(UnaryOp):
    """not x on booleans."""

    name = "tosa.logical_not"


@irdl_op_definition
class ReciprocalOp(UnaryOp):
    """1 / x."""

    name = "tosa.reciprocal"


@irdl_op_definition
class RsqrtOp(UnaryOp):
    """1 / sqrt(x)."""

    name = "tosa.rsqrt"


@irdl_op_definition
class SigmoidOp(UnaryOp):
    """1 / (1 + exp(-x))."""

    name = "tosa.sigmoid"


@irdl_op_definition
class SinOp(UnaryOp):
    """Sine of an angle in radians."""

    name = "tosa.sin"


@irdl_op_definition
class TanhOp(UnaryOp):
    """Hyperbolic tangent."""

    name = "tosa.tanh"


@irdl_op_definition
class AddOp(BinaryOp):
    """x + y."""

    name = "tosa.add"

    traits = traits_def(Commutative())


@irdl_op_definition
class SubOp(BinaryOp):
    """x - y."""

    name = "tosa.sub"


@irdl_op_definition
class PowOp(BinaryOp):
    """x to the power y."""

    name = "tosa.pow"


@irdl_op_definition
class IntDivOp(BinaryOp):
    """Integer x / y, rounded towards zero."""

    name = "tosa.intdiv"


@irdl_op_definition
class BitwiseAndOp(BinaryOp):
    """x & y on integers."""

    name = "tosa.bitwise_and"

    traits = traits_def(Commutative())


@irdl_op_definition
class BitwiseOrOp(BinaryOp):
    """x | y on integers."""

    name = "tosa.bitwise_or"

    traits = traits_def(Commutative())


@irdl_op_definition
class BitwiseXorOp(BinaryOp):
    """x ^ y on integers."""

    name = "tosa.bitwise_xor"

    traits = traits_def(Commutative())


@irdl_op_definition
class LogicalAndOp(BinaryOp):
    """x and y on booleans."""

    name = "tosa.logical_and"

    traits = traits_def(Commutative())


@irdl_op_definition
class LogicalOrOp(BinaryOp):
    """x or y on booleans."""

    name = "tosa.logical_or"

    traits = traits_def(Commutative())


@irdl_op_definition
class LogicalXorOp(BinaryOp):
    """x != y on booleans."""

    name = "tosa.logical_xor"

    traits = traits_def(Commutative())


@irdl_op_definition
class LogicalLeftShiftOp(BinaryOp):
    """x << y."""

    name = "tosa.logical_left_shift"


@irdl_op_definition
class LogicalRightShiftOp(BinaryOp):
    """x >> y, zeros shifted in."""

    name = "tosa.logical_right_shift"


@irdl_op_definition
class MaximumOp(NanModeBinaryOp):
    """The larger of x and y."""

    name = "tosa.maximum"

    traits = traits_def(Commutative())


@irdl_op_definition
class MinimumOp(NanModeBinaryOp):
    """The smaller of x and y."""

    name = "tosa.minimum"

    traits = traits_def(Commutative())


@irdl_op_definition
class EqualOp(ComparisonOp):
    """x == y."""

    name = "tosa.equal"

    traits = traits_def(Commutative())


@irdl_op_definition
class GreaterOp(ComparisonOp):
    """x > y."""

    name = "tosa.greater"


@irdl_op_definition
class GreaterEqualOp(ComparisonOp):
    """x >= y."""

    name = "tosa.greater_equal"


@irdl_op_definition
class NegateOp(TosaOp):
    """-x, with a zero point of one element for operand and result."""

    name = "tosa.negate"

    input1 = operand_def(TENSOR)
    input1_zp = operand_def(TENSOR)
    output_zp = operand_def(TENSOR)
    output = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        require_same_shape(self, input1=self.input1, output=self.output)
        require_same_element_type(
            self,
            input1=self.input1,
            input1_zp=self.input1_zp,
            output_zp=self.output_zp,
            output=self.output,
        )
        require_single_element(self, input1_zp=self.input1_zp, output_zp=self.output_zp)


@irdl_op_definition
class MulOp(TosaOp):
    """Product; `shift` (tensor<1xi8>) rescales i32 products and is 0 for everything else."""

    name = "tosa.mul"

    input1 = operand_def(TENSOR)
    input2 = operand_def(TENSOR)
    shift = operand_def(TENSOR)
    output = result_def(TENSOR)
    traits = traits_def(Pure(), Commutative())

    def verify_(self) -> None:
        require_broadcast(self, (self.input1, self.input2), self.output)
        require_same_element_type(self, input1=self.input1, input2=self.input2)
        require_single_element(self, shift=self.shift)
        require(
            element_type(self.shift) == i8,
            f"{self.name}: shift must be tensor<1xi8>, got {self.shift.type}",
        )


@irdl_op_definition
class ArithmeticRightShiftOp(BinaryOp):
    """x >> y with sign; `round` adds the last bit shifted out."""

    name = "tosa.arithmetic_right_shift"

    round = prop_def(BoolAttr)


@irdl_op_definition
class ApplyScaleOp(TosaOp):
    """Fixed-point rescale of a value: (value * multiplier) >> shift, rounded."""

    name = "tosa.apply_scale"

    value = operand_def()
    multiplier = operand_def()
    shift = operand_def()
    rounding_mode = prop_def(RoundingModeAttr)
    output = result_def()
    traits = traits_def(Pure())


@irdl_op_definition
class SelectOp(TosaOp):
    """input2 where input1 (i1) holds, input3 elsewhere."""

    name = "tosa.select"

    input1 = operand_def(TENSOR)
    input2 = operand_def(TENSOR)
    input3 = operand_def(TENSOR)
    output = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        require_broadcast(self, (self.input1, self.input2, self.input3), self.output)
        require_same_element_type(self, input2=self.input2, input3=self.input3, output=self.output)
        require(
            element_type(self.input1) == i1,
            f"{self.name}: input1 must have element type i1, got {self.input1.type}",
        )


@irdl_op_definition
class ClampOp(TosaOp):
    """min(max(x, min_val), max_val); the bounds are of x's element type."""

    name = "tosa.clamp"

    input = operand_def(TENSOR)
    min_val = prop_def(base(IntegerAttr) | base(FloatAttr))
    max_val = prop_def(base(IntegerAttr) | base(FloatAttr))
    nan_mode = opt_prop_def(NanModeAttr, default_value=PROPAGATE)
    output = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        require_same_shape(self, input=self.input, output=self.output)
        require_same_element_type(self, input=self.input, output=self.output)
        element = element_type(self.input)
        for name, bound in (("min_val", self.min_val), ("max_val", self.max_val)):
            # Quantized and signed element types take the bounds of their storage.
            if isa(element, AnyFloat):
                require(
                    bound.type == element,
                    f"{self.name}: {name} must be a {element}, got {bound}",
                )
        low, high = self.min_val.value.data, self.max_val.value.data
        require(low <= high, f"{self.name}: min_val {low} is above max_val {high}")


@irdl_op_definition
class TableOp(TosaOp):
    """Look each i8 up in a table of 256 entries, each i16 in one of 513 with interpolation."""

    name = "tosa.table"

    input1 = operand_def(TENSOR)
    table = operand_def(TENSOR)
    output = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        require_same_shape(self, input1=self.input1, output=self.output)
