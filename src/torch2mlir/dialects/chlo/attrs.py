"""Attributes of CHLO."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.irdl import irdl_attr_definition

from torch2mlir.dialects.enum_attributes import attributes_of, enum_attribute
from torch2mlir.dialects.stablehlo.attrs import StructAttr
from torch2mlir.dialects.stablehlo.enums import ComparisonDirection, ComparisonType, Precision

ComparisonDirectionAttr = enum_attribute("chlo.comparison_direction", ComparisonDirection)
ComparisonTypeAttr = enum_attribute("chlo.comparison_type", ComparisonType)
PrecisionAttr = enum_attribute("chlo.precision", Precision)


@irdl_attr_definition(init=False)
class RaggedDotDimensionNumbersAttr(StructAttr):
    """Batching, contracting, ragged and group dimensions of ``ragged_dot``."""

    name = "chlo.ragged_dot"

    lhs_batching_dimensions: DenseArrayBase
    rhs_batching_dimensions: DenseArrayBase
    lhs_contracting_dimensions: DenseArrayBase
    rhs_contracting_dimensions: DenseArrayBase
    lhs_ragged_dimensions: DenseArrayBase
    rhs_group_dimensions: DenseArrayBase


ATTRIBUTES = attributes_of("chlo", globals())
