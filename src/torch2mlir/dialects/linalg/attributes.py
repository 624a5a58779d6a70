"""The linalg dialect's own attributes."""

from xdsl.dialects.utils import EnumAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.str_enum import StrEnum

from torch2mlir.dialects.enum_attributes import InAngleBrackets


class TypeFn(StrEnum):
    """How an operand is converted to the type of the output."""

    CAST_SIGNED = "cast_signed"
    CAST_UNSIGNED = "cast_unsigned"


@irdl_attr_definition
class TypeFnAttr(InAngleBrackets, EnumAttribute[TypeFn]):
    """`#linalg.type_fn<cast_signed>`."""

    name = "linalg.type_fn"

    @property
    def is_signed(self) -> bool:
        """Whether integers are taken as signed."""
        return self.data is TypeFn.CAST_SIGNED
