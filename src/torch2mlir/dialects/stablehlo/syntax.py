"""The assembly grammar most StableHLO and CHLO ops share, printed and parsed from a table per op.

    stablehlo.pad %0, %1, low = [0], high = [1], interior = [0] {attributes} : (...) -> ...
                  operands `,` clauses                           attr-dict     types

An op names its clauses (`CLAUSES`) and how its types are abbreviated (`TYPES`). Declarative assembly
formats would say the same; a table costs no time at import and prints faster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple, Self, TypeVar, cast

from xdsl.dialects.builtin import (
    BoolAttr,
    ComplexType,
    FunctionType,
    IntegerAttr,
    StringAttr,
    TensorType,
    TupleType,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from torch2mlir.dialects.stablehlo.attrs import (
    I64Array,
    i64_array,
    i64_attr,
    parse_i64_list,
)

OpT = TypeVar("OpT", bound=IRDLOperation)

# --- types ---------------------------------------------------------------------------------------


@lru_cache(maxsize=8192)
def type_text(type_: Attribute) -> str:
    """The text of a type; a program has few types and prints each many times."""
    return str(type_)


def function_type_text(op: Operation) -> str:
    """``(operand types) -> result types``."""
    inputs = ", ".join([type_text(value.type) for value in op.operands])
    outputs = ", ".join([type_text(value.type) for value in op.results])
    return f"({inputs}) -> {outputs}" if len(op.results) == 1 else f"({inputs}) -> ({outputs})"


class Signature(NamedTuple):
    """Types of operands and results."""

    inputs: Sequence[Attribute]
    outputs: Sequence[Attribute]


@dataclass(frozen=True)
class TypeSyntax:
    """How an op abbreviates its types after the colon.

    `abbreviate` gives the short text, or None where the types do not fit it and the function type is
    printed; `expand` recovers the types from the first type of the text and the number of operands.
    """

    abbreviate: Callable[[Operation], str | None]
    expand: Callable[[Parser, int], Signature]

    def print(self, op: Operation) -> str:
        """The text after ``: ``."""
        return self.abbreviate(op) or function_type_text(op)

    def parse(self, parser: Parser, operand_count: int) -> Signature:
        """The types of `operand_count` operands and of the results."""
        function_type = parser.parse_optional_function_type()
        if function_type is not None:
            return Signature(function_type.inputs.data, function_type.outputs.data)
        return self.expand(parser, operand_count)


def _abbreviate_same(op: Operation) -> str | None:
    if len(op.results) != 1:
        return None
    result_type = op.results[0].type
    for operand in op.operands:
        if operand.type is not result_type and operand.type != result_type:
            return None
    return type_text(result_type)


def _expand_same(parser: Parser, operand_count: int) -> Signature:
    type_ = parser.parse_type()
    return Signature([type_] * operand_count, [type_])


SAME = TypeSyntax(_abbreviate_same, _expand_same)
"""One type stands for all operands and the result."""


def _expand_function(parser: Parser, operand_count: int) -> Signature:
    parser.raise_error("function type expected")


FUNCTION = TypeSyntax(lambda op: None, _expand_function)
"""Always ``(...) -> ...``."""


def real_type(type_: Attribute) -> Attribute:
    """``tensor<..xf32>`` of ``tensor<..xcomplex<f32>>``; other types as they are."""
    if isinstance(type_, TensorType) and isinstance(type_.element_type, ComplexType):
        return TensorType(type_.element_type.element_type, type_.shape.data, type_.encoding)
    return type_


def _abbreviate_complex(op: Operation) -> str | None:
    result_type = op.results[0].type
    part_type = real_type(result_type)
    fits = part_type != result_type and all(value.type == part_type for value in op.operands)
    return type_text(result_type) if fits else None


def _expand_complex(parser: Parser, operand_count: int) -> Signature:
    type_ = parser.parse_type()
    return Signature([real_type(type_)] * operand_count, [type_])


COMPLEX = TypeSyntax(_abbreviate_complex, _expand_complex)
"""The complex result's type; the operands are its parts."""


