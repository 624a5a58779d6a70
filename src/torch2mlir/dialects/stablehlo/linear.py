"""StableHLO contractions and convolutions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.parser import Parser

from torch2mlir.dialects.assembly import Clause, Read, Syntax, of_property
from torch2mlir.dialects.rows import RowOp
from torch2mlir.dialects.stablehlo import checks
from torch2mlir.dialects.stablehlo.attrs import (
    DotDimensionNumbersAttr,
    padding_pairs,
    parse_i64_list,
)
from torch2mlir.dialects.stablehlo.checks import shape_of
from torch2mlir.dialects.stablehlo.kinds import StableHLO, syntax
from torch2mlir.dialects.tensor_rules import dilated, require, same_dim, same_shape, windowed_dim


def _dims_clause(what: str) -> Clause:
    """``contracting_dims = [1] x [0]``, a part of the dimension numbers."""
    lhs_name, rhs_name = f"lhs_{what}_dimensions", f"rhs_{what}_dimensions"

    def text(op: RowOp) -> str | None:
        fields = op.dot_dimension_numbers.fields()
        lhs, rhs = list(fields[lhs_name]), list(fields[rhs_name])
        return f"{lhs} x {rhs}" if lhs or rhs or what == "contracting" else None

    def parse(parser: Parser, read: Read) -> None:
        lhs = parse_i64_list(parser)
        parser.parse_keyword("x")
        known = read.properties.get("dot_dimension_numbers")
        fields = known.fields() if isinstance(known, DotDimensionNumbersAttr) else {}
        fields |= {lhs_name: lhs, rhs_name: parse_i64_list(parser)}
        read.properties["dot_dimension_numbers"] = DotDimensionNumbersAttr(**fields)

    return Clause(("dot_dimension_numbers",), text, parse)


def _verify_dot_general(op: RowOp) -> None:
    numbers = op.dot_dimension_numbers
    sides = (
        (op.lhs, numbers.lhs_batching_dimensions, numbers.lhs_contracting_dimensions),
        (op.rhs, numbers.rhs_batching_dimensions, numbers.rhs_contracting_dimensions),
    )
    batches, contracted, free = [], [], []
    for value, batching, contracting in sides:
        shape, batch_dims, sum_dims = (
            shape_of(value),
            batching.get_values(),
            contracting.get_values(),
        )
        used = (*batch_dims, *sum_dims)
        checks.require_dims(used, len(shape), "batching and contracting dimensions")
        batches.append([shape[dim] for dim in batch_dims])
        contracted.append([shape[dim] for dim in sum_dims])
        free += [size for dim, size in enumerate(shape) if dim not in used]
    for what, (lhs, rhs) in (("batching", batches), ("contracting", contracted)):
        require(
            same_shape(lhs, rhs),
            f"{what} dimensions of lhs and rhs differ: "
            f"{checks.shape_text(lhs)} and {checks.shape_text(rhs)}",
        )
    batch = [max(pair) for pair in zip(*batches)]
    checks.require_shape(op.result, [*batch, *free], "result")


def _verify_dot(op: RowOp) -> None:
    lhs, rhs = shape_of(op.lhs), shape_of(op.rhs)
    require(
        len(lhs) in (1, 2) and len(rhs) in (1, 2) and same_dim(lhs[-1], rhs[0]),
        f"shapes {checks.shape_text(lhs)} and {checks.shape_text(rhs)} do not multiply",
    )
    checks.require_shape(op.result, [*lhs[:-1], *rhs[1:]], "result")


def _verify_windows(op: RowOp, padding: Sequence[tuple[int, int]] | None) -> None:
    """Check ranks, group counts and the result's shape; spatial sizes only if padding is known."""
    lhs_shape, rhs_shape, result_shape = (shape_of(value) for value in (op.lhs, op.rhs, op.result))
    rank = len(lhs_shape)
    for shape, what in ((rhs_shape, "rhs"), (result_shape, "result")):
        checks.require_length(shape, rank, f"{what} shape")
    lhs, kernel, output = op.dimension_numbers.sides()
    for first, second, spatial in (lhs, kernel, output):
        checks.require_length((first, second, *spatial), rank, "dimension_numbers")
        checks.require_dims((first, second, *spatial), rank, "dimension_numbers")
    windows = [
        values.get_values() if values is not None else (1,) * (rank - 2)
        for values in (op.window_strides, op.lhs_dilation, op.rhs_dilation)
    ]
    for values in windows:
        checks.require_length(values, rank - 2, "window attribute")
    groups, batch_groups = op.feature_group_count.value.data, op.batch_group_count.value.data
    require(groups > 0 and batch_groups > 0, "group counts must be positive")
    features, kernel_features = lhs_shape[lhs[1]], rhs_shape[kernel[1]]
    known = DYNAMIC_INDEX not in (features, kernel_features)
    require(
        not known or features == kernel_features * groups,
        f"{features} input features do not match a kernel of {kernel_features} in {groups} groups",
    )
    expected = [DYNAMIC_INDEX] * rank
    batch = lhs_shape[lhs[0]]
    expected[output[0]] = batch if batch == DYNAMIC_INDEX else batch // batch_groups
    expected[output[1]] = rhs_shape[kernel[0]]
    if padding is not None:
        checks.require_length([low for low, _ in padding], rank - 2, "padding")
        for index, (low, high) in enumerate(padding):
            stride, lhs_dilation, rhs_dilation = (values[index] for values in windows)
            size = dilated(lhs_shape[lhs[2][index]], lhs_dilation)
            window = dilated(rhs_shape[kernel[2][index]], rhs_dilation)
            expected[output[2][index]] = windowed_dim(size, window, stride, low, high)
    checks.require_shape(op.result, expected, "result")


