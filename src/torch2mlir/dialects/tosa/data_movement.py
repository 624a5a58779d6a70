"""Operations that move elements: reshape, slice, pad, transpose, gather, resize and the like.

Sizes are `!tosa.shape` operands, which must come from `tosa.const_shape` (or shape arithmetic on
it), so they are static; only the operand and result tensors may have dynamic dimensions.
"""

from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX

from torch2mlir.dialects.rows import RowOp
from torch2mlir.dialects.tensor_rules import require, same_dim, same_shape
from torch2mlir.dialects.tosa.checks import axis_of, shape_of
from torch2mlir.dialects.tosa.kinds import SYNTAX, TOSA


def _verify_concat(op: RowOp) -> None:
    require(bool(op.input1), f"{op.name}: needs at least one operand")
    axis = axis_of(op, op.axis, op.output)
    result = shape_of(op.output)
    if result is None:
        return
    parts = list[int]()
    for value in op.input1:
        if (shape := shape_of(value)) is None:
            parts.append(DYNAMIC_INDEX)
            continue
        wanted = (*result[:axis], DYNAMIC_INDEX, *result[axis + 1 :])
        fits = same_shape(shape, wanted)
        require(fits, f"{op.name}: {value.type} does not fit {op.output.type} off axis {axis}")
        parts.append(shape[axis])
    require(
        DYNAMIC_INDEX in parts or same_dim(sum(parts), result[axis]),
        f"{op.name}: axis {axis} adds up to {sum(parts)}, result is {op.output.type}",
    )


def _verify_reshape(op: RowOp) -> None:
    source, result, sizes = shape_of(op.input1), shape_of(op.output), op.shape.type
    if result is None:
        return
    require(
        sizes.rank.data == len(result),
        f"{op.name}: shape must be !tosa.shape<{len(result)}> (the rank of the result), got {sizes}",
    )
    require(
        source is None or DYNAMIC_INDEX in (*source, *result) or prod(source) == prod(result),
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
    require(
        result is None or same_shape([source[p] for p in perms], result),
        f"{op.name}: {op.input1.type} permuted by {list(perms)} is not {op.output.type}",
    )


TOSA.rows(
    """
    concat input1*: T {axis: i32} -> output: T
      Join tensors along `axis`; all other dimensions are equal.
    pad input1: T[*s], padding: shape[2~s], pad_const: T[1] -> output: T[~s]
      Pad with one constant; padding lists (before, after) of each dimension.
    reshape input1: T, shape: shape -> output: T
      The same elements in another shape; at most one size of `shape` may be -1.
    reverse input1: T[*s] {axis: i32} -> output: T[*s]
      Elements in reverse order along `axis`.
    slice input1: T[*s], start: shape[~s], size: shape[~s] -> output: T[~s]
      `size` elements from `start`, in every dimension; size -1 means up to the end.
    tile input1: T[*s], multiples: shape[~s] -> output: T[~s]
      Repeat the tensor `multiples` times in every dimension.
    transpose input1: T {perms: i32s} -> output: T
      Permute dimensions: result dimension i is input dimension perms[i].
    gather values: T[n k c], indices: [n w] -> output: T[n w c]
      values [N, K, C] at indices [N, W] gives [N, W, C].
    row_gather values: [_ _ _], indices: [_ _], row_count: [1] -> output: [_ _ _]
      `row_count` consecutive rows of values [N, K, C] from each of indices [N, W].
    scatter values_in: T[n k c], indices: [_ _], input: T[_ _ _] -> values_out: T[n k c]
      values_in [N, K, C] with rows input [N, W, C] written at indices [N, W].
    resize input: [_ _ _ _], scale: shape[4], offset: shape[2], border: shape[2] {mode: mode} -> output: [_ _ _ _]
      Resize [N, H, W, C]; scale is (y numerator, y denominator, x numerator, x denominator).
    """,
    syntax=SYNTAX,
    rules={
        "concat": _verify_concat,
        "reshape": _verify_reshape,
        "reverse": lambda op: axis_of(op, op.axis, op.input1),
        "transpose": _verify_transpose,
    },
)
