"""Attributes of CHLO."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DenseArrayBase,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import (
    irdl_attr_definition,
)

from torch2mlir.dialects.stablehlo.attrs import StructAttr, i64_array
from torch2mlir.dialects.stablehlo.enums import ComparisonDirection, ComparisonType, Precision


@irdl_attr_definition
class ComparisonDirectionAttr(EnumAttribute[ComparisonDirection], SpacedOpaqueSyntaxAttribute):
    """``#chlo<comparison_direction LT>``."""

    name = "chlo.comparison_direction"


@irdl_attr_definition
class ComparisonTypeAttr(EnumAttribute[ComparisonType], SpacedOpaqueSyntaxAttribute):
    """``#chlo<comparison_type FLOAT>``."""

    name = "chlo.comparison_type"


@irdl_attr_definition
class PrecisionAttr(EnumAttribute[Precision], SpacedOpaqueSyntaxAttribute):
    """``#chlo<precision HIGHEST>``."""

    name = "chlo.precision"


@irdl_attr_definition
class RaggedDotDimensionNumbersAttr(StructAttr):
    """Batching, contracting, ragged and group dimensions of ``ragged_dot``."""

    name = "chlo.ragged_dot"

    lhs_batching_dimensions: DenseArrayBase
    rhs_batching_dimensions: DenseArrayBase
    lhs_contracting_dimensions: DenseArrayBase
    rhs_contracting_dimensions: DenseArrayBase
    lhs_ragged_dimensions: DenseArrayBase
    rhs_group_dimensions: DenseArrayBase

    def __init__(
        self,
        *,
        lhs_batching_dimensions: Sequence[int] = (),
        rhs_batching_dimensions: Sequence[int] = (),
        lhs_contracting_dimensions: Sequence[int] = (),
        rhs_contracting_dimensions: Sequence[int] = (),
        lhs_ragged_dimensions: Sequence[int] = (),
        rhs_group_dimensions: Sequence[int] = (),
    ) -> None:
        super().__init__(
            i64_array(lhs_batching_dimensions),
            i64_array(rhs_batching_dimensions),
            i64_array(lhs_contracting_dimensions),
            i64_array(rhs_contracting_dimensions),
            i64_array(lhs_ragged_dimensions),
            i64_array(rhs_group_dimensions),
        )


ATTRIBUTES: list[type[Attribute]] = [
    ComparisonDirectionAttr,
    ComparisonTypeAttr,
    PrecisionAttr,
    RaggedDotDimensionNumbersAttr,
]
