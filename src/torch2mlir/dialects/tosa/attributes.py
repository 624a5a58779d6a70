"""The TOSA dialect's type and enumeration attributes."""

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum

from torch2mlir.dialects.enum_attributes import (
    InAngleBrackets,
    attributes_of,
    enum_attribute,
    word_attribute,
)


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


NanModeAttr = enum_attribute("tosa.nan_mode", NanMode, InAngleBrackets)
RoundingModeAttr = word_attribute(
    "tosa.rounding_mode", "SINGLE_ROUND INEXACT_ROUND DOUBLE_ROUND", InAngleBrackets
)
ResizeModeAttr = word_attribute("tosa.resize_mode", "NEAREST_NEIGHBOR BILINEAR", InAngleBrackets)
BlockSizeAttr = word_attribute("tosa.block_size", "BLOCK_SIZE_1 BLOCK_SIZE_32", InAngleBrackets)
"""How many values of a block-scaled tensor share one scale."""

ATTRIBUTES = attributes_of("tosa", globals())
