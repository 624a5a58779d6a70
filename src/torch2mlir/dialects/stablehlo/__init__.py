"""The StableHLO dialect: https://openxla.org/stablehlo/spec. Its ops are rows, reached as ``stablehlo.AddOp``."""

from torch2mlir.dialects.rows import RowOp
from torch2mlir.dialects.stablehlo import (  # noqa: F401  (their rows are added to the dialect)
    constructors,
    control_flow,
    data_movement,
    elementwise,
    linear,
    linear_algebra,
)
from torch2mlir.dialects.stablehlo.attrs import (
    BoundsAttr,
    ConvDimensionNumbersAttr,
    DotDimensionNumbersAttr,
    GatherDimensionNumbersAttr,
    ScatterDimensionNumbersAttr,
    TokenType,
    i64_attr,
    padding_attr,
    padding_pairs,
)
from torch2mlir.dialects.stablehlo.enums import (
    ComparisonDirection,
    ComparisonDirectionAttr,
    ComparisonType,
    ComparisonTypeAttr,
)
from torch2mlir.dialects.stablehlo.kinds import StableHLO
from torch2mlir.dialects.stablehlo.reduction import assign_body, combiner, comparator
from torch2mlir.dialects.tensors import i64_array

__all__ = [
    "StableHLO",
    "BoundsAttr",
    "ComparisonDirection",
    "ComparisonDirectionAttr",
    "ComparisonType",
    "ComparisonTypeAttr",
    "ConvDimensionNumbersAttr",
    "DotDimensionNumbersAttr",
    "GatherDimensionNumbersAttr",
    "ScatterDimensionNumbersAttr",
    "TokenType",
    "assign_body",
    "combiner",
    "comparator",
    "i64_array",
    "i64_attr",
    "padding_attr",
    "padding_pairs",
]


def __getattr__(name: str) -> type[RowOp]:
    """The class of an op, made when it is first asked for."""
    op_type = globals()[name] = StableHLO[name]
    return op_type
