"""StableHLO ops that move elements without computing: reshapes, slices, broadcasts, gather."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BoolAttr,
    IntegerAttr,
    TensorType,
    i32,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure

from torch2mlir.dialects.stablehlo import checks, syntax
from torch2mlir.dialects.stablehlo.attrs import (
    I64_ARRAY,
    GatherDimensionNumbersAttr,
    i64_array,
)
from torch2mlir.dialects.stablehlo.checks import require, shape_of
from torch2mlir.dialects.stablehlo.syntax import (
    SAME,
    Clause,
    HloOp,
    TypeSyntax,
    i64_array_clause,
    i64_clause,
)


class Movement(IRDLOperation):
    """A tensor rearranged: the result has its element type.

    Ops with more operands restate `operand`: xDSL takes a subclass's operands before its base's.
    """

    operand = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        element_type = checks.tensor_type(self.operand).element_type
        if checks.element_kind(element_type) is not None:
            checks.require_element_type(self.result, element_type, "result")
        self.verify_shapes()

    def verify_shapes(self) -> None:
        """Check shapes and dimension attributes."""


class MovementOp(HloOp, Movement):
    """A movement in the common syntax."""


# --- shape changes -------------------------------------------------------------------------------


@irdl_op_definition
class ReshapeOp(MovementOp):
    """The same elements in row-major order under another static shape."""

    name = "stablehlo.reshape"
    TYPES: ClassVar[TypeSyntax] = SAME

    def verify_shapes(self) -> None:
        count, result_count = (
            checks.element_count(shape_of(value)) for value in (self.operand, self.result)
        )
        require(
            count is None or result_count is None or count == result_count,
            f"{count} elements cannot be reshaped to {result_count}",
        )


class OutputShapeOp(MovementOp):
    """A movement whose result shape is an operand."""

    def verify_output_shape(self, output_shape: SSAValue) -> None:
        """The shape operand has one entry per dimension of the result."""
        checks.require_kind(output_shape, checks.INTEGERS)
        checks.require_shape(output_shape, [len(shape_of(self.result))], "output shape")


@irdl_op_definition
class DynamicReshapeOp(OutputShapeOp):
    """``reshape`` whose result shape is an operand."""

    name = "stablehlo.dynamic_reshape"

    operand = operand_def(TensorType)
    output_shape = operand_def(TensorType)

    def verify_shapes(self) -> None:
        self.verify_output_shape(self.output_shape)


@irdl_op_definition
class TransposeOp(MovementOp):
    """Dimensions permuted: result dimension `i` is operand dimension `permutation[i]`."""

    name = "stablehlo.transpose"
    CLAUSES: ClassVar[tuple[Clause, ...]] = (i64_array_clause("dims", "permutation"),)

    permutation = prop_def(I64_ARRAY)

    def verify_shapes(self) -> None:
        shape, dims = shape_of(self.operand), self.permutation.get_values()
        checks.require_length(dims, len(shape), "permutation")
        checks.require_dims(dims, len(shape), "permutation")
        checks.require_shape(self.result, [shape[dim] for dim in dims], "result")


@irdl_op_definition
class ReverseOp(MovementOp):
    """Elements in reverse order along some dimensions."""

    name = "stablehlo.reverse"
    CLAUSES: ClassVar[tuple[Clause, ...]] = (i64_array_clause("dims", "dimensions"),)
    TYPES: ClassVar[TypeSyntax] = SAME

    dimensions = prop_def(I64_ARRAY)

    def verify_shapes(self) -> None:
        shape = shape_of(self.operand)
        checks.require_dims(self.dimensions.get_values(), len(shape), "dimensions")
        checks.require_shape(self.result, shape, "result")


# --- broadcasts ----------------------------------------------------------------------------------


def _verify_broadcast(op: BroadcastInDimOp | DynamicBroadcastInDimOp) -> None:
    shape, result_shape = shape_of(op.operand), shape_of(op.result)
    dims = op.broadcast_dimensions.get_values()
    checks.require_length(dims, len(shape), "broadcast_dimensions")
    checks.require_dims(dims, len(result_shape), "broadcast_dimensions")
    for size, dim in zip(shape, dims):
        require(
            size == 1 or checks.same_dim(size, result_shape[dim]),
            f"size {size} cannot be broadcast to result dimension {dim} of size {result_shape[dim]}",
        )


@irdl_op_definition
class BroadcastInDimOp(MovementOp):
    """Operand dimension `i` becomes result dimension `broadcast_dimensions[i]`; ones are expanded."""

    name = "stablehlo.broadcast_in_dim"
    CLAUSES: ClassVar[tuple[Clause, ...]] = (i64_array_clause("dims", "broadcast_dimensions"),)

    broadcast_dimensions = prop_def(I64_ARRAY)

    def verify_shapes(self) -> None:
        _verify_broadcast(self)


@irdl_op_definition
class DynamicBroadcastInDimOp(OutputShapeOp):
    """``broadcast_in_dim`` whose result shape is an operand."""

    name = "stablehlo.dynamic_broadcast_in_dim"
    CLAUSES: ClassVar[tuple[Clause, ...]] = (i64_array_clause("dims", "broadcast_dimensions"),)

    operand = operand_def(TensorType)
    output_dimensions = operand_def(TensorType)
    broadcast_dimensions = prop_def(I64_ARRAY)
    known_expanding_dimensions = opt_prop_def(I64_ARRAY)
    known_nonexpanding_dimensions = opt_prop_def(I64_ARRAY)

    def verify_shapes(self) -> None:
        self.verify_output_shape(self.output_dimensions)
        _verify_broadcast(self)


@irdl_op_definition
class BroadcastOp(MovementOp):
    """New dimensions in front (deprecated in favour of ``broadcast_in_dim``)."""

    name = "stablehlo.broadcast"
    CLAUSES: ClassVar[tuple[Clause, ...]] = (i64_array_clause("sizes", "broadcast_sizes"),)

    broadcast_sizes = prop_def(I64_ARRAY)

    def verify_shapes(self) -> None:
        expected = [*self.broadcast_sizes.get_values(), *shape_of(self.operand)]
        checks.require_shape(self.result, expected, "result")


# --- slices --------------------------------------------------------------------------------------


@irdl_op_definition
class SliceOp(MovementOp):
    """Static slice; ``stablehlo.slice %0 [0:1, 2:4:2] : ...``."""

    name = "stablehlo.slice"

    start_indices = prop_def(I64_ARRAY)
    limit_indices = prop_def(I64_ARRAY)
    strides = prop_def(I64_ARRAY)

    def ranges(self) -> list[tuple[int, int, int]]:
        """Start, limit and stride per dimension."""
        properties = (self.start_indices, self.limit_indices, self.strides)
        return list(zip(*(values.get_values() for values in properties)))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operand)
        ranges = (
            f"{start}:{limit}" if stride == 1 else f"{start}:{limit}:{stride}"
            for start, limit, stride in self.ranges()
        )
        printer.print_string(f" [{', '.join(ranges)}]")
        printed = ["start_indices", "limit_indices", "strides"]
        syntax.print_attr_dict(self, printer, printed=printed)
        printer.print_string(f" : {syntax.function_type_text(self)}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operand = parser.parse_unresolved_operand()

        def parse_range() -> tuple[int, int, int]:
            start = parser.parse_integer()
            parser.parse_punctuation(":")
            limit = parser.parse_integer()
            stride = parser.parse_integer() if parser.parse_optional_punctuation(":") else 1
            return start, limit, stride

        ranges = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_range)
        starts, limits, strides = (list(column) for column in zip(*ranges)) if ranges else ([],) * 3
        properties: dict[str, Attribute] = {
            "start_indices": i64_array(starts),
            "limit_indices": i64_array(limits),
            "strides": i64_array(strides),
        }
        attributes = syntax.parse_attr_dict(cls, parser, properties)
        signature = syntax.parse_function_signature(parser)
        return syntax.build(cls, parser, [operand], signature, properties, attributes)

    def verify_shapes(self) -> None:
        shape = shape_of(self.operand)
        for values in (self.start_indices, self.limit_indices, self.strides):
            checks.require_length(values.get_values(), len(shape), "slice")
        expected = []
        for size, (start, limit, stride) in zip(shape, self.ranges()):
            in_bounds = 0 <= start <= limit and (size == DYNAMIC_INDEX or limit <= size)
            require(
                in_bounds and stride > 0,
                f"slice {start}:{limit}:{stride} does not fit a dimension of size {size}",
            )
            expected.append(-(-(limit - start) // stride))
        checks.require_shape(self.result, expected, "result")


@irdl_op_definition
class DynamicSliceOp(MovementOp):
    """Slice of static sizes from run-time start indices, one scalar each."""

    name = "stablehlo.dynamic_slice"
    CLAUSES: ClassVar[tuple[Clause, ...]] = (i64_array_clause("sizes", "slice_sizes"),)

    operand = operand_def(TensorType)
    start_indices = var_operand_def(TensorType)
    slice_sizes = prop_def(I64_ARRAY)

    def verify_shapes(self) -> None:
        shape, sizes = shape_of(self.operand), self.slice_sizes.get_values()
        require(len(self.start_indices) == len(shape), "expected one start index per dimension")
        checks.require_length(sizes, len(shape), "slice_sizes")
        for size, slice_size in zip(shape, sizes):
            fits = slice_size >= 0 and (size == DYNAMIC_INDEX or slice_size <= size)
            require(fits, f"slice size {slice_size} does not fit a dimension of size {size}")
        checks.require_shape(self.result, sizes, "result")


@irdl_op_definition
class DynamicUpdateSliceOp(MovementOp):
    """The operand with a block replaced at run-time start indices, one scalar each."""

    name = "stablehlo.dynamic_update_slice"

    operand = operand_def(TensorType)
    update = operand_def(TensorType)
    operand = operand_def(TensorType)
    start_indices = var_operand_def(TensorType)

    def verify_shapes(self) -> None:
        shape = shape_of(self.operand)
        require(len(self.start_indices) == len(shape), "expected one start index per dimension")
        checks.require_length(shape_of(self.update), len(shape), "update")
        checks.require_shape(self.result, shape, "result")


@irdl_op_definition
class RealDynamicSliceOp(MovementOp):
    """Slice whose starts, limits and strides are operands."""

    name = "stablehlo.real_dynamic_slice"

    operand = operand_def(TensorType)
    start_indices = operand_def(TensorType)
    limit_indices = operand_def(TensorType)
    strides = operand_def(TensorType)

    def verify_shapes(self) -> None:
        rank = len(shape_of(self.operand))
        for indices in (self.start_indices, self.limit_indices, self.strides):
            checks.require_shape(indices, [rank], "index operand")
        checks.require_length(shape_of(self.result), rank, "result")


# --- pad and concatenate -------------------------------------------------------------------------


@irdl_op_definition
class PadOp(MovementOp):
    """Padding at both edges and between elements; negative edges crop."""

    name = "stablehlo.pad"
    CLAUSES: ClassVar[tuple[Clause, ...]] = (
        i64_array_clause("low", "edge_padding_low"),
        i64_array_clause("high", "edge_padding_high"),
        i64_array_clause("interior", "interior_padding"),
    )

    operand = operand_def(TensorType)
    padding_value = operand_def(TensorType)
    edge_padding_low = prop_def(I64_ARRAY)
    edge_padding_high = prop_def(I64_ARRAY)
    interior_padding = prop_def(I64_ARRAY)

    def verify_shapes(self) -> None:
        shape = shape_of(self.operand)
        properties = (self.edge_padding_low, self.edge_padding_high, self.interior_padding)
        paddings = [values.get_values() for values in properties]
        for values in paddings:
            checks.require_length(values, len(shape), "padding")
        expected = [
            size if size == DYNAMIC_INDEX else size + low + high + max(size - 1, 0) * interior
            for size, low, high, interior in zip(shape, *paddings)
        ]
        checks.require_shape(self.padding_value, [], "padding_value")
        checks.require_shape(self.result, expected, "result")


@irdl_op_definition
class DynamicPadOp(MovementOp):
    """``pad`` whose paddings are operands."""

    name = "stablehlo.dynamic_pad"

    operand = operand_def(TensorType)
    padding_value = operand_def(TensorType)
    edge_padding_low = operand_def(TensorType)
    edge_padding_high = operand_def(TensorType)
    interior_padding = operand_def(TensorType)

    def verify_shapes(self) -> None:
        rank = len(shape_of(self.operand))
        for padding in (self.edge_padding_low, self.edge_padding_high, self.interior_padding):
            checks.require_shape(padding, [rank], "padding")
        checks.require_shape(self.padding_value, [], "padding_value")
        checks.require_length(shape_of(self.result), rank, "result")


@irdl_op_definition
class ConcatenateOp(HloOp):
    """Tensors one after the other along a dimension."""

    name = "stablehlo.concatenate"
    CLAUSES: ClassVar[tuple[Clause, ...]] = (i64_clause("dim", "dimension"),)

    inputs = var_operand_def(TensorType)
    dimension = prop_def(IntegerAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        require(len(self.inputs) > 0, "expected at least one input")
        shape, dimension = list(shape_of(self.result)), self.dimension.value.data
        checks.require_dims([dimension], len(shape), "dimension")
        total = 0
        for value in self.inputs:
            size = shape_of(value)[dimension] if dimension < len(shape_of(value)) else 0
            checks.require_shape(
                value, [*shape[:dimension], size, *shape[dimension + 1 :]], "input"
            )
            total = DYNAMIC_INDEX if DYNAMIC_INDEX in (size, total) else total + size
        shape[dimension] = total
        checks.require_shape(self.result, shape, "result")


# --- gather --------------------------------------------------------------------------------------


class GatherBase(Movement):
    """Slices of the operand at positions given by an index tensor; generic syntax."""

    operand = operand_def(TensorType)
    start_indices = operand_def(TensorType)
    dimension_numbers = prop_def(GatherDimensionNumbersAttr)
    indices_are_sorted = opt_prop_def(BoolAttr)

    def verify_shapes(self) -> None:
        numbers = self.dimension_numbers
        rank, indices_rank = len(shape_of(self.operand)), len(shape_of(self.start_indices))
        offset, collapsed, batching, start_index_map = (
            values.get_values()
            for values in (
                numbers.offset_dims,
                numbers.collapsed_slice_dims,
                numbers.operand_batching_dims,
                numbers.start_index_map,
            )
        )
        checks.require_dims([*collapsed, *batching], rank, "collapsed and batching dims")
        checks.require_dims(start_index_map, rank, "start_index_map")
        require(
            len(offset) + len(collapsed) + len(batching) == rank,
            f"offset, collapsed and batching dims must add up to the operand's rank {rank}",
        )
        index_vector_dim = numbers.index_vector_dim.value.data
        require(
            0 <= index_vector_dim <= indices_rank,
            f"index_vector_dim {index_vector_dim} must be in [0, {indices_rank}]",
        )
        result_rank = len(offset) + indices_rank - (index_vector_dim < indices_rank)
        checks.require_length(shape_of(self.result), result_rank, "result shape")
        checks.require_dims(offset, result_rank, "offset_dims")


@irdl_op_definition
class GatherOp(GatherBase):
    """Gather of slices of static sizes."""

    name = "stablehlo.gather"

    slice_sizes = prop_def(I64_ARRAY)

    def verify_shapes(self) -> None:
        super().verify_shapes()
        shape, sizes = shape_of(self.operand), self.slice_sizes.get_values()
        checks.require_length(sizes, len(shape), "slice_sizes")
        numbers = self.dimension_numbers
        dropped = {
            *numbers.collapsed_slice_dims.get_values(),
            *numbers.operand_batching_dims.get_values(),
        }
        kept = [size for dim, size in enumerate(sizes) if dim not in dropped]
        result_shape = shape_of(self.result)
        for dim, size in zip(numbers.offset_dims.get_values(), kept):
            require(
                checks.same_dim(result_shape[dim], size),
                f"result dimension {dim} is {result_shape[dim]}, slice size {size}",
            )


@irdl_op_definition
class DynamicGatherOp(GatherBase):
    """Gather of slices whose sizes are an operand."""

    name = "stablehlo.dynamic_gather"

    operand = operand_def(TensorType)
    start_indices = operand_def(TensorType)
    slice_sizes = operand_def(TensorType)


@irdl_op_definition
class TorchIndexSelectOp(IRDLOperation):
    """``torch.index_select``, with batch dimensions (deprecated in favour of ``gather``)."""

    name = "stablehlo.torch_index_select"

    operand = operand_def(TensorType)
    index = operand_def(TensorType)
    dim = prop_def(IntegerAttr)
    batch_dims = prop_def(IntegerAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())


# --- sizes ---------------------------------------------------------------------------------------


@irdl_op_definition
class GetDimensionSizeOp(HloOp):
    """Size of one dimension, as a scalar ``i32``."""

    name = "stablehlo.get_dimension_size"
    CLAUSES: ClassVar[tuple[Clause, ...]] = (i64_clause("dim", "dimension"),)

    operand = operand_def(TensorType)
    dimension = prop_def(IntegerAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        checks.require_dims([self.dimension.value.data], len(shape_of(self.operand)), "dimension")
        checks.require_shape(self.result, [], "result")
        checks.require_element_type(self.result, i32, "result")


@irdl_op_definition
class SetDimensionSizeOp(MovementOp):
    """The operand with one dimension bounded by its static size and of the given run-time size."""

    name = "stablehlo.set_dimension_size"
    CLAUSES: ClassVar[tuple[Clause, ...]] = (i64_clause("dim", "dimension"),)

    operand = operand_def(TensorType)
    size = operand_def(TensorType)
    dimension = prop_def(IntegerAttr)

    def verify_shapes(self) -> None:
        shape = shape_of(self.operand)
        checks.require_dims([self.dimension.value.data], len(shape), "dimension")
        checks.require_shape(self.size, [], "size")
        checks.require_shape(self.result, shape, "result")


OPERATIONS = (
    BroadcastInDimOp,
    BroadcastOp,
    ConcatenateOp,
    DynamicBroadcastInDimOp,
    DynamicGatherOp,
    DynamicPadOp,
    DynamicReshapeOp,
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    GatherOp,
    GetDimensionSizeOp,
    PadOp,
    RealDynamicSliceOp,
    ReshapeOp,
    ReverseOp,
    SetDimensionSizeOp,
    SliceOp,
    TorchIndexSelectOp,
    TransposeOp,
)
