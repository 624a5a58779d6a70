"""Conditionals, loops and variables.

Regions take the operands as block arguments, or refer to outer values when there are none.
"""

from collections.abc import Callable, Sequence
from typing import Self, TypeVar

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IndexType,
    StringAttr,
    TensorType,
    i1,
)
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, RecursiveMemoryEffect, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.assembly import results_text, type_text, types_text, values_text
from torch2mlir.dialects.tosa.base import TENSOR, element_type, require, shape_of

T = TypeVar("T")


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends a region of cond_if and while_loop with its values."""

    name = "tosa.yield"

    inputs = var_operand_def(TENSOR)
    traits = traits_def(IsTerminator())

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {values_text(printer, self.operands)}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(f" : {types_text(self.operand_types)}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        values = _parse_list(parser, parser.parse_optional_unresolved_operand)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = _parse_list(parser, parser.parse_optional_type)
        operands = parser.resolve_operands(values, types, position)
        return cls.create(operands=operands, attributes=attributes)


def _parse_list(parser: Parser, parse_optional: Callable[[], T | None]) -> Sequence[T]:
    """Parse a comma-separated list that may be empty."""

    def parse() -> T:
        if (item := parse_optional()) is None:
            parser.raise_error("expected another element after the comma")
        return item

    return parser.parse_optional_undelimited_comma_separated_list(parse_optional, parse) or ()


def _print_assignments(printer: Printer, region: Region, inputs: Sequence[SSAValue]) -> None:
    """Print `(%argument = %input, ...)` of a region's entry block."""
    if not inputs:
        return
    printer.print_string(" (")
    for index, (argument, value) in enumerate(zip(region.block.args, inputs, strict=True)):
        if index:
            printer.print_string(", ")
        printer.print_ssa_value(argument)
        printer.print_string(" = ")
        printer.print_ssa_value(value)
    printer.print_string(")")


def _parse_assignments(
    parser: Parser,
) -> tuple[list[Parser.UnresolvedArgument], list[UnresolvedOperand]]:
    """Parse what `_print_assignments` prints, if it is there."""
    arguments: list[Parser.UnresolvedArgument] = []
    values: list[UnresolvedOperand] = []

    def assignment() -> None:
        arguments.append(parser.parse_argument(expect_type=False))
        parser.parse_punctuation("=")
        values.append(parser.parse_unresolved_operand())

    parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, assignment)
    return arguments, values


def _verify_region(
    op: IRDLOperation,
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
        if element_type(argument) != element_type(value):
            raise VerifyException(
                f"{op.name}: {name} takes {argument.type} where the input is {value.type}"
            )
    last = region.block.last_op
    if not isinstance(last, YieldOp):
        raise VerifyException(f"{op.name}: {name} must end with tosa.yield")
    if len(last.operands) != len(yields):
        raise VerifyException(
            f"{op.name}: {name} yields {len(last.operands)} values, expected {len(yields)}"
        )


def _is_condition(value: SSAValue) -> bool:
    """A condition is a boolean tensor with one element."""
    shape = shape_of(value)
    return element_type(value) == i1 and (shape is None or all(dim in (1, -1) for dim in shape))


@irdl_op_definition
class CondIfOp(IRDLOperation):
    """Run one of two regions, chosen by a one-element boolean tensor."""

    name = "tosa.cond_if"

    condition = operand_def(TENSOR)
    input_list = var_operand_def(TENSOR)
    then_graph = region_def("single_block")
    else_graph = region_def("single_block")
    output_list = var_result_def(TENSOR)
    traits = traits_def(RecursiveMemoryEffect())

    def verify_(self) -> None:
        require(
            _is_condition(self.condition),
            f"{self.name}: condition must be a tensor<i1>, got {self.condition.type}",
        )
        for name in ("then_graph", "else_graph"):
            _verify_region(self, name, getattr(self, name), self.input_list, self.result_types)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.condition)
        _print_assignments(printer, self.then_graph, self.input_list)
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
        _, values = _parse_assignments(parser)
        parser.parse_punctuation(":")
        condition_type = parser.parse_type()
        if values:
            signature = parser.parse_function_type()
            inputs, outputs = signature.inputs.data, signature.outputs.data
        else:
            parser.parse_punctuation("->")
            inputs, outputs = (), tuple(_parse_result_types(parser))
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


