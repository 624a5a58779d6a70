"""What the rows of CHLO are made of: StableHLO's kinds, with CHLO's own attributes."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase

from torch2mlir.dialects.chlo import attrs
from torch2mlir.dialects.rows import Kind, OpTable
from torch2mlir.dialects.stablehlo.kinds import KINDS, enumeration, precisions, reads

CHLO = OpTable(
    "chlo",
    {
        **KINDS,
        "direction": enumeration(attrs.ComparisonDirectionAttr),
        "order": enumeration(attrs.ComparisonTypeAttr),
        "precisions": precisions(attrs.PrecisionAttr),
        "segments": Kind(DenseArrayBase),
        "ragged_dims": Kind(attrs.RaggedDotDimensionNumbersAttr),
    },
    attrs.ATTRIBUTES,
    reads,
)
