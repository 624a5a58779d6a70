"""The TOSA dialect's type and enumeration attributes."""

from typing import Any

from xdsl.dialects.builtin import IntAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum


@irdl_attr_definition
class ShapeType(ParametrizedAttribute, TypeAttribute):
    """`!tosa.shape<N>`: a list of N sizes known at compile time."""

    name = "tosa.shape"

    rank: IntAttr

    def __init__(self, rank: int | IntAttr) -> None:
        super().__init__(IntAttr(rank) if isinstance(rank, int) else rank)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[IntAttr]:
        with parser.in_angle_brackets():
            return [IntAttr(parser.parse_integer(allow_boolean=False, allow_negative=False))]

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self.rank.data}>")


class NanMode(StrEnum):
    """What a comparison does with a NaN: hand it on, or take the other value."""

    PROPAGATE = "PROPAGATE"
    IGNORE = "IGNORE"


class RoundingMode(StrEnum):
    """How a rescale rounds."""

    SINGLE_ROUND = "SINGLE_ROUND"
    INEXACT_ROUND = "INEXACT_ROUND"
    DOUBLE_ROUND = "DOUBLE_ROUND"


class ResizeMode(StrEnum):
    """How a resize interpolates."""

    NEAREST_NEIGHBOR = "NEAREST_NEIGHBOR"
    BILINEAR = "BILINEAR"


class BlockSize(StrEnum):
    """How many values of a block-scaled tensor share one scale."""

    BLOCK_SIZE_1 = "BLOCK_SIZE_1"
    BLOCK_SIZE_32 = "BLOCK_SIZE_32"


class _BracketedEnum:
    """Enumerations print as `#tosa.<name><VALUE>`."""

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            super().print_parameter(printer)  # type: ignore[misc]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Any:
        with parser.in_angle_brackets():
            return super().parse_parameter(parser)  # type: ignore[misc]


@irdl_attr_definition
class NanModeAttr(_BracketedEnum, EnumAttribute[NanMode]):
    """`#tosa.nan_mode<PROPAGATE>`."""

    name = "tosa.nan_mode"


@irdl_attr_definition
class RoundingModeAttr(_BracketedEnum, EnumAttribute[RoundingMode]):
    """`#tosa.rounding_mode<SINGLE_ROUND>`."""

    name = "tosa.rounding_mode"


@irdl_attr_definition
class ResizeModeAttr(_BracketedEnum, EnumAttribute[ResizeMode]):
    """`#tosa.resize_mode<BILINEAR>`."""

    name = "tosa.resize_mode"


@irdl_attr_definition
class BlockSizeAttr(_BracketedEnum, EnumAttribute[BlockSize]):
    """`#tosa.block_size<BLOCK_SIZE_32>`."""

    name = "tosa.block_size"
