"""StableHLO control flow, calls, tuples and tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DictionaryAttr,
    FlatSymbolRefAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    TupleType,
    i1,
    i32,
)
from xdsl.ir import Attribute, Region
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
    var_region_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure, RecursiveMemoryEffect

from torch2mlir.dialects.stablehlo import checks, syntax
from torch2mlir.dialects.stablehlo.attrs import (
    TokenType,
)
from torch2mlir.dialects.stablehlo.checks import require
from torch2mlir.dialects.stablehlo.syntax import SAME, HloOp, TypeSyntax, type_text

# --- values passed through -----------------------------------------------------------------------


def _print_typed_operands(op: IRDLOperation, printer: Printer) -> None:
    """`` %0, %1 {...} : type, type``."""
    printer.print_string(" ")
    syntax.print_operands(printer, op.operands)
    syntax.print_attr_dict(op, printer)
    if op.operands:
        types = ", ".join(type_text(value.type) for value in op.operands)
        printer.print_string(f" : {types}")


def _parse_typed_operands(
    op_type: type[IRDLOperation], parser: Parser
) -> tuple[list[UnresolvedOperand], list[Attribute], dict[str, Attribute]]:
    """The inverse of :func:`_print_typed_operands`: operands, their types, attributes."""
    operands = syntax.parse_operands(parser)
    attributes = syntax.parse_attr_dict(op_type, parser, {})
    if not operands:
        return [], [], attributes
    parser.parse_punctuation(":")
    types: list[Attribute] = [parser.parse_type()]
    while parser.parse_optional_punctuation(","):
        types.append(parser.parse_type())
    return operands, types, attributes


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """Results of a region."""

    name = "stablehlo.return"

    results_ = var_operand_def()
    traits = traits_def(IsTerminator(), Pure())

    def print(self, printer: Printer) -> None:
        _print_typed_operands(self, printer)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands, types, attributes = _parse_typed_operands(cls, parser)
        return syntax.build(cls, parser, operands, syntax.Signature(types, []), {}, attributes)


@irdl_op_definition
class OptimizationBarrierOp(IRDLOperation):
    """The operands; nothing is moved across."""

    name = "stablehlo.optimization_barrier"

    operand = var_operand_def()
    result = var_result_def()
    traits = traits_def(Pure())

    def print(self, printer: Printer) -> None:
        if self.operands:
            _print_typed_operands(self, printer)
        else:
            printer.print_string("()")
            syntax.print_attr_dict(self, printer)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        if parser.parse_optional_punctuation("("):
            parser.parse_punctuation(")")
            attributes = syntax.parse_attr_dict(cls, parser, {})
            return syntax.build(cls, parser, [], syntax.Signature([], []), {}, attributes)
        operands, types, attributes = _parse_typed_operands(cls, parser)
        return syntax.build(cls, parser, operands, syntax.Signature(types, types), {}, attributes)

    def verify_(self) -> None:
        same = [value.type for value in self.operand] == [value.type for value in self.result]
        require(same, "results must have the types of the operands")


# --- branches and loops --------------------------------------------------------------------------


def _verify_yield(region: Region, types: Sequence[Attribute], what: str) -> None:
    """The region ends with a return of values of these types."""
    terminator = region.block.last_op
    if not isinstance(terminator, ReturnOp):
        require(False, f"{what} must end with stablehlo.return")
        return
    got = [value.type for value in terminator.operands]
    fits = len(got) == len(types) and all(map(checks.compatible_types, got, types))
    require(
        fits,
        f"{what} returns ({', '.join(map(str, got))}), expected ({', '.join(map(str, types))})",
    )


@irdl_op_definition
class IfOp(IRDLOperation):
    """One of two branches, by a scalar boolean."""

    name = "stablehlo.if"

    pred = operand_def(TensorType)
    true_branch = region_def("single_block")
    false_branch = region_def("single_block")
    res = var_result_def()
    traits = traits_def(RecursiveMemoryEffect())

    def verify_(self) -> None:
        checks.require_shape(self.pred, [], "pred")
        checks.require_element_type(self.pred, i1, "pred")
        for branch, what in (
            (self.true_branch, "true branch"),
            (self.false_branch, "false branch"),
        ):
            _verify_yield(branch, [value.type for value in self.res], what)


@irdl_op_definition
class CaseOp(IRDLOperation):
    """One of many branches, by a scalar ``i32``; the last one if it is out of range."""

    name = "stablehlo.case"

    index = operand_def(TensorType)
    branches = var_region_def("single_block")
    res = var_result_def()
    traits = traits_def(RecursiveMemoryEffect())

    def verify_(self) -> None:
        checks.require_shape(self.index, [], "index")
        checks.require_element_type(self.index, i32, "index")
        require(len(self.branches) > 0, "expected at least one branch")
        for number, branch in enumerate(self.branches):
            _verify_yield(branch, [value.type for value in self.res], f"branch {number}")


@irdl_op_definition
class WhileOp(IRDLOperation):
    """A loop of any number of values.

    ``stablehlo.while(%iter = %0) : tensor<i32> cond {...} do {...}``: both regions see the values
    under one name.
    """

    name = "stablehlo.while"

    operand = var_operand_def()
    cond = region_def("single_block")
    body = region_def("single_block")
    res = var_result_def()
    traits = traits_def(RecursiveMemoryEffect())

    def print(self, printer: Printer) -> None:
        printer.print_string("(")
        cond_args, body_args = self.cond.block.args, self.body.block.args
        for index, (argument, body_argument) in enumerate(zip(cond_args, body_args)):
            if index:
                printer.print_string(", ")
            printer._ssa_values[body_argument] = printer.print_ssa_value(argument)
            printer.print_string(" = ")
            printer.print_ssa_value(self.operand[index])
        printer.print_string(")")
        if self.operand:
            types = ", ".join(type_text(value.type) for value in self.operand)
            printer.print_string(f" : {types}")
        syntax.print_attr_dict(self, printer, keyword=True)
        for keyword, region in (("\ncond ", self.cond), (" do ", self.body)):
            printer.print_string(keyword)
            printer.print_region(region, print_entry_block_args=False, print_empty_block=False)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        def parse_binding() -> tuple[Parser.UnresolvedArgument, UnresolvedOperand]:
            argument = parser.parse_argument(expect_type=False)
            parser.parse_punctuation("=")
            return argument, parser.parse_unresolved_operand()

        bindings = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_binding)
        operands = [operand for _, operand in bindings]
        types: list[Attribute] = []
        if bindings:
            parser.parse_punctuation(":")
            types.append(parser.parse_type())
            while parser.parse_optional_punctuation(","):
                types.append(parser.parse_type())
        with_keyword = parser.parse_optional_attr_dict_with_keyword()
        attributes = dict(with_keyword.data) if with_keyword is not None else {}
        if len(types) != len(bindings):
            parser.raise_error(f"expected {len(bindings)} types, got {len(types)}")
        arguments = [argument.resolve(type_) for (argument, _), type_ in zip(bindings, types)]
        regions = []
        for keyword in ("cond", "do"):
            parser.parse_keyword(keyword)
            regions.append(parser.parse_region(arguments))
        signature = syntax.Signature(types, types)
        return syntax.build(cls, parser, operands, signature, {}, attributes, regions)

    def verify_(self) -> None:
        types = [value.type for value in self.operand]
        for values, what in (
            (self.cond.block.args, "arguments of cond"),
            (self.body.block.args, "arguments of body"),
            (self.res, "results"),
        ):
            got = [value.type for value in values]
            fits = len(got) == len(types) and all(map(checks.compatible_types, got, types))
            require(fits, f"{what} must have the types of the operands")
        _verify_yield(self.cond, [TensorType(i1, [])], "cond")
        _verify_yield(self.body, types, "body")


# --- calls ---------------------------------------------------------------------------------------


@irdl_op_definition
class CustomCallOp(IRDLOperation):
    """Call of a function that the compiler knows by name: ``stablehlo.custom_call @foo(%0) ...``."""

    name = "stablehlo.custom_call"

    inputs = var_operand_def()
    call_target_name = prop_def(StringAttr)
    has_side_effect = opt_prop_def(BoolAttr)
    backend_config = opt_prop_def(Attribute)
    api_version = opt_prop_def(IntegerAttr)
    called_computations = opt_prop_def(ArrayAttr)
    operand_layouts = opt_prop_def(ArrayAttr)
    result_layouts = opt_prop_def(ArrayAttr)
    output_operand_aliases = opt_prop_def(ArrayAttr)
    result = var_result_def()

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.call_target_name.data)
        printer.print_operands(self.operands)
        syntax.print_attr_dict(self, printer, printed=["call_target_name"])
        printer.print_string(f" : {syntax.function_type_text(self)}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties: dict[str, Attribute] = {"call_target_name": parser.parse_symbol_name()}
        operands = parser.parse_op_args_list()
        attributes = syntax.parse_attr_dict(cls, parser, properties)
        signature = syntax.parse_function_signature(parser)
        return syntax.build(cls, parser, operands, signature, properties, attributes)

    def verify_(self) -> None:
        for layouts, values, what in (
            (self.operand_layouts, self.inputs, "operand"),
            (self.result_layouts, self.result, "result"),
        ):
            if layouts is not None and not any(isinstance(v.type, TupleType) for v in values):
                require(len(layouts) == len(values), f"expected one layout per {what}")


@irdl_op_definition
class CompositeOp(IRDLOperation):
    """An op of another domain with its decomposition, a function of this module.

    ``stablehlo.composite "my.op" %0 {decomposition = @my_op, version = 1 : i32} : ...``
    """

    name = "stablehlo.composite"

    inputs = var_operand_def()
    composite_name = prop_def(StringAttr, prop_name="name")
    composite_attributes = opt_prop_def(DictionaryAttr)
    decomposition = prop_def(FlatSymbolRefAttr)
    version = opt_prop_def(IntegerAttr)
    composite_regions = var_region_def()
    result = var_result_def()

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.composite_name.data)
        printer.print_string(" ")
        syntax.print_operands(printer, self.operands)
        syntax.print_attr_dict(self, printer, printed=["name"])
        printer.print_string(f" : {syntax.function_type_text(self)}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties: dict[str, Attribute] = {"name": StringAttr(parser.parse_str_literal())}
        operands = syntax.parse_operands(parser)
        attributes = syntax.parse_attr_dict(cls, parser, properties)
        signature = syntax.parse_function_signature(parser)
        return syntax.build(cls, parser, operands, signature, properties, attributes)


# --- tuples and tokens ---------------------------------------------------------------------------


@irdl_op_definition
class TupleOp(HloOp):
    """Values as one tuple."""

    name = "stablehlo.tuple"
    TYPES: ClassVar[TypeSyntax] = syntax.TUPLE

    val = var_operand_def()
    result = result_def(TupleType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        types = tuple(value.type for value in self.val)
        require(types == tuple(self.result.type.types.data), "tuple type does not fit its elements")


@irdl_op_definition
class GetTupleElementOp(IRDLOperation):
    """One element of a tuple; ``stablehlo.get_tuple_element %0[1] : ...``."""

    name = "stablehlo.get_tuple_element"

    operand = operand_def(TupleType)
    index = prop_def(IntegerAttr)
    result = result_def()
    traits = traits_def(Pure())

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operand)
        printer.print_string(f"[{self.index.value.data}]")
        syntax.print_attr_dict(self, printer, printed=["index"])
        printer.print_string(f" : {syntax.function_type_text(self)}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operand = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            properties: dict[str, Attribute] = {"index": IntegerAttr(parser.parse_integer(), i32)}
        attributes = syntax.parse_attr_dict(cls, parser, properties)
        signature = syntax.parse_function_signature(parser)
        return syntax.build(cls, parser, [operand], signature, properties, attributes)

    def verify_(self) -> None:
        types = cast(TupleType, self.operand.type).types.data
        index = self.index.value.data
        require(0 <= index < len(types), f"index {index} must be in [0, {len(types)})")
        require(types[index] == self.result.type, f"element {index} is a {types[index]}")


@irdl_op_definition
class CreateTokenOp(HloOp):
    """A new token (deprecated in favour of ``after_all``)."""

    name = "stablehlo.create_token"
    TYPES: ClassVar[TypeSyntax] = SAME

    output = result_def(TokenType)
    traits = traits_def(Pure())


@irdl_op_definition
class AfterAllOp(HloOp):
    """A token that comes after all others."""

    name = "stablehlo.after_all"
    TYPES: ClassVar[TypeSyntax] = SAME

    inputs = var_operand_def(TokenType)
    result = result_def(TokenType)
    traits = traits_def(Pure())


OPERATIONS = (
    AfterAllOp,
    CaseOp,
    CompositeOp,
    CreateTokenOp,
    CustomCallOp,
    GetTupleElementOp,
    IfOp,
    OptimizationBarrierOp,
    ReturnOp,
    TupleOp,
    WhileOp,
)
