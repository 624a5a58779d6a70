"""CHLO constants, top_k, ragged_dot and scan."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    TensorType,
    i32,
)
from xdsl.ir import Attribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    AttrSizedResultSegments,
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
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure, RecursiveMemoryEffect

from torch2mlir.dialects.chlo.attrs import PrecisionAttr, RaggedDotDimensionNumbersAttr
from torch2mlir.dialects.stablehlo import checks, syntax
from torch2mlir.dialects.stablehlo.attrs import i64_attr
from torch2mlir.dialects.stablehlo.checks import require, shape_of
from torch2mlir.dialects.stablehlo.constructors import HloConstantOp
from torch2mlir.dialects.stablehlo.syntax import Signature, type_text

# --- constants -----------------------------------------------------------------------------------


@irdl_op_definition
class ConstantOp(HloConstantOp):
    """A literal."""

    name = "chlo.constant"


@irdl_op_definition
class ConstantLikeOp(IRDLOperation):
    """One number in the shape of the operand, which may be dynamic."""

    name = "chlo.constant_like"

    operand = operand_def(TensorType)
    value = prop_def(Attribute)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        checks.require_same_shapes(self)
        if isinstance(self.value, FloatAttr | IntegerAttr):
            checks.require_element_type(self.result, self.value.type, "result")


# --- structured ops ------------------------------------------------------------------------------


@irdl_op_definition
class TopKOp(IRDLOperation):
    """Largest `k` elements along the last dimension, and their places.

    ``%values, %indices = chlo.top_k(%0, k = 2) : tensor<..> -> (tensor<..>, tensor<..xi32>)``
    """

    name = "chlo.top_k"

    operand = operand_def(TensorType)
    k = prop_def(IntegerAttr)
    values = result_def(TensorType)
    indices = result_def(TensorType)
    traits = traits_def(Pure())

    def print(self, printer: Printer) -> None:
        printer.print_string("(")
        printer.print_ssa_value(self.operand)
        printer.print_string(f", k = {self.k.value.data})")
        syntax.print_attr_dict(self, printer, printed=["k"])
        values, indices = type_text(self.values.type), type_text(self.indices.type)
        printer.print_string(f" : {type_text(self.operand.type)} -> ({values}, {indices})")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        with parser.in_parens():
            operand = parser.parse_unresolved_operand()
            parser.parse_punctuation(",")
            parser.parse_keyword("k")
            parser.parse_punctuation("=")
            properties: dict[str, Attribute] = {"k": i64_attr(parser.parse_integer())}
        attributes = syntax.parse_attr_dict(cls, parser, properties)
        parser.parse_punctuation(":")
        operand_type = parser.parse_type()
        parser.parse_punctuation("->")
        results = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        signature = Signature([operand_type], results)
        return syntax.build(cls, parser, [operand], signature, properties, attributes)

    def verify_(self) -> None:
        shape, k = shape_of(self.operand), self.k.value.data
        require(
            len(shape) > 0 and k >= 0, "expected a tensor of rank 1 or more and a k of 0 or more"
        )
        for value, what in ((self.values, "values"), (self.indices, "indices")):
            checks.require_shape(value, [*shape[:-1], k], what)
        checks.require_element_type(self.indices, i32, "indices")


@irdl_op_definition
class RaggedDotOp(IRDLOperation):
    """``dot_general`` whose `lhs` is split in groups, each with its own `rhs`."""

    name = "chlo.ragged_dot"

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    group_sizes = operand_def(TensorType)
    ragged_dot_dimension_numbers = prop_def(RaggedDotDimensionNumbersAttr)
    precision_config = opt_prop_def(ArrayAttr[PrecisionAttr])
    result = result_def(TensorType)
    traits = traits_def(Pure())


@irdl_op_definition
class ScanOp(IRDLOperation):
    """A body run along one dimension of the inputs, carrying values from step to step.

    ``chlo.scan(%inputs) inits (%inits) dimension=0 attributes {...} {body} : (...) -> (...)``
    """

    name = "chlo.scan"

    inputs = var_operand_def(TensorType)
    inits = var_operand_def(TensorType)
    dimension = prop_def(IntegerAttr)
    scan_dim_size = opt_prop_def(IntegerAttr)
    is_reverse = opt_prop_def(BoolAttr)
    is_associative = opt_prop_def(BoolAttr)
    body = region_def("single_block")
    outputs = var_result_def(TensorType)
    carries = var_result_def(TensorType)
    traits = traits_def(RecursiveMemoryEffect())
    irdl_options = (
        AttrSizedOperandSegments(as_property=True),
        AttrSizedResultSegments(as_property=True),
    )

    PRINTED: ClassVar = ("dimension", "operandSegmentSizes", "resultSegmentSizes")

    def print(self, printer: Printer) -> None:
        printer.print_operands(self.inputs)
        printer.print_string(" inits ")
        printer.print_operands(self.inits)
        printer.print_string(f" dimension={self.dimension.value.data}")
        syntax.print_attr_dict(self, printer, printed=self.PRINTED, keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body)
        printer.print_string(f" : {syntax.function_type_text(self)}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        inputs = parser.parse_op_args_list()
        parser.parse_keyword("inits")
        inits = parser.parse_op_args_list()
        parser.parse_keyword("dimension")
        parser.parse_punctuation("=")
        properties: dict[str, Attribute] = {"dimension": i64_attr(parser.parse_integer())}
        attributes: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("attributes"):
            attributes = syntax.parse_attr_dict(cls, parser, properties)
        body = parser.parse_region()
        signature = syntax.parse_function_signature(parser)
        # Every initial value is carried to a result; the other results are stacked outputs.
        outputs = len(signature.outputs) - len(inits)
        operand_sizes, result_sizes = [len(inputs), len(inits)], [outputs, len(inits)]
        properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, operand_sizes)
        properties["resultSegmentSizes"] = DenseArrayBase.from_list(i32, result_sizes)
        operands = [*inputs, *inits]
        return syntax.build(cls, parser, operands, signature, properties, attributes, [body])


OPERATIONS = (
    ConstantLikeOp,
    ConstantOp,
    RaggedDotOp,
    ScanOp,
    TopKOp,
)
