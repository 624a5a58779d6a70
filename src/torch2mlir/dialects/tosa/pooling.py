"""Two-dimensional pooling, channels last: [N, H, W, C]; pad is top, bottom, left, right."""

from torch2mlir.dialects.rows import RowOp
from torch2mlir.dialects.tosa.checks import require_length, require_positive, require_windows
from torch2mlir.dialects.tosa.kinds import SYNTAX, TOSA


def _verify_pool(op: RowOp) -> None:
    require_positive(op, "kernel", op.kernel, 2)
    require_positive(op, "stride", op.stride, 2)
    require_length(op, "pad", op.pad, 4)
    kernel, stride, pad = (attr.get_values() for attr in (op.kernel, op.stride, op.pad))
    require_windows(op, kernel, pad, stride)


TOSA.rows(
    """
    AvgPool2DOp=avg_pool2d input: T[n _ _ c], input_zp: [1], output_zp: [1] {kernel: ints,
      stride: ints, pad: ints, acc_type: any} -> output: T[n _ _ c]
      The mean over the window; padding does not count.
    MaxPool2DOp=max_pool2d input: T[n _ _ c] {kernel: ints, stride: ints, pad: ints, nan_mode?: nan_mode} ->
      output: T[n _ _ c]
      The largest value of the window.
    """,
    syntax=SYNTAX,
    rule=_verify_pool,
)
TOSA.rows(
    """
    AvgPool2DAdaptiveOp=avg_pool2d_adaptive input: [n _ _ c], input_zp, output_zp,
      kernel: shape[2], stride: shape[2], pad: shape[4] {acc_type: any} -> output: [n _ _ c]
      avg_pool2d with kernel, stride and pad as `!tosa.shape` values.
    MaxPool2DAdaptiveOp=max_pool2d_adaptive input: [n _ _ c],
      kernel: shape[2], stride: shape[2], pad: shape[4] {nan_mode?: nan_mode} -> output: [n _ _ c]
      max_pool2d with kernel, stride and pad as `!tosa.shape` values.
    """,
    syntax=SYNTAX,
)
