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
from torch2mlir.dialects.stablehlo.attrs import BoundsAttr as BoundsAttr
from torch2mlir.dialects.stablehlo.attrs import ConvDimensionNumbersAttr as ConvDimensionNumbersAttr
from torch2mlir.dialects.stablehlo.attrs import DotDimensionNumbersAttr as DotDimensionNumbersAttr
from torch2mlir.dialects.stablehlo.attrs import (
    GatherDimensionNumbersAttr as GatherDimensionNumbersAttr,
)
from torch2mlir.dialects.stablehlo.attrs import (
    ScatterDimensionNumbersAttr as ScatterDimensionNumbersAttr,
)
from torch2mlir.dialects.stablehlo.attrs import TokenType as TokenType
from torch2mlir.dialects.stablehlo.attrs import i64_attr as i64_attr
from torch2mlir.dialects.stablehlo.attrs import padding_attr as padding_attr
from torch2mlir.dialects.stablehlo.attrs import padding_pairs as padding_pairs
from torch2mlir.dialects.stablehlo.enums import ComparisonDirection as ComparisonDirection
from torch2mlir.dialects.stablehlo.enums import ComparisonDirectionAttr as ComparisonDirectionAttr
from torch2mlir.dialects.stablehlo.enums import ComparisonType as ComparisonType
from torch2mlir.dialects.stablehlo.enums import ComparisonTypeAttr as ComparisonTypeAttr
from torch2mlir.dialects.stablehlo.kinds import StableHLO as StableHLO
from torch2mlir.dialects.stablehlo.reduction import assign_body as assign_body
from torch2mlir.dialects.stablehlo.reduction import combiner as combiner
from torch2mlir.dialects.stablehlo.reduction import comparator as comparator
from torch2mlir.dialects.tensors import i64_array as i64_array


def __getattr__(name: str) -> type[RowOp]:
    """The class of an op, made when it is first asked for."""
    op_type = globals()[name] = StableHLO[name]
    return op_type
