"""What the rows of TOSA are made of: kinds of values and properties, and the form most ops are written in."""

from typing import Any

from xdsl.dialects.builtin import (
    I32,
    BoolAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    UnitAttr,
    UnrankedTensorType,
    i32,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute
from xdsl.irdl import base
from xdsl.parser import Parser
from xdsl.printer import Printer

from torch2mlir.dialects.assembly import Piece, Syntax
from torch2mlir.dialects.rows import SYMBOL, Kind, OpTable, RowOp
from torch2mlir.dialects.tosa.attributes import (
    ATTRIBUTES,
    BlockSizeAttr,
    NanMode,
    NanModeAttr,
    ResizeModeAttr,
    RoundingModeAttr,
    ShapeType,
)

PROPAGATE = NanModeAttr(NanMode.PROPAGATE)

_ENUMS: dict[str, type[EnumAttribute[Any]]] = {
    "nan_mode": NanModeAttr,
    "rounding_mode": RoundingModeAttr,
    "mode": ResizeModeAttr,
    "block_size": BlockSizeAttr,
}

KINDS: dict[str, Kind] = {
    "any": Kind(),
    "bool": Kind(BoolAttr),
    "elements": Kind(DenseIntOrFPElementsAttr),
    "i32": Kind(IntegerAttr[I32]),
    "i32s": Kind(DenseArrayBase.constr(I32)),
    "ints": Kind(base(DenseArrayBase)),
    "number": Kind(base(IntegerAttr) | base(FloatAttr)),
    "shape": Kind(base(ShapeType), entries=lambda type: type.rank.data),
    "string": Kind(StringAttr),
    "symbol": SYMBOL,
    "tensor": Kind(base(TensorType) | base(UnrankedTensorType)),
    **{name: Kind(attribute) for name, attribute in _ENUMS.items()},
    "nan_mode": Kind(NanModeAttr, default=PROPAGATE),
}

TOSA = OpTable("tosa", KINDS, ATTRIBUTES)


def _dictionary(bare_enums: bool) -> Piece:
    """`` {axis = 1 : i32, nan_mode = IGNORE}``; newer MLIR writes ``axis(1) nan_mode<IGNORE>``, and both are read.

    Args:
        bare_enums: whether an enumeration is its keyword alone.
    """

    def print_(op: RowOp, printer: Printer) -> None:
        named = {**op.properties, **op.attributes}
        if named.get("nan_mode") == PROPAGATE:
            del named["nan_mode"]
        if not named:
            return
        separator = " {"
        for name in sorted(named):
            printer.print_string(separator)
            separator = ", "
            value = named[name]
            if bare_enums and isinstance(value, EnumAttribute):
                printer.print_string(f"{name} = {value.data.value}")
            else:
                printer.print_identifier_or_string_literal(name)
                # torch-mlir-opt wants a value even for unit attributes.
                printer.print_string(" = ")
                printer.print_attribute(value)
        printer.print_string("}")

    return Piece(print_, lambda parser, read: read.take(_parse_clauses(parser)))


def _syntax(bare_enums: bool) -> Syntax:
    dictionary = _dictionary(bare_enums)
    return Syntax(" {operands}{dictionary} : {functional}", dictionary=dictionary)


SYNTAX = _syntax(bare_enums=True)
FULL_ENUMS = _syntax(bare_enums=False)


def _parse_clauses(parser: Parser) -> dict[str, Attribute]:
    """Parse `clause(value) clause<KEYWORD> {name = value, ...}`, all of it optional."""
    named: dict[str, Attribute] = {}
    while (name := parser.parse_optional_identifier()) is not None:
        if name in _ENUMS:
            with parser.in_angle_brackets():
                named[name] = _parse_enum(parser, name)
        else:
            with parser.in_parens():
                named[name] = _parse_clause_value(parser, name)

    def entry() -> None:
        key = parser.parse_identifier_or_str_literal()
        if parser.parse_optional_punctuation("=") is None:
            named[key] = UnitAttr()
        elif key in _ENUMS:
            named[key] = _parse_enum(parser, key)
        else:
            named[key] = parser.parse_attribute()

    parser.parse_optional_comma_separated_list(parser.Delimiter.BRACES, entry)
    return named


def _parse_enum(parser: Parser, name: str) -> Attribute:
    """Parse an enumeration as its bare keyword or in full."""
    if (attribute := parser.parse_optional_attribute()) is not None:
        return attribute
    return _ENUMS[name](parser.parse_str_enum(_ENUMS[name].enum_type))


def _parse_clause_value(parser: Parser, name: str) -> Attribute:
    """Parse what a clause's parentheses hold; integers there have no type of their own."""
    if name == "axis":
        return IntegerAttr(parser.parse_integer(), i32)
    if parser.parse_optional_punctuation("["):
        values: list[int] = []
        if parser.parse_optional_punctuation("]") is None:
            values = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_integer)
            parser.parse_punctuation("]")
        return DenseArrayBase.from_list(i32 if name == "perms" else i64, values)
    return parser.parse_attribute()
