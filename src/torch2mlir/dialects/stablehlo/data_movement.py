"""StableHLO ops that move elements without computing: reshapes, slices, broadcasts, gather."""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr
from xdsl.parser import Parser
from xdsl.printer import Printer

from torch2mlir.dialects.assembly import Piece, Read, Syntax
from torch2mlir.dialects.rows import RowOp, Rule
from torch2mlir.dialects.stablehlo import checks
from torch2mlir.dialects.stablehlo.checks import shape_of
from torch2mlir.dialects.stablehlo.kinds import FUNCTIONAL, StableHLO
from torch2mlir.dialects.tensor_rules import require, same_dim
from torch2mlir.dialects.tensors import i64_array, integer, integers


def _verify_broadcast(op: RowOp) -> None:
    shape, result_shape = shape_of(op.operand), shape_of(op.result)
    dims = op.broadcast_dimensions.get_values()
    checks.require_length(dims, len(shape), "broadcast_dimensions")
    checks.require_dims(dims, len(result_shape), "broadcast_dimensions")
    for size, dim in zip(shape, dims):
        require(
            size == 1 or same_dim(size, result_shape[dim]),
            f"size {size} cannot be broadcast to result dimension {dim} of size {result_shape[dim]}",
        )


def _verify_reshape(op: RowOp) -> None:
    count, result_count = (
        checks.element_count(shape_of(value)) for value in (op.operand, op.result)
    )
    require(
        count is None or result_count is None or count == result_count,
        f"{count} elements cannot be reshaped to {result_count}",
    )


def _verify_transpose(op: RowOp) -> None:
    shape, dims = shape_of(op.operand), op.permutation.get_values()
    checks.require_length(dims, len(shape), "permutation")
    checks.require_dims(dims, len(shape), "permutation")
    checks.require_shape(op.result, [shape[dim] for dim in dims], "result")


