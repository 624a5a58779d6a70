"""StableHLO ops that combine elements with a function of scalars, given as a region."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, cast

from xdsl.dialects.builtin import (
    BoolAttr,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    LocationAttr,
    TensorType,
    i1,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    SameVariadicOperandSize,
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
from xdsl.traits import RecursiveMemoryEffect

from torch2mlir.dialects.stablehlo import checks, syntax
from torch2mlir.dialects.stablehlo.attrs import (
    I64_ARRAY,
    I64Array,
    ScatterDimensionNumbersAttr,
    i64_array,
    padding_pairs,
    parse_i64_list,
)
from torch2mlir.dialects.stablehlo.checks import require, shape_of
from torch2mlir.dialects.stablehlo.control_flow import ReturnOp
from torch2mlir.dialects.stablehlo.elementwise import CompareOp
from torch2mlir.dialects.stablehlo.enums import (
    ComparisonDirection,
    ComparisonDirectionAttr,
    ComparisonType,
    ComparisonTypeAttr,
)

# --- bodies --------------------------------------------------------------------------------------


def combiner(
    op_type: type[Operation], element_type: Attribute, location: LocationAttr | None = None
) -> Region:
    """The body ``(a, b) -> op_type(a, b)`` of scalars: of a sum, a product, a maximum."""
    scalar = TensorType(element_type, [])
    block = Block(arg_types=[scalar, scalar])
    combined = op_type.create(operands=block.args, result_types=[scalar], location=location)
    block.add_ops([combined, ReturnOp.create(operands=combined.results, location=location)])
    return Region(block)


def comparator(
    direction: ComparisonDirection,
    element_types: Sequence[Attribute],
    compare_type: ComparisonType | None = None,
    location: LocationAttr | None = None,
) -> Region:
    """The body of ``sort`` and of a selection: compares the first of the sorted tensors.

    Args:
        direction: LT sorts up, GT down; GE selects the first of equal elements.
        element_types: of the tensors sorted together.
        compare_type: TOTALORDER gives NaN a place too.
        location: of the ops in the body.
    """
    types = [TensorType(element_type, []) for element_type in element_types for _ in range(2)]
    block = Block(arg_types=types)
    properties: dict[str, Attribute] = {"comparison_direction": ComparisonDirectionAttr(direction)}
    if compare_type is not None:
        properties["compare_type"] = ComparisonTypeAttr(compare_type)
    compare = CompareOp.create(
        operands=block.args[:2],
        result_types=[TensorType(i1, [])],
        properties=properties,
        location=location,
    )
    block.add_ops([compare, ReturnOp.create(operands=compare.results, location=location)])
    return Region(block)


def assign_body(element_type: Attribute, location: LocationAttr | None = None) -> Region:
    """The body ``(old, new) -> new`` of a ``scatter`` that overwrites."""
    scalar = TensorType(element_type, [])
    block = Block(arg_types=[scalar, scalar])
    block.add_op(ReturnOp.create(operands=block.args[1:], location=location))
    return Region(block)


def _verify_body(region: Region, argument_count: int, result_count: int) -> None:
    block = region.block
    require(
        len(block.args) == argument_count,
        f"body takes {len(block.args)} arguments, expected {argument_count}",
    )
    terminator = block.last_op
    require(
        isinstance(terminator, ReturnOp) and len(terminator.operands) == result_count,
        f"body must end with a stablehlo.return of {result_count} values",
    )


def _verify_results(results: Sequence[SSAValue], count: int, shape: Sequence[int]) -> None:
    require(len(results) == count, f"expected {count} results, got {len(results)}")
    for result in results:
        checks.require_shape(result, shape, "result")


# --- reduce --------------------------------------------------------------------------------------


@irdl_op_definition
class ReduceOp(IRDLOperation):
    """Reduction over dimensions, of several tensors together.

    ``stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [1] : ...``, or with
    the body written out after ``reducer``.
    """

    name = "stablehlo.reduce"

    inputs = var_operand_def(TensorType)
    init_values = var_operand_def(TensorType)
    dimensions = prop_def(I64_ARRAY)
    body = region_def("single_block")
    res = var_result_def(TensorType)
    traits = traits_def(RecursiveMemoryEffect())
    irdl_options = (SameVariadicOperandSize(),)

    def _applied_op(self) -> Operation | None:
        """The one op of the body, where ``applies`` says all about it."""
        block = self.body.block
        op, args = block.first_op, block.args
        if op is None or len(args) != 2 or len(op.operands) != 2 or len(op.results) != 1:
            return None
        terminator = op.next_op
        says_all = (
            op.name.startswith("stablehlo.")
            and tuple(op.operands) == tuple(args)
            and isinstance(terminator, ReturnOp)
            and tuple(terminator.operands) == tuple(op.results)
            and len(self.operands) == 2
            and args[0].type == args[1].type == op.results[0].type == self.operands[1].type
            and not (op.properties or op.attributes or terminator.attributes or op.regions)
        )
        return op if says_all else None

    def print(self, printer: Printer) -> None:
        pairs = list(zip(self.inputs, self.init_values))
        for index, (value, init) in enumerate(pairs):
            printer.print_string(", (" if index else "(")
            printer.print_ssa_value(value)
            printer.print_string(" init: ")
            printer.print_ssa_value(init)
            printer.print_string(")")
        applied = self._applied_op()
        if applied is not None:
            printer.print_string(f" applies {applied.name}")
        printer.print_string(f" across dimensions = {list(self.dimensions.get_values())}")
        syntax.print_attr_dict(self, printer, printed=["dimensions"])
        printer.print_string(f" : {syntax.function_type_text(self)}")
        if applied is None:
            printer.print_string("\n reducer")
            args = self.body.block.args
            for old, new in zip(args[: len(pairs)], args[len(pairs) :]):
                printer.print_string("(")
                printer.print_list((old, new), printer.print_block_argument)
                printer.print_string(") ")
            printer.print_region(self.body, print_entry_block_args=False)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        inputs: list[UnresolvedOperand] = []
        init_values: list[UnresolvedOperand] = []
        while True:
            with parser.in_parens():
                inputs.append(parser.parse_unresolved_operand())
                parser.parse_keyword("init")
                parser.parse_punctuation(":")
                init_values.append(parser.parse_unresolved_operand())
            if parser.parse_optional_punctuation(",") is None:
                break
        applied = parser.parse_identifier() if parser.parse_optional_keyword("applies") else None
        parser.parse_keyword("across")
        parser.parse_keyword("dimensions")
        parser.parse_punctuation("=")
        properties: dict[str, Attribute] = {"dimensions": i64_array(parse_i64_list(parser))}
        attributes = syntax.parse_attr_dict(cls, parser, properties)
        signature = syntax.parse_function_signature(parser)
        if applied is not None:
            init_type = cast(TensorType, signature.inputs[len(inputs)])
            body = combiner(parser.ctx.get_op(applied), init_type.element_type)
        else:
            body = cls._parse_reducer(parser)
        operands = [*inputs, *init_values]
        return syntax.build(cls, parser, operands, signature, properties, attributes, [body])

    @staticmethod
    def _parse_reducer(parser: Parser) -> Region:
        parser.parse_keyword("reducer")
        pairs: list[list[Parser.Argument]] = []

        def parse_argument() -> Parser.Argument:
            argument = parser.parse_argument()
            argument.location = parser.parse_optional_location()
            return argument

        while (
            pair := parser.parse_optional_comma_separated_list(
                parser.Delimiter.PAREN, parse_argument
            )
        ) is not None:
            pairs.append(pair)
        return parser.parse_region([pair[side] for side in range(2) for pair in pairs])

    def verify_(self) -> None:
        count, dims = len(self.inputs), self.dimensions.get_values()
        require(count > 0, "expected at least one input")
        shape = shape_of(self.inputs[0])
        checks.require_dims(dims, len(shape), "dimensions")
        for value in self.inputs:
            checks.require_shape(value, shape, "input")
        for value in self.init_values:
            checks.require_shape(value, [], "init value")
        kept = [size for dim, size in enumerate(shape) if dim not in dims]
        _verify_results(self.res, count, kept)
        _verify_body(self.body, 2 * count, count)


# --- windows -------------------------------------------------------------------------------------


def _window_shape(
    shape: Sequence[int],
    window_dimensions: I64Array,
    strides: I64Array | None,
    padding: DenseIntOrFPElementsAttr | None,
    base_dilations: I64Array | None = None,
    window_dilations: I64Array | None = None,
) -> list[int]:
    """Number of windows along each dimension."""
    ones = (1,) * len(shape)
    windows = window_dimensions.get_values()
    steps, bases, dilations = (
        ones if values is None else values.get_values()
        for values in (strides, base_dilations, window_dilations)
    )
    pairs = [(0, 0)] * len(shape) if padding is None else padding_pairs(padding)
    for values in (windows, steps, bases, dilations, pairs):
        checks.require_length(values, len(shape), "window attribute")  # type: ignore[arg-type]
    return [
        checks.windowed_dim(
            checks.dilated(size, base), checks.dilated(window, dilation), step, low, high
        )
        for size, window, step, base, dilation, (low, high) in zip(
            shape, windows, steps, bases, dilations, pairs
        )
    ]


@irdl_op_definition
class ReduceWindowOp(IRDLOperation):
    """Reduction of every window of the inputs: pooling, cumulative sums."""

    name = "stablehlo.reduce_window"

    inputs = var_operand_def(TensorType)
    init_values = var_operand_def(TensorType)
    window_dimensions = prop_def(I64_ARRAY)
    window_strides = opt_prop_def(I64_ARRAY)
    base_dilations = opt_prop_def(I64_ARRAY)
    window_dilations = opt_prop_def(I64_ARRAY)
    padding = opt_prop_def(DenseIntOrFPElementsAttr)
    body = region_def("single_block")
    res = var_result_def(TensorType)
    traits = traits_def(RecursiveMemoryEffect())
    irdl_options = (SameVariadicOperandSize(),)

    def verify_(self) -> None:
        count = len(self.inputs)
        require(count > 0, "expected at least one input")
        shape = shape_of(self.inputs[0])
        for value in self.inputs:
            checks.require_shape(value, shape, "input")
        for value in self.init_values:
            checks.require_shape(value, [], "init value")
        expected = _window_shape(
            shape,
            self.window_dimensions,
            self.window_strides,
            self.padding,
            self.base_dilations,
            self.window_dilations,
        )
        _verify_results(self.res, count, expected)
        _verify_body(self.body, 2 * count, count)


@irdl_op_definition
class SelectAndScatterOp(IRDLOperation):
    """Each source element added where its window's element is selected: max pooling's gradient."""

    name = "stablehlo.select_and_scatter"

    operand = operand_def(TensorType)
    source = operand_def(TensorType)
    init_value = operand_def(TensorType)
    window_dimensions = opt_prop_def(I64_ARRAY)
    window_strides = opt_prop_def(I64_ARRAY)
    padding = opt_prop_def(DenseIntOrFPElementsAttr)
    select = region_def("single_block")
    scatter = region_def("single_block")
    result = result_def(TensorType)
    traits = traits_def(RecursiveMemoryEffect())

    def verify_(self) -> None:
        shape = shape_of(self.operand)
        checks.require_shape(self.init_value, [], "init_value")
        checks.require_shape(self.result, shape, "result")
        if self.window_dimensions is not None:
            expected = _window_shape(
                shape, self.window_dimensions, self.window_strides, self.padding
            )
            checks.require_shape(self.source, expected, "source")
        _verify_body(self.select, 2, 1)
        _verify_body(self.scatter, 2, 1)


# --- scatter, sort, map --------------------------------------------------------------------------


@irdl_op_definition
class ScatterOp(IRDLOperation):
    """The inputs with updates combined in at positions given by an index tensor."""

    name = "stablehlo.scatter"

    inputs = var_operand_def(TensorType)
    scatter_indices = operand_def(TensorType)
    updates = var_operand_def(TensorType)
    scatter_dimension_numbers = prop_def(ScatterDimensionNumbersAttr)
    indices_are_sorted = opt_prop_def(BoolAttr)
    unique_indices = opt_prop_def(BoolAttr)
    update_computation = region_def("single_block")
    res = var_result_def(TensorType)
    traits = traits_def(RecursiveMemoryEffect())
    irdl_options = (SameVariadicOperandSize(),)

    def verify_(self) -> None:
        count = len(self.inputs)
        require(count > 0, "expected at least one input")
        shape = shape_of(self.inputs[0])
        numbers = self.scatter_dimension_numbers
        window, inserted, batching, mapped = (
            values.get_values()
            for values in (
                numbers.update_window_dims,
                numbers.inserted_window_dims,
                numbers.input_batching_dims,
                numbers.scatter_dims_to_operand_dims,
            )
        )
        checks.require_dims([*inserted, *batching], len(shape), "inserted and batching dims")
        checks.require_dims(mapped, len(shape), "scatter_dims_to_operand_dims")
        require(
            len(window) + len(inserted) + len(batching) == len(shape),
            f"window, inserted and batching dims must add up to the inputs' rank {len(shape)}",
        )
        indices_rank = len(shape_of(self.scatter_indices))
        index_vector_dim = numbers.index_vector_dim.value.data
        require(
            0 <= index_vector_dim <= indices_rank,
            f"index_vector_dim {index_vector_dim} must be in [0, {indices_rank}]",
        )
        updates_rank = len(window) + indices_rank - (index_vector_dim < indices_rank)
        checks.require_dims(window, updates_rank, "update_window_dims")
        for update in self.updates:
            checks.require_length(shape_of(update), updates_rank, "updates' shape")
        _verify_results(self.res, count, shape)
        _verify_body(self.update_computation, 2 * count, count)


@irdl_op_definition
class SortOp(IRDLOperation):
    """Tensors sorted together along one dimension."""

    name = "stablehlo.sort"

    inputs = var_operand_def(TensorType)
    dimension = opt_prop_def(IntegerAttr)
    is_stable = opt_prop_def(BoolAttr)
    comparator = region_def("single_block")
    res = var_result_def(TensorType)
    traits = traits_def(RecursiveMemoryEffect())

    def verify_(self) -> None:
        count = len(self.inputs)
        require(count > 0, "expected at least one input")
        shape = shape_of(self.inputs[0])
        for value in self.inputs:
            checks.require_shape(value, shape, "input")
        if self.dimension is not None and shape:
            dimension, rank = self.dimension.value.data, len(shape)
            require(
                -rank <= dimension < rank, f"dimension {dimension} must be in [-{rank}, {rank})"
            )
        _verify_results(self.res, count, shape)
        _verify_body(self.comparator, 2 * count, 1)


@irdl_op_definition
class MapOp(IRDLOperation):
    """A function of scalars applied to the elements of several tensors."""

    name = "stablehlo.map"

    inputs = var_operand_def(TensorType)
    dimensions = prop_def(I64_ARRAY)
    computation = region_def("single_block")
    result = result_def(TensorType)
    traits = traits_def(RecursiveMemoryEffect())

    def verify_(self) -> None:
        require(len(self.inputs) > 0, "expected at least one input")
        shape = shape_of(self.result)
        for value in self.inputs:
            checks.require_shape(value, shape, "input")
        dims = list(self.dimensions.get_values())
        require(dims == list(range(len(shape))), f"dimensions {dims} must be all, in order")
        _verify_body(self.computation, len(self.inputs), 1)


OPERATIONS = (
    MapOp,
    ReduceOp,
    ReduceWindowOp,
    ScatterOp,
    SelectAndScatterOp,
    SortOp,
)
