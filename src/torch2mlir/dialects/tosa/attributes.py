"""The TOSA dialect's type and enumeration attributes."""

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum

from torch2mlir.dialects.enum_attributes import InAngleBrackets, enum_attribute


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


NanModeAttr = enum_attribute("tosa.nan_mode", NanMode, InAngleBrackets)
RoundingModeAttr = enum_attribute("tosa.rounding_mode", RoundingMode, InAngleBrackets)
ResizeModeAttr = enum_attribute("tosa.resize_mode", ResizeMode, InAngleBrackets)
BlockSizeAttr = enum_attribute("tosa.block_size", BlockSize, InAngleBrackets)

ATTRIBUTES: list[type[Attribute]] = [
    BlockSizeAttr,
    NanModeAttr,
    ResizeModeAttr,
    RoundingModeAttr,
    ShapeType,
]
