"""The assembly of ops: text composed once, one reader and one writer for the syntax of all ops that are rows of data.

A template is the text after an op's name with fields in braces; what is outside of them is printed as it stands and
expected by the parser:

    "({operands}) dim_numbers = {dimension_numbers}, window = {{{clauses}}}{attributes} : {functional}"

``{operands}``
    the operands, separated by commas
``{arguments}``
    operands, then clauses ``key = value``, all separated by commas
``{clauses}``
    the clauses alone
``{attributes}``, ``{attributes_after_keyword}``
    a dictionary of what the rest of the template does not print
``{functional}``, ``{same}``, ..
    the types, see :data:`TYPES`
any other name
    the property of that name as its kind writes it; one that may be left out comes with a comma before it
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from io import StringIO
from string import Formatter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from xdsl.dialects.builtin import ComplexType, FunctionType, TensorType, TupleType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import OptPropertyDef
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

if TYPE_CHECKING:
    from torch2mlir.dialects.rows import RowOp

OpT = TypeVar("OpT", bound="RowOp")

# --- text ----------------------------------------------------------------------------------------


@lru_cache(maxsize=16384)
def type_text(type_: Attribute) -> str:
    """The MLIR text of a type (or of another attribute whose equality implies equal text).

    A model has thousands of operations but few distinct types, and walking a type parameter by parameter costs
    ten times more than hashing it. Two equal attributes may have different text (`0.0` and `-0.0`), two equal
    types may not.
    """
    stream = StringIO()
    Printer(stream).print_attribute(type_)
    return stream.getvalue()


def types_text(types: Iterable[Attribute]) -> str:
    """The MLIR text of a list of types, separated by commas."""
    return ", ".join(map(type_text, types))


def results_text(types: Iterable[Attribute]) -> str:
    """Result types as they follow an arrow: one bare, none or several in parentheses."""
    texts = list(map(type_text, types))
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def values_text(printer: Printer, values: Iterable[SSAValue]) -> str:
    """A comma-separated list of SSA names, as `printer` names the values."""
    known = printer._ssa_values
    names: list[str] = []
    for value in values:
        name = known.get(value)
        names.append(_new_name(printer, value) if name is None else name)
    return f"%{', %'.join(names)}" if names else ""


class _Nowhere(StringIO):
    """A stream that forgets what is written to it."""

    def write(self, text: str) -> int:
        return len(text)


_NOWHERE = _Nowhere()


def _new_name(printer: Printer, value: SSAValue) -> str:
    """Let the printer name a value it meets for the first time, without printing the name."""
    stream, printer.stream = printer.stream, _NOWHERE
    try:
        return printer.print_ssa_value(value)
    finally:
        printer.stream = stream


# --- what a template is made of ------------------------------------------------------------------


@dataclass(slots=True)
class Read:
    """What has been read of an op so far."""

    op_type: type[RowOp]
    operands: list[UnresolvedOperand] = field(default_factory=list)
    properties: dict[str, Attribute] = field(default_factory=dict)
    attributes: dict[str, Attribute] = field(default_factory=dict)
    inputs: Sequence[Attribute] = ()
    outputs: Sequence[Attribute] = ()
    at_comma: bool = False
    """A comma was read, and nothing after it."""

    def take(self, named: dict[str, Attribute]) -> None:
        """Divide a dictionary into the op's own properties and attributes of others."""
        own = self.op_type.get_irdl_definition().properties
        for name, value in named.items():
            (self.properties if name in own else self.attributes)[name] = value


class Piece(NamedTuple):
    """One field of a template.

    Attributes:
        print: writes it, with the space before it if there is one.
        parse: reads it.
        covers: the properties that it stands for.
    """

    print: Callable[[Any, Printer], None]
    parse: Callable[[Parser, Read], None]
    covers: tuple[str, ...] = ()


class Clause(NamedTuple):
    """``keyword = value``.

    Attributes:
        covers: the properties that it stands for.
        text: the value, or None where the clause is left out.
        parse: reads the value.
    """

    covers: tuple[str, ...]
    text: Callable[[Any], str | None]
    parse: Callable[[Parser, Read], None]


