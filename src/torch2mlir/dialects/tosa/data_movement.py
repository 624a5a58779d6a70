"""Operations that move elements: reshape, slice, pad, transpose, gather, resize and the like.

Sizes are `!tosa.shape` operands, which must come from `tosa.const_shape` (or shape arithmetic on
it), so they are static; only the operand and result tensors may have dynamic dimensions.
"""

from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX, I32, DenseArrayBase, IntegerAttr
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure

from torch2mlir.dialects.tosa.attributes import ResizeModeAttr
from torch2mlir.dialects.tosa.base import (
    SHAPE,
    TENSOR,
    TosaOp,
    axis_of,
    require,
    require_rank,
    require_same_element_type,
    require_same_shape,
    require_shape_rank,
    require_single_element,
    same_dim,
    shape_of,
)


@irdl_op_definition
class ConcatOp(TosaOp):
    """Join tensors along `axis`; all other dimensions are equal."""

    name = "tosa.concat"

    input1 = var_operand_def(TENSOR)
    axis = prop_def(IntegerAttr[I32])
    output = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        require(bool(self.input1), f"{self.name}: needs at least one operand")
        axis = axis_of(self, self.axis, self.output)
        shapes = [shape_of(value) for value in self.input1]
        result = shape_of(self.output)
        if result is None:
            return
        for value, shape in zip(self.input1, shapes, strict=True):
            require_same_element_type(self, operand=value, result=self.output)
            if shape is None:
                continue
            fits = len(shape) == len(result) and all(
                index == axis or same_dim(*dims)
                for index, dims in enumerate(zip(shape, result, strict=True))
            )
            require(
                fits, f"{self.name}: {value.type} does not fit {self.output.type} off axis {axis}"
            )
        parts = [shape[axis] if shape is not None else DYNAMIC_INDEX for shape in shapes]
        require(
            DYNAMIC_INDEX in parts or same_dim(sum(parts), result[axis]),
            f"{self.name}: axis {axis} adds up to {sum(parts)}, result is {self.output.type}",
        )


@irdl_op_definition
class PadOp(TosaOp):
    """Pad with one constant; padding lists (before, after) of each dimension."""

    name = "tosa.pad"

    input1 = operand_def(TENSOR)
    padding = operand_def(SHAPE)
    pad_const = operand_def(TENSOR)
    output = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        require_same_element_type(
            self, input1=self.input1, pad_const=self.pad_const, output=self.output
        )
        require_single_element(self, pad_const=self.pad_const)
        if (source := shape_of(self.input1)) is not None:
            require_rank(self, "result", self.output, len(source))
            require_shape_rank(
                self, "padding", self.padding, 2 * len(source), "before and after each dimension"
            )


@irdl_op_definition
class ReshapeOp(TosaOp):
    """The same elements in another shape; at most one size of `shape` may be -1."""

    name = "tosa.reshape"

    input1 = operand_def(TENSOR)
    shape = operand_def(SHAPE)
    output = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        require_same_element_type(self, input1=self.input1, output=self.output)
        source, result = shape_of(self.input1), shape_of(self.output)
        if result is None:
            return
        require_shape_rank(self, "shape", self.shape, len(result), "the rank of the result")
        if source is None or DYNAMIC_INDEX in (*source, *result):
            return
        require(
            prod(source) == prod(result),
            f"{self.name}: {self.input1.type} and {self.output.type} differ in element count",
        )


@irdl_op_definition
class ReverseOp(TosaOp):
    """Elements in reverse order along `axis`."""

    name = "tosa.reverse"

    input1 = operand_def(TENSOR)
    axis = prop_def(IntegerAttr[I32])
    output = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        axis_of(self, self.axis, self.input1)
        require_same_shape(self, input1=self.input1, output=self.output)
        require_same_element_type(self, input1=self.input1, output=self.output)


@irdl_op_definition
class SliceOp(TosaOp):
    """`size` elements from `start`, in every dimension; size -1 means up to the end."""

    name = "tosa.slice"

    input1 = operand_def(TENSOR)
    start = operand_def(SHAPE)
    size = operand_def(SHAPE)
    output = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        require_same_element_type(self, input1=self.input1, output=self.output)
        if (source := shape_of(self.input1)) is not None:
            require_rank(self, "result", self.output, len(source))
            require_shape_rank(self, "start", self.start, len(source), "the rank of input1")
            require_shape_rank(self, "size", self.size, len(source), "the rank of input1")


