"""CHLO ops that broadcast their operands to each other as numpy does."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import (
    ComplexType,
    TensorType,
    i1,
)
from xdsl.ir import Attribute
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from torch2mlir.dialects.chlo.attrs import ComparisonDirectionAttr, ComparisonTypeAttr
from torch2mlir.dialects.stablehlo import checks
from torch2mlir.dialects.stablehlo.attrs import I64_ARRAY
from torch2mlir.dialects.stablehlo.checks import Kinds, shape_of
from torch2mlir.dialects.stablehlo.syntax import HloOp


class BroadcastingOp(HloOp):
    """A binary op whose operands are broadcast to each other as numpy does.

    `broadcast_dimensions` says where the dimensions of the operand of lower rank go, if not last.
    """

    KINDS: ClassVar[Kinds] = checks.ANY

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    broadcast_dimensions = opt_prop_def(I64_ARRAY)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        checks.require_kind(self.lhs, self.KINDS)
        element_type = checks.tensor_type(self.lhs).element_type
        checks.require_element_type(self.rhs, element_type, "rhs")
        checks.require_element_type(self.result, self.result_element_type(element_type), "result")
        rank = max(len(shape_of(self.lhs)), len(shape_of(self.rhs)))
        checks.require_length(shape_of(self.result), rank, "result shape")

    def result_element_type(self, element_type: Attribute) -> Attribute:
        """Element type of the result for that of the operands."""
        return element_type


@irdl_op_definition
class BroadcastAddOp(BroadcastingOp):
    """``add`` with broadcasting."""

    name = "chlo.broadcast_add"


@irdl_op_definition
class BroadcastAndOp(BroadcastingOp):
    """``and`` with broadcasting."""

    name = "chlo.broadcast_and"
    KINDS: ClassVar[Kinds] = checks.LOGICAL


@irdl_op_definition
class BroadcastAtan2Op(BroadcastingOp):
    """``atan2`` with broadcasting."""

    name = "chlo.broadcast_atan2"
    KINDS: ClassVar[Kinds] = checks.FLOAT_OR_COMPLEX


@irdl_op_definition
class BroadcastDivOp(BroadcastingOp):
    """``divide`` with broadcasting."""

    name = "chlo.broadcast_divide"
    KINDS: ClassVar[Kinds] = checks.NUMBERS


@irdl_op_definition
class BroadcastMaxOp(BroadcastingOp):
    """``maximum`` with broadcasting."""

    name = "chlo.broadcast_maximum"


@irdl_op_definition
class BroadcastMinOp(BroadcastingOp):
    """``minimum`` with broadcasting."""

    name = "chlo.broadcast_minimum"


@irdl_op_definition
class BroadcastMulOp(BroadcastingOp):
    """``multiply`` with broadcasting."""

    name = "chlo.broadcast_multiply"


@irdl_op_definition
class BroadcastNextAfterOp(BroadcastingOp):
    """``next_after`` with broadcasting."""

    name = "chlo.broadcast_next_after"
    KINDS: ClassVar[Kinds] = checks.FLOATS


@irdl_op_definition
class BroadcastOrOp(BroadcastingOp):
    """``or`` with broadcasting."""

    name = "chlo.broadcast_or"
    KINDS: ClassVar[Kinds] = checks.LOGICAL


@irdl_op_definition
class BroadcastPolygammaOp(BroadcastingOp):
    """``polygamma`` with broadcasting."""

    name = "chlo.broadcast_polygamma"
    KINDS: ClassVar[Kinds] = checks.FLOATS


@irdl_op_definition
class BroadcastPowOp(BroadcastingOp):
    """``power`` with broadcasting."""

    name = "chlo.broadcast_power"
    KINDS: ClassVar[Kinds] = checks.NUMBERS


@irdl_op_definition
class BroadcastRemOp(BroadcastingOp):
    """``remainder`` with broadcasting."""

    name = "chlo.broadcast_remainder"
    KINDS: ClassVar[Kinds] = checks.NUMBERS


@irdl_op_definition
class BroadcastShiftLeftOp(BroadcastingOp):
    """``shift_left`` with broadcasting."""

    name = "chlo.broadcast_shift_left"
    KINDS: ClassVar[Kinds] = checks.INTEGERS


@irdl_op_definition
class BroadcastShiftRightArithmeticOp(BroadcastingOp):
    """``shift_right_arithmetic`` with broadcasting."""

    name = "chlo.broadcast_shift_right_arithmetic"
    KINDS: ClassVar[Kinds] = checks.INTEGERS


@irdl_op_definition
class BroadcastShiftRightLogicalOp(BroadcastingOp):
    """``shift_right_logical`` with broadcasting."""

    name = "chlo.broadcast_shift_right_logical"
    KINDS: ClassVar[Kinds] = checks.INTEGERS


@irdl_op_definition
class BroadcastSubOp(BroadcastingOp):
    """``subtract`` with broadcasting."""

    name = "chlo.broadcast_subtract"
    KINDS: ClassVar[Kinds] = checks.NUMBERS


@irdl_op_definition
class BroadcastXorOp(BroadcastingOp):
    """``xor`` with broadcasting."""

    name = "chlo.broadcast_xor"
    KINDS: ClassVar[Kinds] = checks.LOGICAL


@irdl_op_definition
class BroadcastZetaOp(BroadcastingOp):
    """``zeta`` with broadcasting."""

    name = "chlo.broadcast_zeta"
    KINDS: ClassVar[Kinds] = checks.FLOATS


@irdl_op_definition
class BroadcastComplexOp(BroadcastingOp):
    """``complex`` with broadcasting."""

    name = "chlo.broadcast_complex"
    KINDS: ClassVar[Kinds] = checks.FLOATS

    def result_element_type(self, element_type: Attribute) -> Attribute:
        return ComplexType(element_type)  # type: ignore[type-var]


@irdl_op_definition
class BroadcastCompareOp(BroadcastingOp):
    """``compare`` with broadcasting."""

    name = "chlo.broadcast_compare"

    comparison_direction = prop_def(ComparisonDirectionAttr)
    compare_type = opt_prop_def(ComparisonTypeAttr)

    def result_element_type(self, element_type: Attribute) -> Attribute:
        return i1


@irdl_op_definition
class BroadcastSelectOp(HloOp):
    """``select`` with broadcasting of all three operands."""

    name = "chlo.broadcast_select"

    pred = operand_def(TensorType)
    on_true = operand_def(TensorType)
    on_false = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        checks.require_element_type(self.pred, i1, "pred")
        element_type = checks.tensor_type(self.on_true).element_type
        checks.require_element_type(self.on_false, element_type, "on_false")
        checks.require_element_type(self.result, element_type, "result")


OPERATIONS = (
    BroadcastAddOp,
    BroadcastAndOp,
    BroadcastAtan2Op,
    BroadcastCompareOp,
    BroadcastComplexOp,
    BroadcastDivOp,
    BroadcastMaxOp,
    BroadcastMinOp,
    BroadcastMulOp,
    BroadcastNextAfterOp,
    BroadcastOrOp,
    BroadcastPolygammaOp,
    BroadcastPowOp,
    BroadcastRemOp,
    BroadcastSelectOp,
    BroadcastShiftLeftOp,
    BroadcastShiftRightArithmeticOp,
    BroadcastShiftRightLogicalOp,
    BroadcastSubOp,
    BroadcastXorOp,
    BroadcastZetaOp,
)