def of_property(name: str) -> Clause:
    """A clause for a property, written as its kind is."""

    def text(op: RowOp) -> str | None:
        value = op.properties.get(name)
        return None if value is None else op.kinds[name].text(value)

    def parse(parser: Parser, read: Read) -> None:
        read.properties[name] = read.op_type.kinds[name].parse(parser)

    return Clause((name,), text, parse)


# --- types ---------------------------------------------------------------------------------------


class TypeSyntax(NamedTuple):
    """The types of an op after the colon.

    Attributes:
        text: of the types, or None where they do not fit it and ``(...) -> ...`` is printed.
        parse: the types of so many operands and of the results.
        is_function: whether ``(...) -> ...`` is no alternative to it.
    """

    text: Callable[[Operation], str | None]
    parse: Callable[[Parser, int], tuple[Sequence[Attribute], Sequence[Attribute]]]
    is_function: bool = False

    def piece(self) -> Piece:
        """The field of a template."""
        return Piece(self._print, self._parse)

    def _print(self, op: Operation, printer: Printer) -> None:
        printer.print_string(self.text(op) or functional_text(op))

    def _parse(self, parser: Parser, read: Read) -> None:
        function_type = None if self.is_function else parser.parse_optional_function_type()
        if function_type is not None:
            read.inputs, read.outputs = function_type.inputs.data, function_type.outputs.data
        else:
            read.inputs, read.outputs = self.parse(parser, len(read.operands))


def functional_text(op: Operation) -> str:
    """``(operand types) -> result types``."""
    return f"({types_text(op.operand_types)}) -> {results_text(op.result_types)}"


def parse_functional(parser: Parser) -> tuple[Sequence[Attribute], Sequence[Attribute]]:
    """The inverse of :func:`functional_text`."""
    function_type: FunctionType = parser.parse_function_type()
    return function_type.inputs.data, function_type.outputs.data


def parse_types(parser: Parser) -> list[Attribute]:
    """Types separated by commas, at least one."""
    types: list[Attribute] = [parser.parse_type()]
    while parser.parse_optional_punctuation(","):
        types.append(parser.parse_type())
    return types


def parse_results(parser: Parser) -> Sequence[Attribute]:
    """One type, or any number of them in parentheses."""
    types = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    return [parser.parse_type()] if types is None else types


def _functional(parser: Parser, count: int) -> tuple[Sequence[Attribute], Sequence[Attribute]]:
    parser.raise_error("function type expected")


def _same_text(op: Operation) -> str | None:
    if len(op.results) != 1:
        return None
    result_type = op.results[0].type
    for operand in op.operands:
        if operand.type is not result_type and operand.type != result_type:
            return None
    return type_text(result_type)


def _same(parser: Parser, count: int) -> tuple[Sequence[Attribute], Sequence[Attribute]]:
    type_ = parser.parse_type()
    return [type_] * count, [type_]


def real_type(type_: Attribute) -> Attribute:
    """``tensor<..xf32>`` of ``tensor<..xcomplex<f32>>``; other types as they are."""
    if isinstance(type_, TensorType) and isinstance(type_.element_type, ComplexType):
        return TensorType(type_.element_type.element_type, type_.shape.data, type_.encoding)
    return type_


def _complex_text(op: Operation) -> str | None:
    result_type = op.results[0].type
    part_type = real_type(result_type)
    fits = part_type != result_type and all(value.type == part_type for value in op.operands)
    return type_text(result_type) if fits else None


def _complex(parser: Parser, count: int) -> tuple[Sequence[Attribute], Sequence[Attribute]]:
    type_ = parser.parse_type()
    return [real_type(type_)] * count, [type_]


def _select_text(op: Operation) -> str | None:
    predicate, on_true, on_false = op.operand_types
    fits = on_true == on_false == op.results[0].type
    return f"{type_text(predicate)}, {type_text(on_true)}" if fits else None