def _verify_slice(op: RowOp) -> None:
    shape = shape_of(op.operand)
    for values in (op.start_indices, op.limit_indices, op.strides):
        checks.require_length(values.get_values(), len(shape), "slice")
    expected = []
    for size, (start, limit, stride) in zip(shape, _ranges(op)):
        in_bounds = 0 <= start <= limit and (size == DYNAMIC_INDEX or limit <= size)
        require(
            in_bounds and stride > 0,
            f"slice {start}:{limit}:{stride} does not fit a dimension of size {size}",
        )
        expected.append(-(-(limit - start) // stride))
    checks.require_shape(op.result, expected, "result")


def _verify_dynamic_slice(op: RowOp) -> None:
    _starts_fit(op)
    shape, sizes = shape_of(op.operand), op.slice_sizes.get_values()
    checks.require_length(sizes, len(shape), "slice_sizes")
    for size, slice_size in zip(shape, sizes):
        fits = slice_size >= 0 and (size == DYNAMIC_INDEX or slice_size <= size)
        require(fits, f"slice size {slice_size} does not fit a dimension of size {size}")
    checks.require_shape(op.result, sizes, "result")


def _verify_pad(op: RowOp) -> None:
    shape = shape_of(op.operand)
    properties = (op.edge_padding_low, op.edge_padding_high, op.interior_padding)
    paddings = [values.get_values() for values in properties]
    for values in paddings:
        checks.require_length(values, len(shape), "padding")
    expected = [
        size if size == DYNAMIC_INDEX else size + low + high + max(size - 1, 0) * interior
        for size, low, high, interior in zip(shape, *paddings)
    ]
    checks.require_shape(op.padding_value, [], "padding_value")
    checks.require_shape(op.result, expected, "result")


def _verify_concatenate(op: RowOp) -> None:
    require(len(op.inputs) > 0, "expected at least one input")
    shape, dimension = list(shape_of(op.result)), op.dimension.value.data
    checks.require_dims([dimension], len(shape), "dimension")
    total = 0
    for value in op.inputs:
        size = shape_of(value)[dimension] if dimension < len(shape_of(value)) else 0
        checks.require_shape(value, [*shape[:dimension], size, *shape[dimension + 1 :]], "input")
        total = DYNAMIC_INDEX if DYNAMIC_INDEX in (size, total) else total + size
    shape[dimension] = total
    checks.require_shape(op.result, shape, "result")


def _verify_gather_base(op: RowOp) -> None:
    numbers = op.dimension_numbers
    result_rank = checks.indexed_rank(
        numbers,
        ("offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_index_map"),
        len(shape_of(op.operand)),
        len(shape_of(op.start_indices)),
    )
    checks.require_length(shape_of(op.result), result_rank, "result shape")


def _verify_gather(op: RowOp) -> None:
    _verify_gather_base(op)
    shape, sizes = shape_of(op.operand), op.slice_sizes.get_values()
    checks.require_length(sizes, len(shape), "slice_sizes")
    numbers = op.dimension_numbers
    dropped = {
        *numbers.collapsed_slice_dims.get_values(),
        *numbers.operand_batching_dims.get_values(),
    }
    kept = [size for dim, size in enumerate(sizes) if dim not in dropped]
    result_shape = shape_of(op.result)
    for dim, size in zip(numbers.offset_dims.get_values(), kept):
        require(
            same_dim(result_shape[dim], size),
            f"result dimension {dim} is {result_shape[dim]}, slice size {size}",
        )


def _verify_leading_broadcast(op: RowOp) -> None:
    expected = [*op.broadcast_sizes.get_values(), *shape_of(op.operand)]
    checks.require_shape(op.result, expected, "result")


def _ranges(op: RowOp) -> list[tuple[int, int, int]]:
    """Start, limit and stride per dimension."""
    properties = (op.start_indices, op.limit_indices, op.strides)
    return list(zip(*(values.get_values() for values in properties)))


def _print_ranges(op: RowOp, printer: Printer) -> None:
    ranges = (
        f"{start}:{limit}" if stride == 1 else f"{start}:{limit}:{stride}"
        for start, limit, stride in _ranges(op)
    )
    printer.print_string(f"[{', '.join(ranges)}]")


def _parse_ranges(parser: Parser, read: Read) -> None:
    def parse_range() -> tuple[int, int, int]:
        start = parser.parse_integer()
        parser.parse_punctuation(":")
        limit = parser.parse_integer()
        stride = parser.parse_integer() if parser.parse_optional_punctuation(":") else 1
        return start, limit, stride

    ranges = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_range)
    columns = zip(*ranges) if ranges else ((), (), ())
    read.properties |= {name: i64_array(column) for name, column in zip(SLICE_PROPERTIES, columns)}


SLICE_PROPERTIES = ("start_indices", "limit_indices", "strides")
RANGES = Piece(_print_ranges, _parse_ranges, SLICE_PROPERTIES)


def _starts_fit(op: RowOp) -> None:
    rank = len(shape_of(op.operand))
    require(len(op.start_indices) == rank, "expected one start index per dimension")


def _dims_fit(name: str) -> Rule:
    """A list of dimensions, or one, is of the operand's."""

    def rule(op: RowOp) -> None:
        dims = op.properties[name]
        listed = [integer(dims)] if isinstance(dims, IntegerAttr) else integers(dims)
        checks.require_dims(listed, len(shape_of(op.operand)), name)

    return rule


StableHLO.rows(
    """
    reshape operand: T -> result: T
      | same |
      The same elements in row-major order under another static shape.
    dynamic_reshape operand: T, output_shape: sizes[#r] -> result: T[*r]
      Under a shape that is an operand.
    transpose operand: T {permutation: i64s} -> result: T
      | dims = permutation |
      Result dimension `i` is operand dimension `permutation[i]`.
    reverse operand: T[*s] {dimensions: i64s} -> result: T[*s]
      | same, dims = dimensions |
      In opposite order along dimensions.
    broadcast_in_dim operand: T {broadcast_dimensions: i64s} -> result: T
      | dims = broadcast_dimensions |
      Operand dimension `i` becomes `broadcast_dimensions[i]`; ones are expanded.
    dynamic_broadcast_in_dim operand: T, output_dimensions: sizes[#r] {broadcast_dimensions: i64s,
      known_expanding_dimensions?: i64s, known_nonexpanding_dimensions?: i64s} -> result: T[*r]
      | dims = broadcast_dimensions |
      ``broadcast_in_dim`` to a shape that is an operand.
    broadcast operand: T {broadcast_sizes: i64s} -> result: T
      | sizes = broadcast_sizes |
      New dimensions in front (deprecated in favour of ``broadcast_in_dim``).
    slice operand: T {start_indices: i64s, limit_indices: i64s, strides: i64s} -> result: T
      Every so many elements between static bounds.
    dynamic_slice operand: T, start_indices* {slice_sizes: i64s} -> result: T
      | sizes = slice_sizes |
      Static sizes from run-time start indices, one scalar each.
    dynamic_update_slice operand: T[*s], update: T[~s], start_indices* -> result: T[*s]
      The operand with a block replaced at run-time start indices, one scalar each.
    real_dynamic_slice operand: T[*s], start_indices: [#s], limit_indices: [#s], strides: [#s] -> result: T[~s]
      ``slice`` whose bounds are operands.
    pad operand: T, padding_value: [] {edge_padding_low: i64s, edge_padding_high: i64s, interior_padding: i64s} ->
      result: T
      | low = edge_padding_low, high = edge_padding_high, interior = interior_padding |
      Padding at both edges and between elements; negative edges crop.
    dynamic_pad operand: T[*s], padding_value: [],
      edge_padding_low: [#s], edge_padding_high: [#s], interior_padding: [#s] -> result: T[~s]
      ``pad`` whose amounts are operands.
    set_dimension_size operand: T[*s], size: [] {dimension: i64} -> result: T[*s]
      | dim = dimension |
      One dimension bounded by its static size and of the given run-time size.
    """,
    syntax=FUNCTIONAL,
    rules={
        "reshape": _verify_reshape,
        "transpose": _verify_transpose,
        "reverse": _dims_fit("dimensions"),
        "broadcast_in_dim": _verify_broadcast,
        "dynamic_broadcast_in_dim": _verify_broadcast,
        "broadcast": _verify_leading_broadcast,
        "slice": _verify_slice,
        "dynamic_slice": _verify_dynamic_slice,
        "dynamic_update_slice": _starts_fit,
        "pad": _verify_pad,
        "set_dimension_size": _dims_fit("dimension"),
    },
    syntaxes={"slice": Syntax(" {operands} {ranges}{attributes} : {functional}", ranges=RANGES)},
)
StableHLO.rows(
    """
    gather operand: T, start_indices {dimension_numbers: gather_dims, indices_are_sorted?: bool, slice_sizes: i64s} ->
      result: T
      Slices of static sizes at positions given by an index tensor.
    dynamic_gather operand: T, start_indices, slice_sizes {dimension_numbers: gather_dims, indices_are_sorted?: bool} ->
      result: T
      ``gather`` whose sizes are an operand.
    """,
    rules={"gather": _verify_gather, "dynamic_gather": _verify_gather_base},
)
StableHLO.rows(
    """
    concatenate inputs* {dimension: i64} -> result
      | dim = dimension |
      Tensors joined along a dimension.
    torch_index_select operand, index {dim: i64, batch_dims: i64} -> result
      With batch dimensions (deprecated in favour of ``gather``).
    get_dimension_size operand {dimension: i64} -> result: i32[]
      | dim = dimension |
      The size of one dimension.
    """,
    rules={
        "concatenate": _verify_concatenate,
        "get_dimension_size": _dims_fit("dimension"),
    },
)