def _abbreviate_select(op: Operation) -> str | None:
    predicate, on_true, on_false = op.operands
    result_type = op.results[0].type
    if on_true.type != result_type or on_false.type != result_type:
        return None
    return f"{type_text(predicate.type)}, {type_text(result_type)}"


def _expand_select(parser: Parser, operand_count: int) -> Signature:
    predicate = parser.parse_type()
    parser.parse_punctuation(",")
    type_ = parser.parse_type()
    return Signature([predicate, type_, type_], [type_])


SELECT = TypeSyntax(_abbreviate_select, _expand_select)
"""The predicate's type and the common type of the rest."""


def _abbreviate_tuple(op: Operation) -> str | None:
    return type_text(op.results[0].type)


def _expand_tuple(parser: Parser, operand_count: int) -> Signature:
    position = parser.pos
    type_ = parser.parse_type()
    if not isinstance(type_, TupleType):
        parser.raise_error("tuple type expected", position)
    return Signature(type_.types.data, [type_])


TUPLE = TypeSyntax(_abbreviate_tuple, _expand_tuple)
"""The tuple result's type; the operands are its elements."""


# --- clauses: `key = value` ----------------------------------------------------------------------


@dataclass(frozen=True)
class Clause:
    """``keyword = value``, standing for the property `prop`."""

    keyword: str
    prop: str
    print_value: Callable[[Printer, Attribute], None]
    parse_value: Callable[[Parser], Attribute]


def _print_i64(printer: Printer, attr: Attribute) -> None:
    printer.print_string(str(cast(IntegerAttr, attr).value.data))


def i64_clause(keyword: str, prop: str) -> Clause:
    """``dim = 0`` for an ``i64``."""
    return Clause(keyword, prop, _print_i64, lambda parser: i64_attr(parser.parse_integer()))


def _print_i64_array(printer: Printer, attr: Attribute) -> None:
    printer.print_string(str(list(cast(I64Array, attr).get_values())))


def i64_array_clause(keyword: str, prop: str) -> Clause:
    """``dims = [0, 1]`` for an ``array<i64>``."""
    return Clause(keyword, prop, _print_i64_array, lambda parser: i64_array(parse_i64_list(parser)))


def _print_bool(printer: Printer, attr: Attribute) -> None:
    printer.print_string("true" if cast(BoolAttr, attr).value.data else "false")


def bool_clause(keyword: str, prop: str) -> Clause:
    """``lower = true`` for an ``i1``."""
    return Clause(
        keyword, prop, _print_bool, lambda parser: IntegerAttr.from_bool(parser.parse_boolean())
    )


def string_clause(keyword: str, prop: str) -> Clause:
    """``config = "ij->ji"`` for a string."""
    return Clause(
        keyword,
        prop,
        lambda printer, attr: printer.print_string_literal(cast(StringAttr, attr).data),
        lambda parser: StringAttr(parser.parse_str_literal()),
    )


def enum_clause(keyword: str, prop: str, attr_type: type[EnumAttribute]) -> Clause:
    """``type = FFT`` for an enumeration."""
    return Clause(
        keyword,
        prop,
        lambda printer, attr: printer.print_string(cast(EnumAttribute, attr).data.value),
        lambda parser: attr_type(parser.parse_str_enum(attr_type.enum_type)),
    )


# --- pieces that hand-written forms use too ------------------------------------------------------


def print_operands(printer: Printer, operands: Sequence[SSAValue]) -> None:
    """``%0, %1``."""
    for index, operand in enumerate(operands):
        if index:
            printer.print_string(", ")
        printer.print_ssa_value(operand)


def parse_operands(parser: Parser) -> list[UnresolvedOperand]:
    """``%0, %1``, possibly none."""
    operands: list[UnresolvedOperand] = []
    while (operand := parser.parse_optional_unresolved_operand()) is not None:
        operands.append(operand)
        if parser.parse_optional_punctuation(",") is None:
            break
    return operands


