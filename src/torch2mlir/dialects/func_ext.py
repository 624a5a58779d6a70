"""The func dialect with functions as values: register `FUNC` in place of xDSL's `Func`."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import FlatSymbolRefAttr, FunctionType
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from torch2mlir.dialects.arith_ext import extended
from torch2mlir.dialects.rows import Kind, op_classes

(ConstantOp,) = op_classes(
    "func",
    {"symbol": Kind(FlatSymbolRefAttr), "function": Kind(FunctionType)},
    """
    constant {value: symbol} -> result: function
      | attr-dict $value `:` type($result) |
      A function as a value: ``func.constant @f : (!t) -> !t``.
    """,
)


@irdl_op_definition
class CallIndirectOp(IRDLOperation):
    """``func.call_indirect %f(%x) : (!t) -> !t``: calls a function that is a value."""

    name = "func.call_indirect"
    callee = operand_def(FunctionType)
    arguments = var_operand_def()
    outputs = var_result_def()

    @classmethod
    def parse(cls, parser: Parser) -> CallIndirectOp:
        callee = parser.parse_unresolved_operand()
        names = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position, type = parser.pos, parser.parse_type()
        if not isinstance(type, FunctionType):
            parser.raise_error(f"expected a function type, got {type}", position)
        return cls.create(
            operands=[
                parser.resolve_operand(callee, type),
                *parser.resolve_operands(names, type.inputs.data, position),
            ],
            result_types=type.outputs.data,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.callee)
        printer.print_operands(self.arguments)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.callee.type)


FUNC = extended(func.Func, CallIndirectOp, ConstantOp)