def _verify_convolution(op: RowOp) -> None:
    if op.padding is None:
        padding = [(0, 0)] * (len(shape_of(op.lhs)) - 2)
    else:
        padding = padding_pairs(op.padding)
    _verify_windows(op, padding)


def _verify_dynamic_conv(op: RowOp) -> None:
    checks.require_shape(op.padding, [len(shape_of(op.lhs)) - 2, 2], "padding")
    _verify_windows(op, None)


WINDOW = {
    "stride": of_property("window_strides"),
    "pad": of_property("padding"),
    "lhs_dilate": of_property("lhs_dilation"),
    "rhs_dilate": of_property("rhs_dilation"),
    "reverse": of_property("window_reversal"),
}
CONVOLUTION = (
    "window_strides?: i64s, lhs_dilation?: i64s, rhs_dilation?: i64s, window_reversal?: bools,"
    " dimension_numbers: conv_dims, feature_group_count: i64, batch_group_count: i64,"
    " precision_config?: precisions"
)
StableHLO.rows(
    f"""
    dot_general lhs, rhs {{dot_dimension_numbers: dot_dims, precision_config?: precisions, algorithm?: algorithm}} ->
      result
      Contraction of any dimensions, batched over any others: the result's dimensions are the batching ones, then
      what is left of `lhs`, then of `rhs`.
    dot lhs, rhs {{precision_config?: precisions}} -> result
      | precision = precision_config |
      Product of matrices and vectors (deprecated in favour of ``dot_general``).
    einsum lhs, rhs {{einsum_config: string}} -> result
      | config = einsum_config |
      Einstein sum of two tensors (deprecated).
    unary_einsum operand {{einsum_config: string}} -> result
      | config = einsum_config |
      Einstein sum of one tensor (deprecated).
    convolution lhs, rhs {{padding?: pairs, {CONVOLUTION}}} -> result
      Convolution (cross-correlation, unless `window_reversal` says otherwise) in any layout.
    dynamic_conv lhs, rhs, padding {{{CONVOLUTION}}} -> result
      ``convolution`` whose padding is an operand.
    """,
    rules={
        "dot_general": _verify_dot_general,
        "dot": _verify_dot,
        "convolution": _verify_convolution,
        "dynamic_conv": _verify_dynamic_conv,
    },
    syntaxes={
        "dot_general": syntax(
            more={
                "batching_dims": _dims_clause("batching"),
                "contracting_dims": _dims_clause("contracting"),
            },
            precision="precision_config",
            algorithm="algorithm",
        ),
        "convolution": Syntax(
            "({operands}) dim_numbers = {dimension_numbers}, window = {{{clauses}}}"
            "{attributes} : {functional}",
            WINDOW,
        ),
    },
)