@irdl_op_definition
class TileOp(TosaOp):
    """Repeat the tensor `multiples` times in every dimension."""

    name = "tosa.tile"

    input1 = operand_def(TENSOR)
    multiples = operand_def(SHAPE)
    output = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        require_same_element_type(self, input1=self.input1, output=self.output)
        if (source := shape_of(self.input1)) is not None:
            require_rank(self, "result", self.output, len(source))
            require_shape_rank(self, "multiples", self.multiples, len(source), "the rank of input1")


@irdl_op_definition
class TransposeOp(TosaOp):
    """Permute dimensions: result dimension i is input dimension perms[i]."""

    name = "tosa.transpose"

    input1 = operand_def(TENSOR)
    perms = prop_def(DenseArrayBase.constr(I32))
    output = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        require_same_element_type(self, input1=self.input1, output=self.output)
        perms = self.perms.get_values()
        source, result = shape_of(self.input1), shape_of(self.output)
        if source is None:
            return
        require(
            sorted(perms) == list(range(len(source))),
            f"{self.name}: perms {list(perms)} is not a permutation of the dimensions "
            f"of {self.input1.type}",
        )
        if result is None:
            return
        require(
            len(result) == len(source)
            and all(same_dim(source[p], dim) for p, dim in zip(perms, result, strict=True)),
            f"{self.name}: {self.input1.type} permuted by {list(perms)} is not {self.output.type}",
        )


@irdl_op_definition
class GatherOp(TosaOp):
    """values [N, K, C] at indices [N, W] gives [N, W, C]."""

    name = "tosa.gather"

    values = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    output = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        require_rank(self, "values", self.values, 3)
        require_rank(self, "indices", self.indices, 2)
        require_rank(self, "result", self.output, 3)
        require_same_element_type(self, values=self.values, output=self.output)
        values, indices, result = map(shape_of, (self.values, self.indices, self.output))
        if values is None or indices is None or result is None:
            return
        wanted = (values[0], indices[1], values[2])
        require(
            same_dim(values[0], indices[0]) and all(map(same_dim, wanted, result)),
            f"{self.name}: {self.values.type} at {self.indices.type} is not {self.output.type}",
        )


@irdl_op_definition
class RowGatherOp(TosaOp):
    """`row_count` consecutive rows of values [N, K, C] from each of indices [N, W]."""

    name = "tosa.row_gather"

    values = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    row_count = operand_def(TENSOR)
    output = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        require_rank(self, "values", self.values, 3)
        require_rank(self, "indices", self.indices, 2)
        require_single_element(self, row_count=self.row_count)
        require_rank(self, "result", self.output, 3)


@irdl_op_definition
class ScatterOp(TosaOp):
    """values_in [N, K, C] with rows input [N, W, C] written at indices [N, W]."""

    name = "tosa.scatter"

    values_in = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    input = operand_def(TENSOR)
    values_out = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        require_rank(self, "values_in", self.values_in, 3)
        require_rank(self, "indices", self.indices, 2)
        require_rank(self, "input", self.input, 3)
        require_same_shape(self, values_in=self.values_in, values_out=self.values_out)
        require_same_element_type(
            self, values_in=self.values_in, input=self.input, values_out=self.values_out
        )


@irdl_op_definition
class ResizeOp(TosaOp):
    """Resize [N, H, W, C]; scale is (y numerator, y denominator, x numerator, x denominator)."""

    name = "tosa.resize"

    input = operand_def(TENSOR)
    scale = operand_def(SHAPE)
    offset = operand_def(SHAPE)
    border = operand_def(SHAPE)
    mode = prop_def(ResizeModeAttr)
    output = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        require_rank(self, "input", self.input, 4)
        require_rank(self, "result", self.output, 4)
        require_shape_rank(self, "scale", self.scale, 4, "numerator, denominator of y and x")
        require_shape_rank(self, "offset", self.offset, 2, "y, x")
        require_shape_rank(self, "border", self.border, 2, "y, x")
