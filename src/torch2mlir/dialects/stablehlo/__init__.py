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
    DotAlgorithmAttr,
    DotDimensionNumbersAttr,
    GatherDimensionNumbersAttr,
    OutputOperandAliasAttr,
    ResultAccuracyAttr,
    ScatterDimensionNumbersAttr,
    TokenType,
    bool_array,
    i64_array,
    i64_attr,
    padding_attr,
    padding_pairs,
    precision_config,
)
from torch2mlir.dialects.stablehlo.enums import (
    ComparisonDirection,
    ComparisonDirectionAttr,
    ComparisonType,
    ComparisonTypeAttr,
    FftTypeAttr,
    Precision,
    PrecisionAttr,
    ResultAccuracyMode,
    ResultAccuracyModeAttr,
    RngAlgorithmAttr,
    RngDistributionAttr,
    TransposeAttr,
)
from torch2mlir.dialects.stablehlo.kinds import StableHLO
from torch2mlir.dialects.stablehlo.reduction import assign_body, combiner, comparator

__all__ = [
    "StableHLO",
    "BoundsAttr",
    "ComparisonDirection",
    "ComparisonDirectionAttr",
    "ComparisonType",
    "ComparisonTypeAttr",
    "ConvDimensionNumbersAttr",
    "DotAlgorithmAttr",
    "DotDimensionNumbersAttr",
    "FftTypeAttr",
    "GatherDimensionNumbersAttr",
    "OutputOperandAliasAttr",
    "Precision",
    "PrecisionAttr",
    "ResultAccuracyAttr",
    "ResultAccuracyMode",
    "ResultAccuracyModeAttr",
    "RngAlgorithmAttr",
    "RngDistributionAttr",
    "ScatterDimensionNumbersAttr",
    "TokenType",
    "TransposeAttr",
    "assign_body",
    "bool_array",
    "combiner",
    "comparator",
    "i64_array",
    "i64_attr",
    "padding_attr",
    "padding_pairs",
    "precision_config",
]


def __getattr__(name: str) -> type[RowOp]:
    """The class of an op, made when it is first asked for."""
    op_type = globals()[name] = StableHLO[name]
    return op_type
