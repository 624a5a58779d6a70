"""Attributes that are one word of an enumeration."""

from __future__ import annotations

from collections.abc import Mapping
from types import new_class
from typing import Any, TypeVar

from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum

E = TypeVar("E", bound=StrEnum)


class InAngleBrackets:
    """``#tosa.nan_mode<IGNORE>``."""

    def print_parameter(self: Any, printer: Printer) -> None:
        printer.print_string(f"<{self.data.value}>")

    @classmethod
    def parse_parameter(cls: Any, parser: AttrParser) -> Any:
        with parser.in_angle_brackets():
            return parser.parse_str_enum(cls.enum_type)


def enum_attribute(
    name: str, enum: type[E], form: type = SpacedOpaqueSyntaxAttribute
) -> type[EnumAttribute[E]]:
    """The attribute of an enumeration.

    Args:
        name: with the dialect's.
        enum: its values.
        form: ``#stablehlo<precision HIGHEST>`` or :class:`InAngleBrackets`.
    """
    bases = (form, EnumAttribute[enum])  # type: ignore[valid-type]
    made = new_class(f"{enum.__name__}Attr", bases, exec_body=lambda body: body.update(name=name))
    return irdl_attr_definition(made)


def word_attribute(
    name: str, words: str, form: type = SpacedOpaqueSyntaxAttribute
) -> type[EnumAttribute[StrEnum]]:
    """The attribute of an enumeration that is nothing but its words, which :attr:`enum_type` has."""
    title = "".join(word.capitalize() for word in name.partition(".")[2].split("_"))
    members = {word: word for word in words.split()}
    return enum_attribute(name, StrEnum(title, members), form)  # type: ignore[call-overload]


def attributes_of(dialect: str, *modules: Mapping[str, Any]) -> list[type[Attribute]]:
    """The attributes and types of a dialect that modules know; their bases have no name."""
    return [
        each
        for module in modules
        for each in module.values()
        if isinstance(each, type)
        and issubclass(each, Attribute)
        and vars(each).get("name", "").startswith(f"{dialect}.")
    ]
