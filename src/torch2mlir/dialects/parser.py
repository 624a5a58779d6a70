"""Reading MLIR text: xDSL's parser, with what weights need and what xDSL 0.74 does not read.

- A resource of the text (``dense_resource<name>``, its bytes at the end) becomes a weight, a reference to those bytes.
- The hexadecimal form of a float in a dense literal (``dense<0xFF800000>``, an infinity) is its bits; xDSL 0.74 reads
  the integer they spell.
- A location's alias may be defined after it is used: MLIR writes them all at the end. A location may be a range of a
  file, of which the beginning is kept.
"""

from __future__ import annotations

import re
from typing import Any

from xdsl.context import Context
from xdsl.dialect_interfaces.op_asm import OpAsmDialectInterface
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseResourceAttr,
    FileLineColLoc,
    FusedLoc,
    LocationAttr,
    ModuleOp,
    NoneAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation
from xdsl.parser import AttrParser, Parser, ParserState
from xdsl.utils.exceptions import ParseError as XdslParseError
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

from torch2mlir.dialects import make_context
from torch2mlir.dialects.torch.core import ConstantNoneOp, OperatorOp, build
from torch2mlir.dialects.torch.ops import registry_op
from torch2mlir.dialects.torch.types import none_type
from torch2mlir.dialects.weights import BufferSource, SourceAttr, WeightAttr
from torch2mlir.errors import ParseError

HEADER_BYTES = 4
"""A resource blob starts with its alignment, a 32-bit integer."""


def parse_module(text: str, name: str = "<text>", context: Context | None = None) -> ModuleOp:
    """The module in a text, in custom or generic syntax.

    Args:
        text: MLIR.
        name: what messages call it.
        context: the dialects to know; ours by default.

    Raises:
        ParseError: the text is not MLIR, or uses syntax none of the dialects has.
    """
    parser = MlirParser(context or make_context(), text, name)
    try:
        return parser.parse_module()
    except XdslParseError as error:
        raise ParseError(f"{name} is not valid MLIR: {error}") from error


class _Lexer(MLIRLexer):
    """A lexer that does not backtrack in strings: over one without an end, xDSL 0.74 takes exponential time."""

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')


class MlirParser(Parser):
    """xDSL's parser with weights from the text's own resources."""

    def __init__(self, context: Context, text: str, name: str = "<unknown>") -> None:
        super().__init__(context, "", name)
        self._parser_state = ParserState(_Lexer(Input(text, name)))
        self._blobs: dict[str, str] = {}
        self._ahead: dict[str, int] | None = None
        """Location aliases by name, with the places of their definitions; None until one is missed."""
        self._read_ahead: set[str] = set()

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        """The module, its resources resolved."""
        module = super().parse_module(allow_implicit_module)
        for op in list(module.walk()):
            if isinstance(op, OperatorOp):
                _as_registry_op(op)
        if self._blobs:
            sources = {
                name: BufferSource(
                    name, memoryview(bytes.fromhex(blob.removeprefix("0x"))[HEADER_BYTES:])
                )
                for name, blob in self._blobs.items()
            }
            for op in module.walk():
                _resolve(op, sources)
        return module

    def _parse_location(self) -> LocationAttr:
        if self._current_token.kind is MLIRTokenKind.HASH_IDENT:
            self._find_location(self._current_token.text)
        elif self._current_token.text == "fused":
            return self._parse_fused_location()
        location = super()._parse_location()
        if isinstance(location, FileLineColLoc) and self.parse_optional_keyword("to"):
            self.parse_optional_integer(allow_boolean=False, allow_negative=False)
            self.parse_punctuation(":")
            self.parse_integer(allow_boolean=False, allow_negative=False)
        return location

    def _parse_fused_location(self) -> FusedLoc:
        self.parse_keyword("fused")
        metadata: Attribute = NoneAttr()
        if self.parse_optional_punctuation("<"):
            metadata = self.parse_attribute()
            self.parse_punctuation(">")
        parts = self.parse_comma_separated_list(self.Delimiter.SQUARE, self._parse_location)
        return FusedLoc(ArrayAttr[Attribute](parts), metadata)

    def _find_location(self, alias: str) -> None:
        """Reads the definition of a location's alias where it stands, if that is further down."""
        if alias in self.attribute_aliases:
            return
        if self._ahead is None:
            text = self.lexer.input.content
            self._ahead = {m[1]: m.end(1) for m in _LOCATION_ALIAS.finditer(text)}
        if (place := self._ahead.pop(alias, None)) is None:
            return
        here = self.pos
        self._resume_from(place)
        self.parse_punctuation("=")
        self.attribute_aliases[alias] = self.parse_attribute()
        self._read_ahead.add(alias)
        self._resume_from(here)

    def _parse_alias_def(self) -> None:
        alias = self._current_token.text
        if alias in self._read_ahead:
            self._read_ahead.discard(alias)
            del self.attribute_aliases[alias]
        super()._parse_alias_def()

    def _parse_dialect_resource_handle(
        self, dialect_name: str, interface: OpAsmDialectInterface
    ) -> str:
        return self.parse_optional_str_literal() or self.parse_identifier(" for resource handle")

    def _parse_resource(self, dialect_name: str, interface: OpAsmDialectInterface) -> None:
        key = self._parse_dialect_resource_handle(dialect_name, interface)
        self.parse_punctuation(":")
        self._blobs[key] = self.parse_str_literal()

    def _parse_tensor_literal_element(self) -> AttrParser._TensorLiteralElement:
        is_hexadecimal = self._current_token.text[:2].lower() == "0x"
        element = super()._parse_tensor_literal_element()
        if is_hexadecimal:
            return _Bits(element.is_negative, element.value, element.span)
        return element


_LOCATION_ALIAS = re.compile(r"^(#[A-Za-z_][\w$.]*)\s*=\s*loc\(", re.MULTILINE)


class _Bits(AttrParser._TensorLiteralElement):
    """An element in hexadecimal: a number for integers, the bits for floats."""

    def to_type(self, parser: AttrParser, type: Any) -> Any:
        if isinstance(type, AnyFloat) and isinstance(self.value, int):
            return next(type.iter_unpack(self.value.to_bytes(type.compile_time_size, "little")))
        return super().to_type(parser, type)


def _as_registry_op(op: OperatorOp) -> None:
    """``torch.operator "torch.aten.diff"`` is how the registry's ops are written that Torch-MLIR does not have.

    There, arguments at the end may be left out that are None.
    """
    cls = registry_op(op.op_name)
    if op.parent is None or op.regions or cls is None:
        return
    operands = list(op.operands)
    for argument in cls.schema.arguments[len(operands) :]:
        if argument.default == "None":
            none = ConstantNoneOp.create(result_types=[none_type], location=op.location)
            op.parent.insert_op_before(none, op)
            operands.append(none.results[0])
    named = build(op.op_name, operands, op.result_types, op.location)
    op.parent.insert_op_before(named, op)
    for old, new in zip(op.results, named.results, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    op.detach()
    op.erase()


def _resolve(op: Operation, sources: dict[str, BufferSource]) -> None:
    for table in (op.properties, op.attributes):
        for key, value in table.items():
            if isinstance(value, DenseResourceAttr) and isinstance(value.type, TensorType):
                source = sources.get(value.resource_handle.data)
                if source is not None:
                    table[key] = WeightAttr(SourceAttr(source), value.type)