def _select(parser: Parser, count: int) -> tuple[Sequence[Attribute], Sequence[Attribute]]:
    predicate = parser.parse_type()
    parser.parse_punctuation(",")
    type_ = parser.parse_type()
    return [predicate, type_, type_], [type_]


def _tuple(parser: Parser, count: int) -> tuple[Sequence[Attribute], Sequence[Attribute]]:
    position = parser.pos
    type_ = parser.parse_type()
    if not isinstance(type_, TupleType):
        parser.raise_error("tuple type expected", position)
    return type_.types.data, [type_]


def _arrow(parser: Parser, count: int) -> tuple[Sequence[Attribute], Sequence[Attribute]]:
    inputs = parse_types(parser)
    parser.parse_punctuation("->")
    return inputs, parse_results(parser)


def _operands(parser: Parser, count: int) -> tuple[Sequence[Attribute], Sequence[Attribute]]:
    return parse_types(parser) if count else [], []


TYPES: dict[str, TypeSyntax] = {
    "functional": TypeSyntax(lambda op: None, _functional),
    # one type for all operands and the result
    "same": TypeSyntax(_same_text, _same),
    # the complex result's type; the operands are its parts
    "complex": TypeSyntax(_complex_text, _complex),
    # the predicate's type and the common type of the rest
    "select": TypeSyntax(_select_text, _select),
    # the tuple's type; the operands are its elements
    "tuple": TypeSyntax(lambda op: type_text(op.results[0].type), _tuple),
    # `type, type -> type`, without parentheses around the operands
    "arrow": TypeSyntax(
        lambda op: f"{types_text(op.operand_types)} -> {results_text(op.result_types)}",
        _arrow,
        True,
    ),
    "operand_types": TypeSyntax(lambda op: types_text(op.operand_types), _operands, True),
    "result_type": TypeSyntax(
        lambda op: type_text(op.results[0].type),
        lambda parser, count: ([], [parser.parse_type()]),
        True,
    ),
}
"""Name of a field -> how it writes the types."""


# --- operands, properties, attributes ------------------------------------------------------------


def _print_operands(op: Operation, printer: Printer) -> None:
    printer.print_string(values_text(printer, op.operands))


def parse_operands(parser: Parser, read: Read) -> None:
    """``%0, %1``, possibly none; a comma after the last one is remembered."""
    while (operand := parser.parse_optional_unresolved_operand()) is not None:
        read.operands.append(operand)
        read.at_comma = parser.parse_optional_punctuation(",") is not None
        if not read.at_comma:
            break


def _literal(text: str) -> Piece:
    tokens = re.findall(r"[A-Za-z_]+|->|[^\sA-Za-z_]", text)

    def parse(parser: Parser, read: Read) -> None:
        for token in tokens:
            if token == "," and read.at_comma:
                read.at_comma = False
            elif token[0].isalpha():
                parser.parse_keyword(token)
            else:
                parser.parse_punctuation(token)

    return Piece(lambda op, printer: printer.print_string(text), parse)


def _is_optional(op_type: type[RowOp], name: str) -> bool:
    return isinstance(op_type.get_irdl_definition().properties[name], OptPropertyDef)


def _property(name: str) -> Piece:
    clause = of_property(name)

    def print_(op: RowOp, printer: Printer) -> None:
        text = clause.text(op)
        if text is not None:
            printer.print_string(f", {text}" if _is_optional(type(op), name) else text)

    def parse(parser: Parser, read: Read) -> None:
        if _is_optional(read.op_type, name):
            if not read.at_comma:
                return
            read.at_comma = False
        clause.parse(parser, read)

    return Piece(print_, parse, (name,))


def attribute_dictionary(covered: Sequence[str], after_keyword: bool = False) -> Piece:
    """`` {...}`` with attributes and with the properties that are not covered, by name."""

    def print_(op: Operation, printer: Printer) -> None:
        if op.attributes or op.properties:
            named = dict(sorted({**op.properties, **op.attributes}.items()))
            printer.print_op_attributes(
                named, reserved_attr_names=covered, print_keyword=after_keyword
            )

    def parse(parser: Parser, read: Read) -> None:
        if not after_keyword or parser.parse_optional_keyword("attributes"):
            read.take(dict(parser.parse_optional_attr_dict()))

    return Piece(print_, parse)


