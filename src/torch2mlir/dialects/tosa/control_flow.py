"""Conditionals, loops and variables.

Regions take the operands as block arguments, or refer to outer values when there are none.
"""

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IndexType,
    StringAttr,
    TensorType,
    UnrankedTensorType,
    i1,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, RecursiveMemoryEffect, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.assembly import (
    functional_text,
    parse_results,
    results_text,
    type_text,
    types_text,
)
from torch2mlir.dialects.bindings import parse_bindings, print_bindings
from torch2mlir.dialects.rows import RowOp
from torch2mlir.dialects.tensor_rules import require, same_dim
from torch2mlir.dialects.tosa.checks import shape_of
from torch2mlir.dialects.tosa.kinds import TOSA

# --- how they are written --------------------------------------------------------------------------


def _print_bindings(printer: Printer, region: Region, inputs: Sequence[SSAValue]) -> None:
    """The arguments of a region's entry block, if there are any."""
    if inputs:
        printer.print_string(" ")
        print_bindings(printer, region.block.args, inputs)


class CondIfBase(RowOp):
    """``tosa.cond_if %0 (%a = %1) : tensor<i1> (type) -> type {...} else {...}``."""

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.condition)
        _print_bindings(printer, self.then_graph, self.input_list)
        printer.print_string(f" : {type_text(self.condition.type)}")
        if self.input_list:
            printer.print_string(f" ({types_text(self.input_list.types)})")
        printer.print_string(f" -> {results_text(self.result_types)} ")
        printer.print_region(self.then_graph)
        printer.print_string(" else ")
        printer.print_region(self.else_graph)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        condition = parser.parse_unresolved_operand()
        _, values = parse_bindings(parser)
        parser.parse_punctuation(":")
        condition_type = parser.parse_type()
        if values:
            signature = parser.parse_function_type()
            inputs, outputs = signature.inputs.data, signature.outputs.data
        else:
            parser.parse_punctuation("->")
            inputs, outputs = (), tuple(parse_results(parser))
        then_graph = parser.parse_region()
        parser.parse_keyword("else")
        else_graph = parser.parse_region()
        return cls.create(
            operands=parser.resolve_operands(
                (condition, *values), (condition_type, *inputs), position
            ),
            result_types=outputs,
            regions=[then_graph, else_graph],
            attributes=parser.parse_optional_attr_dict(),
        )


class WhileLoopBase(RowOp):
    """``tosa.while_loop (%a = %0) : (type) -> type {...} do {...}``."""

    def print(self, printer: Printer) -> None:
        _print_bindings(printer, self.cond_graph, self.input_list)
        printer.print_string(f" : {functional_text(self)} ")
        printer.print_region(self.cond_graph, print_entry_block_args=False)
        printer.print_string(" do ")
        printer.print_region(self.body_graph)
        printer.print_op_attributes(self.attributes, print_keyword=True)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        arguments, values = parse_bindings(parser)
        parser.parse_punctuation(":")
        signature = parser.parse_function_type()
        inputs = signature.inputs.data
        if len(arguments) != len(inputs):
            parser.raise_error(f"{len(arguments)} arguments but {len(inputs)} input types")
        cond_graph = parser.parse_region(
            [argument.resolve(type_) for argument, type_ in zip(arguments, inputs, strict=True)]
        )
        parser.parse_keyword("do")
        body_graph = parser.parse_region()
        attributes = parser.parse_optional_attr_dict_with_keyword()
        return cls.create(
            operands=parser.resolve_operands(values, inputs, position),
            result_types=signature.outputs.data,
            regions=[cond_graph, body_graph],
            attributes=attributes.data if attributes else {},
        )


class VariableBase(RowOp):
    """``tosa.variable @state = dense<0.0> : tensor<2xf32>``, or the type alone."""

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        if self.sym_visibility is not None:
            printer.print_string_literal(self.sym_visibility.data)
            printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_op_attributes(self.attributes)
        if self.initial_value is None:
            printer.print_string(
                f" : {type_text(TensorType(self.type, self.var_shape.get_values()))}"
            )
        else:
            printer.print_string(" = ")
            printer.print_attribute(self.initial_value)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        visibility = parser.parse_optional_str_literal()
        properties: dict[str, Attribute] = {"sym_name": parser.parse_symbol_name()}
        if visibility is not None:
            properties["sym_visibility"] = StringAttr(visibility)
        attributes = parser.parse_optional_attr_dict()
        if parser.parse_optional_punctuation("="):
            initial_value = parser.parse_attribute()
            type_ = getattr(initial_value, "type", None)
            properties["initial_value"] = initial_value
        else:
            parser.parse_punctuation(":")
            type_ = parser.parse_type()
        if not isinstance(type_, TensorType):
            parser.raise_error("a tosa.variable holds a ranked tensor")
        shape = type_.get_shape()
        properties["var_shape"] = DenseIntOrFPElementsAttr.from_list(
            TensorType(IndexType(), [len(shape)]), shape
        )
        properties["type"] = type_.element_type
        return cls.create(properties=properties, attributes=attributes)


