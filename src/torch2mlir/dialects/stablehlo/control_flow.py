"""StableHLO control flow, calls, tuples and tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import TensorType, TupleType, i1, i32
from xdsl.ir import Attribute, Region
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure, RecursiveMemoryEffect

from torch2mlir.dialects.assembly import (
    Piece,
    Read,
    Syntax,
    attribute_dictionary,
    created,
    parse_operands,
    parse_types,
    types_text,
    values_text,
)
from torch2mlir.dialects.bindings import parse_bindings, print_bindings
from torch2mlir.dialects.rows import RowOp
from torch2mlir.dialects.stablehlo import checks
from torch2mlir.dialects.stablehlo.kinds import StableHLO
from torch2mlir.dialects.tensor_rules import require

# --- values passed through -----------------------------------------------------------------------

PLAIN_ATTRIBUTES = attribute_dictionary([])
ATTRIBUTES = attribute_dictionary([], after_keyword=True)


def _print_typed_operands(op: RowOp, printer: Printer) -> None:
    """`` %0, %1 {...} : type, type``."""
    printer.print_string(" " + values_text(printer, op.operands))
    PLAIN_ATTRIBUTES.print(op, printer)
    if op.operands:
        printer.print_string(f" : {types_text(op.operand_types)}")


def _parse_typed_operands(parser: Parser, read: Read) -> None:
    parse_operands(parser, read)
    PLAIN_ATTRIBUTES.parse(parser, read)
    if read.operands:
        parser.parse_punctuation(":")
        read.inputs = parse_types(parser)


def _print_barrier(op: RowOp, printer: Printer) -> None:
    if op.operands:
        _print_typed_operands(op, printer)
    else:
        printer.print_string("()")
        PLAIN_ATTRIBUTES.print(op, printer)


def _parse_barrier(parser: Parser, read: Read) -> None:
    if parser.parse_optional_punctuation("("):
        parser.parse_punctuation(")")
    _parse_typed_operands(parser, read)
    read.outputs = read.inputs


class WhileBase(RowOp):
    """``stablehlo.while(%iter = %0) : tensor<i32> cond {...} do {...}``: both regions see the values
    under one name.
    """

    def print(self, printer: Printer) -> None:
        arguments = self.cond.block.args
        print_bindings(printer, arguments, self.operand)
        for argument, same in zip(arguments, self.body.block.args):
            printer._ssa_values[same] = printer._ssa_values[argument]
        if self.operand:
            printer.print_string(f" : {types_text(self.operand_types)}")
        ATTRIBUTES.print(self, printer)
        for keyword, region in (("\ncond ", self.cond), (" do ", self.body)):
            printer.print_string(keyword)
            printer.print_region(region, print_entry_block_args=False, print_empty_block=False)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        bound, operands = parse_bindings(parser)
        read = Read(cls, operands)
        types: list[Attribute] = []
        if bound:
            parser.parse_punctuation(":")
            types = parse_types(parser)
        ATTRIBUTES.parse(parser, read)
        if len(types) != len(bound):
            parser.raise_error(f"expected {len(bound)} types, got {len(types)}")
        arguments = [argument.resolve(type_) for argument, type_ in zip(bound, types)]
        regions = []
        for keyword in ("cond", "do"):
            parser.parse_keyword(keyword)
            regions.append(parser.parse_region(arguments))
        read.inputs = read.outputs = types
        return created(cls, parser, read, regions=regions)


# --- what is verified ----------------------------------------------------------------------------


def _verify_yield(region: Region, types: Sequence[Attribute], what: str) -> None:
    """The region ends with a return of values of these types."""
    terminator = region.block.last_op
    if terminator is None or terminator.name != "stablehlo.return":
        require(False, f"{what} must end with stablehlo.return")
        return
    got = [value.type for value in terminator.operands]
    fits = len(got) == len(types) and all(map(checks.compatible_types, got, types))
    require(
        fits,
        f"{what} returns ({', '.join(map(str, got))}), expected ({', '.join(map(str, types))})",
    )


def _verify_optimization_barrier(op: RowOp) -> None:
    same = [value.type for value in op.operand] == [value.type for value in op.result]
    require(same, "results must have the types of the operands")


def _verify_if(op: RowOp) -> None:
    for branch, what in ((op.true_branch, "true branch"), (op.false_branch, "false branch")):
        _verify_yield(branch, [value.type for value in op.res], what)


def _verify_case(op: RowOp) -> None:
    checks.require_element_type(op.index, i32, "index")
    require(len(op.branches) > 0, "expected at least one branch")
    for number, branch in enumerate(op.branches):
        _verify_yield(branch, [value.type for value in op.res], f"branch {number}")


def _verify_while(op: RowOp) -> None:
    types = [value.type for value in op.operand]
    for values, what in (
        (op.cond.block.args, "arguments of cond"),
        (op.body.block.args, "arguments of body"),
        (op.res, "results"),
    ):
        got = [value.type for value in values]
        fits = len(got) == len(types) and all(map(checks.compatible_types, got, types))
        require(fits, f"{what} must have the types of the operands")
    _verify_yield(op.cond, [TensorType(i1, [])], "cond")
    _verify_yield(op.body, types, "body")


def _verify_custom_call(op: RowOp) -> None:
    for layouts, values, what in (
        (op.operand_layouts, op.inputs, "operand"),
        (op.result_layouts, op.result, "result"),
    ):
        if layouts is not None and not any(isinstance(v.type, TupleType) for v in values):
            require(len(layouts) == len(values), f"expected one layout per {what}")


def _verify_tuple(op: RowOp) -> None:
    types = tuple(value.type for value in op.val)
    require(types == tuple(op.result.type.types.data), "tuple type does not fit its elements")


def _verify_get_tuple_element(op: RowOp) -> None:
    types = op.operand.type.types.data
    index = op.index.value.data
    require(0 <= index < len(types), f"index {index} must be in [0, {len(types)})")
    require(types[index] == op.result.type, f"element {index} is a {types[index]}")


StableHLO.rows(
    """
    return results_*: any
      Results of a region.
    """,
    traits=(IsTerminator(), Pure()),
    syntaxes={
        "return": Syntax("{typed}", typed=Piece(_print_typed_operands, _parse_typed_operands))
    },
)
StableHLO.rows(
    """
    optimization_barrier operand*: any -> result*: any
      The operands; nothing is moved across.
    tuple val*: any -> result: tuple
      | tuple |
      Several values as one.
    get_tuple_element operand: tuple {index: i32} -> result: any
      | {operands}[{index}]{attributes} : {functional} |
      One of the values of a tuple.
    create_token -> output: token
      | same |
      A new token (deprecated in favour of ``after_all``).
    after_all inputs*: token -> result: token
      | same |
      A token that comes after all others.
    """,
    rules={
        "optimization_barrier": _verify_optimization_barrier,
        "tuple": _verify_tuple,
        "get_tuple_element": _verify_get_tuple_element,
    },
    syntaxes={
        "optimization_barrier": Syntax("{typed}", typed=Piece(_print_barrier, _parse_barrier))
    },
)
StableHLO.rows(
    """
    if pred: i1[] (true_branch, false_branch) -> res*: any
      One of two branches, by a scalar boolean.
    case index: [] (branches*) -> res*: any
      One of many branches, by a scalar ``i32``; the last one if it is out of range.
    while operand*: any (cond, body) -> res*: any
      A loop of any number of values.
    """,
    traits=(RecursiveMemoryEffect(),),
    rules={"if": _verify_if, "case": _verify_case, "while": _verify_while},
    bases={"while": WhileBase},
)
StableHLO.rows(
    """
    custom_call inputs*: any {call_target_name: symbol, has_side_effect?: bool, backend_config?: any,
      api_version?: i32, called_computations?: array, operand_layouts?: array, result_layouts?: array,
      output_operand_aliases?: array} -> result*: any
      | {call_target_name}({operands}){attributes} : {functional} |
      Call of a function that the compiler knows by name.
    composite inputs*: any {composite_name=name: string, composite_attributes?: dictionary, decomposition: function,
      version?: i32} (composite_regions*: any) -> result*: any
      | {name} {operands}{attributes} : {functional} |
      An op of another domain with its decomposition, a function of this module.
    """,
    traits=(),
    rules={"custom_call": _verify_custom_call},
)
