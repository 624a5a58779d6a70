"""StableHLO ops that combine elements with a function of scalars, given as a region."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, cast

from xdsl.dialects.builtin import LocationAttr, TensorType, i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import SameVariadicOperandSize
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import RecursiveMemoryEffect

from torch2mlir.dialects.assembly import (
    Read,
    attribute_dictionary,
    created,
    functional_text,
    parse_functional,
)
from torch2mlir.dialects.rows import RowOp
from torch2mlir.dialects.stablehlo import checks
from torch2mlir.dialects.stablehlo.attrs import padding_pairs, parse_i64_list
from torch2mlir.dialects.stablehlo.checks import shape_of
from torch2mlir.dialects.stablehlo.enums import (
    ComparisonDirection,
    ComparisonDirectionAttr,
    ComparisonType,
    ComparisonTypeAttr,
)
from torch2mlir.dialects.stablehlo.kinds import StableHLO
from torch2mlir.dialects.tensor_rules import dilated, require, windowed_dim
from torch2mlir.dialects.tensors import i64_array, integers

# --- bodies --------------------------------------------------------------------------------------


def _returning(block: Block, values: Sequence[SSAValue], location: LocationAttr | None) -> Region:
    block.add_op(StableHLO["ReturnOp"].create(operands=values, location=location))
    return Region(block)


def combiner(
    op_type: type[Operation], element_type: Attribute, location: LocationAttr | None = None
) -> Region:
    """The body ``(a, b) -> op_type(a, b)`` of scalars: of a sum, a product, a maximum."""
    scalar = TensorType(element_type, [])
    block = Block(arg_types=[scalar, scalar])
    combined = op_type.create(operands=block.args, result_types=[scalar], location=location)
    block.add_op(combined)
    return _returning(block, combined.results, location)


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
    compare = StableHLO["CompareOp"].create(
        operands=block.args[:2],
        result_types=[TensorType(i1, [])],
        properties=properties,
        location=location,
    )
    block.add_op(compare)
    return _returning(block, compare.results, location)


def assign_body(element_type: Attribute, location: LocationAttr | None = None) -> Region:
    """The body ``(old, new) -> new`` of a ``scatter`` that overwrites."""
    block = Block(arg_types=[TensorType(element_type, [])] * 2)
    return _returning(block, block.args[1:], location)


def _verify_body(region: Region, argument_count: int, result_count: int) -> None:
    block = region.block
    require(
        len(block.args) == argument_count,
        f"body takes {len(block.args)} arguments, expected {argument_count}",
    )
    end = block.last_op
    require(
        end is not None and end.name == "stablehlo.return" and len(end.operands) == result_count,
        f"body must end with a stablehlo.return of {result_count} values",
    )


def _verify_results(results: Sequence[SSAValue], count: int, shape: Sequence[int]) -> None:
    require(len(results) == count, f"expected {count} results, got {len(results)}")
    for result in results:
        checks.require_shape(result, shape, "result")


# --- reduce --------------------------------------------------------------------------------------

ATTRIBUTES = attribute_dictionary(["dimensions"])


class ReduceBase(RowOp):
    """``stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [1] : ...``, or with
    the body written out after ``reducer``.
    """

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
            and terminator is not None
            and terminator.name == "stablehlo.return"
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
        ATTRIBUTES.print(self, printer)
        printer.print_string(f" : {functional_text(self)}")
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
        read = Read(cls, [*inputs, *init_values])
        read.properties["dimensions"] = i64_array(parse_i64_list(parser))
        ATTRIBUTES.parse(parser, read)
        parser.parse_punctuation(":")
        read.inputs, read.outputs = parse_functional(parser)
        if applied is not None:
            init_type = cast(TensorType, read.inputs[len(inputs)])
            body = combiner(parser.ctx.get_op(applied), init_type.element_type)
        else:
            body = cls._parse_reducer(parser)
        return created(cls, parser, read, regions=[body])

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


# --- what is verified ----------------------------------------------------------------------------


def _window_shape(op: RowOp, shape: Sequence[int]) -> list[int]:
    """Number of windows along each dimension."""
    ones = (1,) * len(shape)
    windows = op.window_dimensions.get_values()
    given = map(op.properties.get, ("window_strides", "base_dilations", "window_dilations"))
    steps, bases, dilations = (ones if each is None else integers(each) for each in given)
    pairs = [(0, 0)] * len(shape) if op.padding is None else padding_pairs(op.padding)
    for values in (windows, steps, bases, dilations, pairs):
        checks.require_length(values, len(shape), "window attribute")
    return [
        windowed_dim(dilated(size, base), dilated(window, dilation), step, low, high)
        for size, window, step, base, dilation, (low, high) in zip(
            shape, windows, steps, bases, dilations, pairs
        )
    ]


def _inputs(op: RowOp) -> tuple[int, Sequence[int]]:
    """How many inputs there are, and the shape of all of them."""
    require(len(op.inputs) > 0, "expected at least one input")
    shape = shape_of(op.inputs[0])
    for value in op.inputs:
        checks.require_shape(value, shape, "input")
    return len(op.inputs), shape


def _verify_reduce(op: RowOp) -> None:
    (count, shape), dims = _inputs(op), op.dimensions.get_values()
    checks.require_dims(dims, len(shape), "dimensions")
    kept = [size for dim, size in enumerate(shape) if dim not in dims]
    _verify_results(op.res, count, kept)
    _verify_body(op.body, 2 * count, count)


def _verify_reduce_window(op: RowOp) -> None:
    count, shape = _inputs(op)
    _verify_results(op.res, count, _window_shape(op, shape))
    _verify_body(op.body, 2 * count, count)


def _verify_select_and_scatter(op: RowOp) -> None:
    shape = shape_of(op.operand)
    if op.window_dimensions is not None:
        checks.require_shape(op.source, _window_shape(op, shape), "source")
    _verify_body(op.select, 2, 1)
    _verify_body(op.scatter, 2, 1)


def _verify_scatter(op: RowOp) -> None:
    count, shape = _inputs(op)
    updates_rank = checks.indexed_rank(
        op.scatter_dimension_numbers,
        (
            "update_window_dims",
            "inserted_window_dims",
            "input_batching_dims",
            "scatter_dims_to_operand_dims",
        ),
        len(shape),
        len(shape_of(op.scatter_indices)),
    )
    for update in op.updates:
        checks.require_length(shape_of(update), updates_rank, "updates' shape")
    _verify_results(op.res, count, shape)
    _verify_body(op.update_computation, 2 * count, count)


def _verify_sort(op: RowOp) -> None:
    count, shape = _inputs(op)
    if op.dimension is not None and shape:
        dimension, rank = op.dimension.value.data, len(shape)
        require(-rank <= dimension < rank, f"dimension {dimension} must be in [-{rank}, {rank})")
    _verify_results(op.res, count, shape)
    _verify_body(op.comparator, 2 * count, 1)


def _verify_map(op: RowOp) -> None:
    require(len(op.inputs) > 0, "expected at least one input")
    shape = shape_of(op.result)
    dims = list(op.dimensions.get_values())
    require(dims == list(range(len(shape))), f"dimensions {dims} must be all, in order")
    _verify_body(op.computation, len(op.inputs), 1)


REGION = (RecursiveMemoryEffect(),)
StableHLO.rows(
    """
    reduce inputs*, init_values*: [] {dimensions: i64s} (body) -> res*
      Reduction over dimensions, of several tensors together.
    reduce_window inputs*, init_values*: [] {window_dimensions: i64s, window_strides?: i64s, base_dilations?: i64s,
      window_dilations?: i64s, padding?: pairs} (body) -> res*
      Reduction of every window of the inputs: pooling, cumulative sums.
    scatter inputs*, scatter_indices, updates* {scatter_dimension_numbers: scatter_dims, indices_are_sorted?: bool,
      unique_indices?: bool} (update_computation) -> res*
      The inputs with updates combined in at positions given by an index tensor.
    """,
    traits=REGION,
    rules={
        "reduce": _verify_reduce,
        "reduce_window": _verify_reduce_window,
        "scatter": _verify_scatter,
    },
    bases={"reduce": ReduceBase},
    options=(SameVariadicOperandSize(),),
)
StableHLO.rows(
    """
    select_and_scatter operand: [*s], source, init_value: [] {window_dimensions?: i64s, window_strides?: i64s,
      padding?: pairs} (select, scatter) -> result: [*s]
      Each source element added where its window's element is selected: max pooling's gradient.
    sort inputs* {dimension?: i64, is_stable?: bool} (comparator) -> res*
      Tensors sorted together along one dimension.
    map inputs*: [*s] {dimensions: i64s} (computation) -> result: [*s]
      A function of scalars applied to the elements of several tensors.
    """,
    traits=REGION,
    rules={
        "select_and_scatter": _verify_select_and_scatter,
        "sort": _verify_sort,
        "map": _verify_map,
    },
)