# --- what is verified ------------------------------------------------------------------------------


def _verify_region(
    op: Operation,
    name: str,
    region: Region,
    inputs: Sequence[SSAValue],
    yields: Sequence[Attribute],
) -> None:
    """A region takes `inputs` and yields as many values as `yields` has types."""
    arguments = region.block.args
    if len(arguments) != len(inputs):
        raise VerifyException(
            f"{op.name}: {name} takes {len(arguments)} arguments, the op has {len(inputs)} inputs"
        )
    for argument, value in zip(arguments, inputs, strict=True):
        if _element(argument) != _element(value):
            raise VerifyException(
                f"{op.name}: {name} takes {argument.type} where the input is {value.type}"
            )
    last = region.block.last_op
    if last is None or last.name != "tosa.yield":
        raise VerifyException(f"{op.name}: {name} must end with tosa.yield")
    if len(last.operands) != len(yields):
        raise VerifyException(
            f"{op.name}: {name} yields {len(last.operands)} values, expected {len(yields)}"
        )


def _element(value: SSAValue) -> Attribute | None:
    if isinstance(value.type, TensorType | UnrankedTensorType):
        return value.type.element_type
    return None


def _is_condition(value: SSAValue) -> bool:
    """A condition is a boolean tensor with one element."""
    shape = shape_of(value)
    return _element(value) == i1 and (shape is None or all(same_dim(1, dim) for dim in shape))


def _verify_cond_if(op: RowOp) -> None:
    require(
        _is_condition(op.condition),
        f"{op.name}: condition must be a tensor<i1>, got {op.condition.type}",
    )
    for name in ("then_graph", "else_graph"):
        _verify_region(op, name, getattr(op, name), op.input_list, op.result_types)


def _verify_while_loop(op: RowOp) -> None:
    require(
        len(op.input_list) == len(op.output_list),
        f"{op.name}: has {len(op.input_list)} inputs and {len(op.output_list)} results",
    )
    _verify_region(op, "cond_graph", op.cond_graph, op.input_list, [i1])
    _verify_region(op, "body_graph", op.body_graph, op.input_list, op.result_types)
    last = op.cond_graph.block.last_op
    require(
        _is_condition(last.operands[0]),
        f"{op.name}: cond_graph must yield a tensor<i1>, got {last.operands[0].type}",
    )


# `name` is the class's own: the property is reached as `variable`.
TOSA.rows(
    """
    yield inputs*
      | {operands}{attributes} : {operand_types} |
      Ends a region of cond_if and while_loop with its values.
    """,
    traits=(IsTerminator(),),
)
TOSA.rows(
    """
    cond_if condition, input_list* (then_graph, else_graph) -> output_list*
      Run one of two regions, chosen by a one-element boolean tensor.
    while_loop input_list* (cond_graph, body_graph) -> output_list*
      Run body_graph on the inputs while cond_graph yields true.
    """,
    traits=(RecursiveMemoryEffect(),),
    rules={"cond_if": _verify_cond_if, "while_loop": _verify_while_loop},
    bases={"cond_if": CondIfBase, "while_loop": WhileLoopBase},
)
TOSA.rows(
    """
    variable {sym_name: symbol, sym_visibility?: string, var_shape: elements, type: any, initial_value?: any}
      Declares a variable that keeps its value between calls.
    """,
    traits=(SymbolOpInterface(),),
    bases={"variable": VariableBase},
)
TOSA.rows(
    """
    variable_read {variable=name: symbol} -> output1
      | {name}{attributes} : {result_type} |
      The current value of a variable.
    variable_write input1 {variable=name: symbol}
      | {name}, {operands}{attributes} : {operand_types} |
      Sets the value of a variable.
    """,
    traits=(),
)
