"""TorchScript's control flow: ``torch.prim.If`` and ``torch.prim.Loop``."""

from __future__ import annotations

from typing import Self

from xdsl.ir import OpTraits, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator

from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.ops import TorchOp, parse_type_list

TERMINATOR = OpTraits(lambda: (IsTerminator(),))


class PrimIfOp(TorchOp):
    """``torch.prim.If %c -> (!t) { .. } else { .. }``."""

    name = "torch.prim.If"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        condition = parser.parse_unresolved_operand()
        parser.parse_punctuation("->")
        results = parse_type_list(parser)
        then = parser.parse_region()
        parser.parse_keyword("else")
        otherwise = parser.parse_region()
        return cls.create(
            operands=[parser.resolve_operand(condition, t.bool_type)],
            result_types=results,
            regions=[then, otherwise],
            attributes=parser.parse_optional_attr_dict(),
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operands[0])
        printer.print_string(" -> (")
        printer.print_list(self.result_types, printer.print_attribute)
        printer.print_string(") ")
        printer.print_region(self.regions[0], print_entry_block_args=False)
        printer.print_string(" else ")
        printer.print_region(self.regions[1], print_entry_block_args=False)
        printer.print_op_attributes(self.attributes)


class PrimIfYieldOp(TorchOp):
    """Ends a branch of ``torch.prim.If``."""

    name = "torch.prim.If.yield"
    traits = TERMINATOR


class PrimLoopOp(TorchOp):
    """``torch.prim.Loop %n, %c, init(%a) { ^bb0(%i, %x): .. } : (!torch.int, !torch.bool, !t) -> !t``."""

    name = "torch.prim.Loop"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        trip_count = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        condition = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        parser.parse_keyword("init")
        init = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        region = parser.parse_region()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parse_type_list(parser)
        parser.parse_punctuation("->")
        operands = parser.resolve_operands([trip_count, condition, *init], types, parser.pos)
        return cls.create(
            operands=operands,
            result_types=parse_type_list(parser),
            regions=[region],
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands[:2], printer.print_ssa_value)
        printer.print_string(", init(")
        printer.print_list(self.operands[2:], printer.print_ssa_value)
        printer.print_string(") ")
        printer.print_region(self.regions[0])
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_function_type(self.operand_types, self.result_types)


class PrimLoopConditionOp(TorchOp):
    """``torch.prim.Loop.condition %c, iter(%x : !t)``: ends the body of ``torch.prim.Loop``."""

    name = "torch.prim.Loop.condition"
    traits = TERMINATOR

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        condition = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        parser.parse_keyword("iter")
        operands: list[SSAValue] = [parser.resolve_operand(condition, t.bool_type)]
        with parser.in_parens():
            values = parser.parse_optional_undelimited_comma_separated_list(
                parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
            )
            if values:
                parser.parse_punctuation(":")
                operands += parser.resolve_operands(values, parse_type_list(parser), parser.pos)
        return cls.create(operands=operands, attributes=parser.parse_optional_attr_dict())

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operands[0])
        printer.print_string(", iter(")
        if values := self.operands[1:]:
            printer.print_list(values, printer.print_ssa_value)
            printer.print_string(" : ")
            printer.print_list([v.type for v in values], printer.print_attribute)
        printer.print_string(")")
        printer.print_op_attributes(self.attributes)


CONTROL_FLOW_OPS: list[type[TorchOp]] = [PrimIfOp, PrimIfYieldOp, PrimLoopOp, PrimLoopConditionOp]