def _parse_result_types(parser: Parser) -> Sequence[Attribute]:
    """Parse one type, or several in parentheses."""
    types = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    return [parser.parse_type()] if types is None else types


@irdl_op_definition
class WhileLoopOp(IRDLOperation):
    """Run body_graph on the inputs while cond_graph yields true."""

    name = "tosa.while_loop"

    input_list = var_operand_def(TENSOR)
    cond_graph = region_def("single_block")
    body_graph = region_def("single_block")
    output_list = var_result_def(TENSOR)
    traits = traits_def(RecursiveMemoryEffect())

    def verify_(self) -> None:
        require(
            len(self.input_list) == len(self.output_list),
            f"{self.name}: has {len(self.input_list)} inputs and {len(self.output_list)} results",
        )
        _verify_region(self, "cond_graph", self.cond_graph, self.input_list, [i1])
        _verify_region(self, "body_graph", self.body_graph, self.input_list, self.result_types)
        last = self.cond_graph.block.last_op
        assert isinstance(last, YieldOp)
        require(
            _is_condition(last.operands[0]),
            f"{self.name}: cond_graph must yield a tensor<i1>, got {last.operands[0].type}",
        )

    def print(self, printer: Printer) -> None:
        _print_assignments(printer, self.cond_graph, self.input_list)
        inputs, outputs = types_text(self.operand_types), results_text(self.result_types)
        printer.print_string(f" : ({inputs}) -> {outputs} ")
        printer.print_region(self.cond_graph, print_entry_block_args=False)
        printer.print_string(" do ")
        printer.print_region(self.body_graph)
        printer.print_op_attributes(self.attributes, print_keyword=True)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        arguments, values = _parse_assignments(parser)
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


@irdl_op_definition
class VariableOp(IRDLOperation):
    """Declares a variable that keeps its value between calls."""

    name = "tosa.variable"

    sym_name = prop_def(StringAttr)
    sym_visibility = opt_prop_def(StringAttr)
    var_shape = prop_def(DenseIntOrFPElementsAttr)
    type = prop_def()
    initial_value = opt_prop_def()
    traits = traits_def(SymbolOpInterface())

    def tensor_type(self) -> TensorType:
        """The type of the variable's value."""
        return TensorType(self.type, self.var_shape.get_values())

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        if self.sym_visibility is not None:
            printer.print_string_literal(self.sym_visibility.data)
            printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_op_attributes(self.attributes)
        if self.initial_value is None:
            printer.print_string(f" : {type_text(self.tensor_type())}")
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


@irdl_op_definition
class VariableReadOp(IRDLOperation):
    """The current value of a variable."""

    name = "tosa.variable_read"

    # `name` is the class's own: the property is reached as `variable`.
    variable = prop_def(StringAttr, prop_name="name")
    output1 = result_def(TENSOR)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.variable.data)
        printer.print_op_attributes(self.attributes)
        printer.print_string(f" : {type_text(self.output1.type)}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        variable = parser.parse_symbol_name()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return cls.create(
            result_types=[parser.parse_type()],
            properties={"name": variable},
            attributes=attributes,
        )


@irdl_op_definition
class VariableWriteOp(IRDLOperation):
    """Sets the value of a variable."""

    name = "tosa.variable_write"

    input1 = operand_def(TENSOR)
    variable = prop_def(StringAttr, prop_name="name")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.variable.data)
        printer.print_string(", ")
        printer.print_ssa_value(self.input1)
        printer.print_op_attributes(self.attributes)
        printer.print_string(f" : {type_text(self.input1.type)}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        variable = parser.parse_symbol_name()
        parser.parse_punctuation(",")
        value = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return cls.create(
            operands=[parser.resolve_operand(value, parser.parse_type())],
            properties={"name": variable},
            attributes=attributes,
        )
