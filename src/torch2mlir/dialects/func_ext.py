"""The func dialect with functions as values: register `FUNC` in place of xDSL's `Func`."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects import func
from xdsl.dialects.builtin import FlatSymbolRefAttr, FunctionType
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure

from torch2mlir.dialects.arith_ext import extended
from torch2mlir.dialects.rows import FormattedOp


@irdl_op_definition
class ConstantOp(FormattedOp):
    """``func.constant @f : (!t) -> !t``: a function as a value."""

    name = "func.constant"
    value = prop_def(FlatSymbolRefAttr)
    result = result_def(FunctionType)
    traits = traits_def(Pure())
    FORMAT: ClassVar[str] = "attr-dict $value `:` type($result)"


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
