"""Enumerations of StableHLO: as Python enums and as attributes, ``#stablehlo<precision HIGH>``."""

from __future__ import annotations

from xdsl.dialects.utils import EnumAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.str_enum import StrEnum

from torch2mlir.dialects.enum_attributes import InAngleBrackets, enum_attribute, word_attribute


class ComparisonDirection(StrEnum):
    """How ``compare`` relates its two operands."""

    EQ = "EQ"
    NE = "NE"
    GE = "GE"
    GT = "GT"
    LE = "LE"
    LT = "LT"


class ComparisonType(StrEnum):
    """The order ``compare`` uses; ``TOTALORDER`` orders NaNs too."""

    NOTYPE = "NOTYPE"
    FLOAT = "FLOAT"
    TOTALORDER = "TOTALORDER"
    SIGNED = "SIGNED"
    UNSIGNED = "UNSIGNED"


class Precision(StrEnum):
    """Precision of one operand of a contraction."""

    DEFAULT = "DEFAULT"
    HIGH = "HIGH"
    HIGHEST = "HIGHEST"


class ResultAccuracyMode(StrEnum):
    """How exact a transcendental function has to be."""

    DEFAULT = "DEFAULT"
    HIGHEST = "HIGHEST"
    TOLERANCE = "TOLERANCE"


ComparisonDirectionAttr = enum_attribute("stablehlo.comparison_direction", ComparisonDirection)
ComparisonTypeAttr = enum_attribute("stablehlo.comparison_type", ComparisonType)
PrecisionAttr = enum_attribute("stablehlo.precision", Precision)
FftTypeAttr = word_attribute("stablehlo.fft_type", "FFT IFFT RFFT IRFFT")
TransposeAttr = word_attribute(
    "stablehlo.transpose", "TRANSPOSE_INVALID NO_TRANSPOSE TRANSPOSE ADJOINT"
)
"""What ``triangular_solve`` does with its matrix first."""
RngDistributionAttr = word_attribute("stablehlo.rng_distribution", "UNIFORM NORMAL")
RngAlgorithmAttr = word_attribute("stablehlo.rng_algorithm", "DEFAULT THREE_FRY PHILOX")


@irdl_attr_definition
class ResultAccuracyModeAttr(InAngleBrackets, EnumAttribute[ResultAccuracyMode]):
    """``#stablehlo.result_accuracy_mode<HIGHEST>``."""

    name = "stablehlo.result_accuracy_mode"
