"""Reading program text: xDSL's parser, with what weights need and it lacks.

- Resources belong to the text they are in. xDSL keeps them for the whole process and renames one that it
  meets again, also when a program mentions it twice.
- The hexadecimal form of a float in a dense literal (``dense<0xFF800000>``, an infinity) is its bits. xDSL
  reads the number those bits spell as an integer.
"""

from __future__ import annotations

from typing import Any

from xdsl.context import Context
from xdsl.dialect_interfaces.op_asm import OpAsmDialectInterface
from xdsl.dialects.builtin import AnyFloat, ModuleOp
from xdsl.parser import AttrParser, Parser
from xdsl.utils.exceptions import ParseError as XdslParseError

from torch2mlir.errors import ParseError
from torch2mlir.runtime.reference.values import Resources

HEADER_BYTES = 4
"""A resource blob starts with its alignment, a 32-bit integer."""


def read_program(context: Context, text: str) -> tuple[ModuleOp, Resources]:
    """Parses a module; also returns where the contents of its resources are.

    Raises:
        ParseError: the text is not MLIR, or uses syntax none of the dialects has.
    """
    parser = _ProgramParser(context, text, "<program>")
    try:
        module = parser.parse_module()
    except XdslParseError as error:
        raise ParseError(f"the program is not MLIR: {error}") from error
    blobs = parser.blobs

    def contents(name: str) -> bytes | None:
        blob = blobs.get(name)
        return bytes.fromhex(blob.removeprefix("0x"))[HEADER_BYTES:] if blob else None

    return module, contents


class _ProgramParser(Parser):
    """xDSL's parser with resources of its own."""

    def __init__(self, context: Context, text: str, name: str) -> None:
        super().__init__(context, text, name)
        self.blobs: dict[str, str] = {}

    def _parse_dialect_resource_handle(
        self, dialect_name: str, interface: OpAsmDialectInterface
    ) -> str:
        return self.parse_optional_str_literal() or self.parse_identifier(" for resource handle")

    def _parse_resource(self, dialect_name: str, interface: OpAsmDialectInterface) -> None:
        key = self._parse_dialect_resource_handle(dialect_name, interface)
        self.parse_punctuation(":")
        self.blobs[key] = self.parse_str_literal()

    def _parse_tensor_literal_element(self) -> AttrParser._TensorLiteralElement:
        is_hexadecimal = self._current_token.text[:2].lower() == "0x"
        element = super()._parse_tensor_literal_element()
        if is_hexadecimal:
            return _Bits(element.is_negative, element.value, element.span)
        return element


class _Bits(AttrParser._TensorLiteralElement):
    """An element in hexadecimal: a number for integers, the bits for floats."""

    def to_type(self, parser: AttrParser, type: Any) -> Any:
        if isinstance(type, AnyFloat) and isinstance(self.value, int):
            return next(type.iter_unpack(self.value.to_bytes(type.compile_time_size, "little")))
        return super().to_type(parser, type)
