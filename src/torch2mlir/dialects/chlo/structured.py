"""CHLO constants, top_k, ragged_dot and scan."""

from __future__ import annotations

from typing import Self

from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, i32
from xdsl.irdl import AttrSizedOperandSegments, AttrSizedResultSegments
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import RecursiveMemoryEffect

from torch2mlir.dialects.assembly import (
    Read,
    attribute_dictionary,
    created,
    functional_text,
    parse_functional,
)
from torch2mlir.dialects.chlo.kinds import CHLO
from torch2mlir.dialects.rows import RowOp
from torch2mlir.dialects.stablehlo import checks
from torch2mlir.dialects.stablehlo.attrs import i64_attr
from torch2mlir.dialects.stablehlo.checks import shape_of
from torch2mlir.dialects.stablehlo.constructors import CONSTANT, ConstantBase, verify_constant
from torch2mlir.dialects.tensor_rules import require

ATTRIBUTES = attribute_dictionary(
    ["dimension", "operandSegmentSizes", "resultSegmentSizes"], after_keyword=True
)


class ScanBase(RowOp):
    """``chlo.scan(%inputs) inits (%inits) dimension=0 attributes {...} {body} : (...) -> (...)``."""

    def print(self, printer: Printer) -> None:
        printer.print_operands(self.inputs)
        printer.print_string(" inits ")
        printer.print_operands(self.inits)
        printer.print_string(f" dimension={self.dimension.value.data}")
        ATTRIBUTES.print(self, printer)
        printer.print_string(" ")
        printer.print_region(self.body)
        printer.print_string(f" : {functional_text(self)}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        inputs = parser.parse_op_args_list()
        parser.parse_keyword("inits")
        inits = parser.parse_op_args_list()
        parser.parse_keyword("dimension")
        parser.parse_punctuation("=")
        read = Read(cls, [*inputs, *inits])
        read.properties["dimension"] = i64_attr(parser.parse_integer())
        ATTRIBUTES.parse(parser, read)
        body = parser.parse_region()
        parser.parse_punctuation(":")
        read.inputs, read.outputs = parse_functional(parser)
        # Every initial value is carried to a result; the other results are stacked outputs.
        outputs = len(read.outputs) - len(inits)
        operand_sizes, result_sizes = [len(inputs), len(inits)], [outputs, len(inits)]
        read.properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, operand_sizes)
        read.properties["resultSegmentSizes"] = DenseArrayBase.from_list(i32, result_sizes)
        return created(cls, parser, read, regions=[body])


def _verify_constant_like(op: RowOp) -> None:
    if isinstance(op.value, FloatAttr | IntegerAttr):
        checks.require_element_type(op.result, op.value.type, "result")


def _verify_top_k(op: RowOp) -> None:
    shape, k = shape_of(op.operand), op.k.value.data
    require(len(shape) > 0 and k >= 0, "expected a tensor of rank 1 or more and a k of 0 or more")
    for value, what in ((op.values, "values"), (op.indices, "indices")):
        checks.require_shape(value, [*shape[:-1], k], what)
    checks.require_element_type(op.indices, i32, "indices")


CHLO.rows(CONSTANT, rule=verify_constant, bases={"constant": ConstantBase})
CHLO.rows(
    """
    constant_like operand: [*s] {value: any} -> result: [*s]
      One number in the shape of the operand, which may be dynamic.
    TopKOp=top_k operand {k: i64} -> values, indices
      | ({operands}, k = {k}){attributes} : {arrow} |
      Largest `k` elements along the last dimension, and their places.
    ragged_dot lhs, rhs, group_sizes {ragged_dot_dimension_numbers: ragged_dims, precision_config?: precisions} ->
      result
      ``dot_general`` whose `lhs` is split in groups, each with its own `rhs`.
    """,
    rules={"constant_like": _verify_constant_like, "top_k": _verify_top_k},
)
CHLO.rows(
    """
    scan inputs*, inits* {dimension: i64, scan_dim_size?: i64, is_reverse?: bool, is_associative?: bool,
      operandSegmentSizes: segments, resultSegmentSizes: segments} (body) -> outputs*, carries*
      A body run along one dimension of the inputs, carrying values from step to step.
    """,
    traits=(RecursiveMemoryEffect(),),
    bases={"scan": ScanBase},
    options=(
        AttrSizedOperandSegments(as_property=True),
        AttrSizedResultSegments(as_property=True),
    ),
)
