"""Operations that move elements: reshape, slice, pad, transpose, gather, resize and the like.

Sizes are `!tosa.shape` operands, which must come from `tosa.const_shape` (or shape arithmetic on
it), so they are static; only the operand and result tensors may have dynamic dimensions.
"""

from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX

from torch2mlir.dialects.rows import Row, RowOp, Rule
from torch2mlir.dialects.tosa.checks import (
    axis_of,
    every,
    ranks,
    require,
    require_rank,
    require_same_element_type,
    require_shape_rank,
    same_dim,
    same_element_types,
    same_shapes,
    shape_of,
    shape_ranks,
    single_elements,
)
from torch2mlir.dialects.tosa.kinds import SYNTAX, TOSA

SAME_ELEMENTS = same_element_types("input1", "output")


def _sized_by(*names: str, times: int = 1, reason: str = "the rank of input1") -> Rule:
    """The result has the operand's rank, and the named shapes list as many sizes."""

    def rule(op: RowOp) -> None:
        if (source := shape_of(op.input1)) is not None:
            require_rank(op, "result", op.output, len(source))
            for name in names:
                require_shape_rank(op, name, getattr(op, name), times * len(source), reason)

    return rule


def _verify_concat(op: RowOp) -> None:
    require(bool(op.input1), f"{op.name}: needs at least one operand")
    axis = axis_of(op, op.axis, op.output)
    shapes = [shape_of(value) for value in op.input1]
    result = shape_of(op.output)
    if result is None:
        return
    for value, shape in zip(op.input1, shapes, strict=True):
        require_same_element_type(op, operand=value, result=op.output)
        if shape is None:
            continue
        fits = len(shape) == len(result) and all(
            index == axis or same_dim(*dims)
            for index, dims in enumerate(zip(shape, result, strict=True))
        )
        require(fits, f"{op.name}: {value.type} does not fit {op.output.type} off axis {axis}")
    parts = [shape[axis] if shape is not None else DYNAMIC_INDEX for shape in shapes]
    require(
        DYNAMIC_INDEX in parts or same_dim(sum(parts), result[axis]),
        f"{op.name}: axis {axis} adds up to {sum(parts)}, result is {op.output.type}",
    )


def _verify_reshape(op: RowOp) -> None:
    source, result = shape_of(op.input1), shape_of(op.output)
    if result is None:
        return
    require_shape_rank(op, "shape", op.shape, len(result), "the rank of the result")
    if source is None or DYNAMIC_INDEX in (*source, *result):
        return
    require(
        prod(source) == prod(result),
        f"{op.name}: {op.input1.type} and {op.output.type} differ in element count",
    )


def _verify_transpose(op: RowOp) -> None:
    perms = op.perms.get_values()
    source, result = shape_of(op.input1), shape_of(op.output)
    if source is None:
        return
    require(
        sorted(perms) == list(range(len(source))),
        f"{op.name}: perms {list(perms)} is not a permutation of the dimensions "
        f"of {op.input1.type}",
    )
    if result is None:
        return
    require(
        len(result) == len(source)
        and all(same_dim(source[p], dim) for p, dim in zip(perms, result, strict=True)),
        f"{op.name}: {op.input1.type} permuted by {list(perms)} is not {op.output.type}",
    )


def _verify_gather(op: RowOp) -> None:
    values, indices, result = map(shape_of, (op.values, op.indices, op.output))
    if values is None or indices is None or result is None:
        return
    wanted = (values[0], indices[1], values[2])
    require(
        same_dim(values[0], indices[0]) and all(map(same_dim, wanted, result)),
        f"{op.name}: {op.values.type} at {op.indices.type} is not {op.output.type}",
    )


TOSA.add(
    {
        "ConcatOp": Row(
            "concat",
            "input1* {axis: i32} -> output",
            SYNTAX,
            _verify_concat,
            "Join tensors along `axis`; all other dimensions are equal.",
        ),
        "PadOp": Row(
            "pad",
            "input1, padding: shape, pad_const -> output",
            SYNTAX,
            every(
                same_element_types("input1", "pad_const", "output"),
                single_elements("pad_const"),
                _sized_by("padding", times=2, reason="before and after each dimension"),
            ),
            "Pad with one constant; padding lists (before, after) of each dimension.",
        ),
        "ReshapeOp": Row(
            "reshape",
            "input1, shape: shape -> output",
            SYNTAX,
            every(SAME_ELEMENTS, _verify_reshape),
            "The same elements in another shape; at most one size of `shape` may be -1.",
        ),
        "ReverseOp": Row(
            "reverse",
            "input1 {axis: i32} -> output",
            SYNTAX,
            every(
                lambda op: axis_of(op, op.axis, op.input1),
                same_shapes("input1", "output"),
                SAME_ELEMENTS,
            ),
            "Elements in reverse order along `axis`.",
        ),
        "SliceOp": Row(
            "slice",
            "input1, start: shape, size: shape -> output",
            SYNTAX,
            every(SAME_ELEMENTS, _sized_by("start", "size")),
            "`size` elements from `start`, in every dimension; size -1 means up to the end.",
        ),
        "TileOp": Row(
            "tile",
            "input1, multiples: shape -> output",
            SYNTAX,
            every(SAME_ELEMENTS, _sized_by("multiples")),
            "Repeat the tensor `multiples` times in every dimension.",
        ),
        "TransposeOp": Row(
            "transpose",
            "input1 {perms: i32s} -> output",
            SYNTAX,
            every(SAME_ELEMENTS, _verify_transpose),
            "Permute dimensions: result dimension i is input dimension perms[i].",
        ),
        "GatherOp": Row(
            "gather",
            "values, indices -> output",
            SYNTAX,
            every(
                ranks(values=3, indices=2, result=3),
                same_element_types("values", "output"),
                _verify_gather,
            ),
            "values [N, K, C] at indices [N, W] gives [N, W, C].",
        ),
        "RowGatherOp": Row(
            "row_gather",
            "values, indices, row_count -> output",
            SYNTAX,
            every(ranks(values=3, indices=2, result=3), single_elements("row_count")),
            "`row_count` consecutive rows of values [N, K, C] from each of indices [N, W].",
        ),
        "ScatterOp": Row(
            "scatter",
            "values_in, indices, input -> values_out",
            SYNTAX,
            every(
                ranks(values_in=3, indices=2, input=3),
                same_shapes("values_in", "values_out"),
                same_element_types("values_in", "input", "values_out"),
            ),
            "values_in [N, K, C] with rows input [N, W, C] written at indices [N, W].",
        ),
        "ResizeOp": Row(
            "resize",
            "input, scale: shape, offset: shape, border: shape {mode: mode} -> output",
            SYNTAX,
            every(
                ranks(input=4, result=4),
                shape_ranks(
                    scale=(4, "numerator, denominator of y and x"),
                    offset=(2, "y, x"),
                    border=(2, "y, x"),
                ),
            ),
            "Resize [N, H, W, C]; scale is (y numerator, y denominator, x numerator, x denominator).",
        ),
    }
)