# --- templates -----------------------------------------------------------------------------------


class Syntax:
    """A template with the clauses and fields of its own that it names."""

    def __init__(
        self, template: str, clauses: dict[str, Clause] | None = None, **own: Piece
    ) -> None:
        """Read the template.

        Args:
            template: see the module's own text.
            clauses: keyword -> clause, in the order of printing.
            own: fields that only this template has.
        """
        self.clauses = clauses or {}
        parts: list[Piece | str] = []
        covered = [name for clause in self.clauses.values() for name in clause.covers]
        for literal, name, _, _ in Formatter().parse(template):
            if literal:
                parts.append(_literal(literal))
            if name is None:
                continue
            part = own.get(name) or self._field(name)
            covered += part.covers if isinstance(part, Piece) else ()
            parts.append(part)
        pieces = [
            part if isinstance(part, Piece) else self._dictionary(part, covered) for part in parts
        ]
        self._printers = [piece.print for piece in pieces]
        self._parsers = [piece.parse for piece in pieces]

    def _field(self, name: str) -> Piece | str:
        if name in TYPES:
            return TYPES[name].piece()
        match name:
            case "operands":
                return Piece(_print_operands, parse_operands)
            case "arguments":
                return Piece(self._print_arguments, self._parse_arguments)
            case "clauses":
                return Piece(self._print_clauses, self._parse_clauses)
            case "attributes" | "attributes_after_keyword":
                return name
        return _property(name)

    def _dictionary(self, name: str, covered: Sequence[str]) -> Piece:
        return attribute_dictionary(covered, name == "attributes_after_keyword")

    def print(self, op: RowOp, printer: Printer) -> None:
        """Write an op after its name."""
        for print_ in self._printers:
            print_(op, printer)

    def parse(self, op_type: type[OpT], parser: Parser) -> OpT:
        """Read an op whose name has been read."""
        read = Read(op_type)
        for parse in self._parsers:
            parse(parser, read)
        return created(op_type, parser, read)

    def _texts(self, op: RowOp) -> list[str]:
        texts = list[str]()
        for keyword, clause in self.clauses.items() if op.properties else ():
            if (text := clause.text(op)) is not None:
                texts.append(f"{keyword} = {text}")
        return texts

    def _print_clauses(self, op: RowOp, printer: Printer) -> None:
        printer.print_string(", ".join(self._texts(op)))

    def _print_arguments(self, op: RowOp, printer: Printer) -> None:
        texts = self._texts(op)
        if op.operands:
            texts.insert(0, values_text(printer, op.operands))
        if texts:
            printer.print_string(" " + ", ".join(texts))

    def _parse_clauses(self, parser: Parser, read: Read) -> None:
        position = parser.pos
        while (keyword := parser.parse_optional_identifier()) is not None:
            if keyword not in self.clauses:
                expected = ", ".join(self.clauses) or "no clauses"
                parser.raise_error(
                    f"{read.op_type.name} takes {expected}, not '{keyword}'", position
                )
            parser.parse_punctuation("=")
            self.clauses[keyword].parse(parser, read)
            if parser.parse_optional_punctuation(",") is None:
                break

    def _parse_arguments(self, parser: Parser, read: Read) -> None:
        parse_operands(parser, read)
        if read.at_comma or not read.operands:
            read.at_comma = False
            self._parse_clauses(parser, read)


def created(op_type: type[OpT], parser: Parser, read: Read, **more: Any) -> OpT:
    """The op that has been read, its operands found."""
    return op_type.create(
        operands=parser.resolve_operands(read.operands, read.inputs, parser.pos),
        result_types=read.outputs,
        properties=read.properties,
        attributes=read.attributes,
        **more,
    )
