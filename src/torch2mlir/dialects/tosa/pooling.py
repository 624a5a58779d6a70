"""Two-dimensional pooling, channels last: [N, H, W, C]; pad is top, bottom, left, right."""

from xdsl.dialects.builtin import DYNAMIC_INDEX

from torch2mlir.dialects.rows import Row, RowOp
from torch2mlir.dialects.tosa.checks import (
    every,
    ranks,
    require,
    require_length,
    require_positive,
    same_dim,
    same_element_types,
    shape_of,
    shape_ranks,
    single_elements,
)
from torch2mlir.dialects.tosa.kinds import SYNTAX, TOSA


def _verify_pool(op: RowOp) -> None:
    require_positive(op, "kernel", op.kernel, 2)
    require_positive(op, "stride", op.stride, 2)
    require_length(op, "pad", op.pad, 4)
    source, result = shape_of(op.input), shape_of(op.output)
    if source is None or result is None:
        return
    kernel, stride, pad = (attr.get_values() for attr in (op.kernel, op.stride, op.pad))
    for axis in range(2):
        size = source[axis + 1]
        if size == DYNAMIC_INDEX:
            continue
        padded = size + pad[2 * axis] + pad[2 * axis + 1]
        wanted = (padded - kernel[axis]) // stride[axis] + 1
        require(
            same_dim(wanted, result[axis + 1]),
            f"{op.name}: dimension {axis + 1} of the result must be {wanted}, got {op.output.type}",
        )


POOL = every(ranks(input=4, result=4), same_element_types("input", "output"), _verify_pool)
ADAPTIVE = every(
    ranks(input=4, result=4),
    shape_ranks(
        kernel=(2, "height, width"),
        stride=(2, "height, width"),
        pad=(4, "top, bottom, left, right"),
    ),
)
WINDOW = "kernel: ints, stride: ints, pad: ints"
SHAPES = "kernel: shape, stride: shape, pad: shape"

TOSA.add(
    {
        "AvgPool2DOp": Row(
            "avg_pool2d",
            f"input, input_zp, output_zp {{{WINDOW}, acc_type: any}} -> output",
            SYNTAX,
            every(POOL, single_elements("input_zp", "output_zp")),
            "The mean over the window; padding does not count.",
        ),
        "MaxPool2DOp": Row(
            "max_pool2d",
            f"input {{{WINDOW}, nan_mode?: nan_mode}} -> output",
            SYNTAX,
            POOL,
            "The largest value of the window.",
        ),
        "AvgPool2DAdaptiveOp": Row(
            "avg_pool2d_adaptive",
            f"input, input_zp, output_zp, {SHAPES} {{acc_type: any}} -> output",
            SYNTAX,
            ADAPTIVE,
            "avg_pool2d with kernel, stride and pad as `!tosa.shape` values.",
        ),
        "MaxPool2DAdaptiveOp": Row(
            "max_pool2d_adaptive",
            f"input, {SHAPES} {{nan_mode?: nan_mode}} -> output",
            SYNTAX,
            ADAPTIVE,
            "max_pool2d with kernel, stride and pad as `!tosa.shape` values.",
        ),
    }
)
