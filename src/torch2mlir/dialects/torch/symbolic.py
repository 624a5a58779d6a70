"""``torch.symbolic_int`` and ``torch.bind_symbolic_shape``: the symbols sizes are expressed in."""

from __future__ import annotations

from typing import Self

from xdsl.dialects.builtin import AffineMapAttr, IntegerAttr, StringAttr, i64
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.ops import IMPURE, TorchOp


class SymbolicIntOp(TorchOp):
    """``torch.symbolic_int "s0" {min_val = 2, max_val = 64} : !torch.int``: a symbol and its range."""

    name = "torch.symbolic_int"
    traits = IMPURE  # kept although nothing uses it: it carries the symbol's range

    @classmethod
    def of(cls, symbol: str, minimum: int, maximum: int) -> Self:
        """The op declaring ``symbol`` in ``[minimum, maximum]``."""
        return cls.create(
            result_types=[t.int_type],
            properties={
                "symbol_name": StringAttr(symbol),
                "min_val": IntegerAttr(minimum, i64),
                "max_val": IntegerAttr(maximum, i64),
            },
        )

    @property
    def symbol(self) -> str:
        """The symbol's name."""
        return self.properties["symbol_name"].data  # type: ignore[attr-defined]

    @property
    def range(self) -> tuple[int, int]:
        """Smallest and largest value."""
        low, high = self.properties["min_val"], self.properties["max_val"]
        return low.value.data, high.value.data  # type: ignore[attr-defined]

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        symbol = parser.parse_str_literal()
        bounds = dict[str, int]()

        def bound() -> None:
            key = parser.parse_identifier()
            parser.parse_punctuation("=")
            bounds[key] = parser.parse_integer()
            if parser.parse_optional_punctuation(":"):
                parser.parse_type()

        parser.parse_comma_separated_list(parser.Delimiter.BRACES, bound)
        if set(bounds) != {"min_val", "max_val"}:
            parser.raise_error("torch.symbolic_int wants {min_val = .., max_val = ..}")
        parser.parse_punctuation(":")
        parser.parse_type()
        return cls.of(symbol, bounds["min_val"], bounds["max_val"])

    def print(self, printer: Printer) -> None:
        low, high = self.range
        printer.print_string(" ")
        printer.print_string_literal(self.symbol)
        printer.print_string(f" {{min_val = {low}, max_val = {high}}} : !torch.int")


class BindSymbolicShapeOp(TorchOp):
    """``torch.bind_symbolic_shape %x, [%s0], affine_map<()[s0] -> (s0, 8)> : !torch.vtensor<[?,8],f32>``."""

    name = "torch.bind_symbolic_shape"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operand = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        symbols = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_unresolved_operand
        )
        parser.parse_punctuation(",")
        expressions = parser.parse_attribute()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        operands = [
            parser.resolve_operand(operand, type),
            *(parser.resolve_operand(s, t.int_type) for s in symbols),
        ]
        return cls.create(
            operands=operands, properties={"shape_expressions": expressions}, attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operands[0])
        printer.print_string(", [")
        printer.print_list(self.operands[1:], printer.print_ssa_value)
        printer.print_string("], ")
        printer.print_attribute(self.properties["shape_expressions"])
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[0].type)

    def verify_(self) -> None:
        if not isinstance(self.properties.get("shape_expressions"), AffineMapAttr):
            raise VerifyException("torch.bind_symbolic_shape wants an affine map")