def print_attr_dict(
    op: Operation, printer: Printer, *, printed: Sequence[str] = (), keyword: bool = False
) -> None:
    """`` {...}`` with the attributes and the properties that the form did not print, by name."""
    if op.attributes or op.properties:
        attributes = dict(sorted({**op.properties, **op.attributes}.items()))
        printer.print_op_attributes(attributes, reserved_attr_names=printed, print_keyword=keyword)


def parse_attr_dict(
    op_type: type[IRDLOperation], parser: Parser, properties: dict[str, Attribute]
) -> dict[str, Attribute]:
    """Read `` {...}``; what the op defines is added to `properties`, the rest is returned."""
    attributes = dict(parser.parse_optional_attr_dict())
    for name in op_type.get_irdl_definition().properties.keys() & attributes.keys():
        properties[name] = attributes.pop(name)
    return attributes


def build(
    op_type: type[OpT],
    parser: Parser,
    operands: Sequence[UnresolvedOperand],
    signature: Signature,
    properties: dict[str, Attribute],
    attributes: dict[str, Attribute],
    regions: Sequence[Region] = (),
) -> OpT:
    """Create the parsed op once its types are known."""
    return op_type.create(
        operands=parser.resolve_operands(operands, signature.inputs, parser.pos),
        result_types=signature.outputs,
        properties=properties,
        attributes=attributes,
        regions=regions,
    )


def parse_function_signature(parser: Parser) -> Signature:
    """``: (...) -> ...``."""
    parser.parse_punctuation(":")
    function_type: FunctionType = parser.parse_function_type()
    return Signature(function_type.inputs.data, function_type.outputs.data)


# --- the op base ---------------------------------------------------------------------------------


class HloOp(IRDLOperation):
    """An op of the form ``operands, clauses {attributes} : types``."""

    CLAUSES: ClassVar[tuple[Clause, ...]] = ()
    TYPES: ClassVar[TypeSyntax] = FUNCTION

    def print(self, printer: Printer) -> None:
        separator = " "
        for operand in self._operands:
            printer.print_string(separator)
            printer.print_ssa_value(operand)
            separator = ", "
        if self.properties:
            self.print_clauses(printer, separator)
        if self.attributes or self.properties:
            print_attr_dict(self, printer, printed=self.claimed())
        printer.print_string(f" : {self.TYPES.print(self)}")

    def claimed(self) -> Sequence[str]:
        """The properties that the clauses print."""
        return [clause.prop for clause in self.CLAUSES]

    def print_clauses(self, printer: Printer, separator: str) -> None:
        """Print ``, key = value`` for every property that a clause stands for."""
        for clause in self.CLAUSES:
            value = self.properties.get(clause.prop)
            if value is not None:
                printer.print_string(f"{separator}{clause.keyword} = ")
                clause.print_value(printer, value)
                separator = ", "

    @classmethod
    def parse_clause(cls, parser: Parser, keyword: str, properties: dict[str, Attribute]) -> None:
        """Read the value of one clause into `properties`."""
        for clause in cls.CLAUSES:
            if clause.keyword == keyword:
                properties[clause.prop] = clause.parse_value(parser)
                return
        expected = ", ".join(clause.keyword for clause in cls.CLAUSES)
        parser.raise_error(f"{cls.name} takes {expected or 'no clauses'}, not '{keyword}'")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands: list[UnresolvedOperand] = []
        properties: dict[str, Attribute] = {}
        while True:
            if (operand := parser.parse_optional_unresolved_operand()) is not None:
                operands.append(operand)
            elif (keyword := parser.parse_optional_identifier()) is not None:
                parser.parse_punctuation("=")
                cls.parse_clause(parser, keyword, properties)
            else:
                break
            if parser.parse_optional_punctuation(",") is None:
                break
        attributes = parse_attr_dict(cls, parser, properties)
        parser.parse_punctuation(":")
        signature = cls.TYPES.parse(parser, len(operands))
        return build(cls, parser, operands, signature, properties, attributes)
