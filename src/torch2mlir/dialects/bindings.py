"""``(%argument = %value, ...)``: the arguments of a region with what they are at first."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer


def print_bindings(
    printer: Printer, arguments: Sequence[SSAValue], values: Sequence[SSAValue]
) -> None:
    """The arguments of a region with what they are at first."""
    printer.print_string("(")
    for index, (argument, value) in enumerate(zip(arguments, values)):
        printer.print_string(", " if index else "")
        printer.print_ssa_value(argument)
        printer.print_string(" = ")
        printer.print_ssa_value(value)
    printer.print_string(")")


def parse_bindings(
    parser: Parser,
) -> tuple[list[Parser.UnresolvedArgument], list[UnresolvedOperand]]:
    """The inverse of :func:`print_bindings`; nothing without parentheses."""
    arguments: list[Parser.UnresolvedArgument] = []
    values: list[UnresolvedOperand] = []

    def binding() -> None:
        arguments.append(parser.parse_argument(expect_type=False))
        parser.parse_punctuation("=")
        values.append(parser.parse_unresolved_operand())

    parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, binding)
    return arguments, values
