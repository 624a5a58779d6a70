"""Convolutions (channels last, one bias per output channel) and batched matrix products.

Zero points are one-element tensors and belong to quantized element types; floats take zeros.
"""

from xdsl.dialects.builtin import DYNAMIC_INDEX

from torch2mlir.dialects.rows import RowOp, Rule
from torch2mlir.dialects.tensor_rules import dilated, require, same_dim
from torch2mlir.dialects.tosa.checks import (
    require_extent,
    require_length,
    require_positive,
    require_windows,
    shape_of,
)
from torch2mlir.dialects.tosa.kinds import SYNTAX, TOSA


def _verify_bias(op: RowOp, out_channels: int) -> None:
    bias = shape_of(op.bias)
    require(
        bias is None or bias[0] == 1 or same_dim(bias[0], out_channels),
        f"{op.name}: bias {op.bias.type} must have 1 or {out_channels} elements",
    )


def _verify_window(op: RowOp, spatial: int, kernel: tuple[int, ...]) -> None:
    for name in ("stride", "dilation"):
        require_positive(op, name, getattr(op, name), spatial)
    require_length(op, "pad", op.pad, 2 * spatial)
    pad, stride, dilation = (attr.get_values() for attr in (op.pad, op.stride, op.dilation))
    spans = [dilated(width, step) for width, step in zip(kernel, dilation)]
    require_windows(op, spans, pad, stride)


def _convolution(spatial: int) -> Rule:
    """Weight [Cout, K.., Cin]."""

    def rule(op: RowOp) -> None:
        weight = shape_of(op.weight) or (DYNAMIC_INDEX,) * (spatial + 2)
        _verify_bias(op, weight[0])
        _verify_window(op, spatial, weight[1:-1])

    return rule


def _verify_depthwise(op: RowOp) -> None:
    weight, result = shape_of(op.weight) or (DYNAMIC_INDEX,) * 4, shape_of(op.output)
    channels, multiplier = weight[2:]
    out_channels = DYNAMIC_INDEX if DYNAMIC_INDEX in weight[2:] else channels * multiplier
    require(
        result is None or same_dim(result[-1], out_channels),
        f"{op.name}: weight {op.weight.type} gives {out_channels} channels, "
        f"result is {op.output.type}",
    )
    _verify_bias(op, out_channels)
    _verify_window(op, 2, weight[:2])


def _verify_transpose_conv2d(op: RowOp) -> None:
    require_positive(op, "stride", op.stride, 2)
    require_length(op, "out_pad", op.out_pad, 4)
    weight = shape_of(op.weight) or (DYNAMIC_INDEX,) * 4
    _verify_bias(op, weight[0])
    pad, stride = op.out_pad.get_values(), op.stride.get_values()
    for axis, size in enumerate((shape_of(op.input) or ())[1:-1], 1):
        if DYNAMIC_INDEX not in (size, weight[axis]):
            around = pad[2 * axis - 2] + pad[2 * axis - 1]
            require_extent(op, axis, (size - 1) * stride[axis - 1] + weight[axis] + around)


WINDOW = "stride: ints, acc_type: any, local_bound?: bool"
SLIDES = f"{{{WINDOW}, pad: ints, dilation: ints}}"
TOSA.rows(
    f"""
    Conv2DOp=conv2d input: [n h w c], weight: [o y x c], bias: [_],
      input_zp: [1], weight_zp: [1] {SLIDES} -> output: [n i j o]
      Input [N, H, W, Cin], weight [Cout, KH, KW, Cin]; pad is top, bottom, left, right.
    Conv3DOp=conv3d input: [n d h w c], weight: [o z y x c], bias: [_],
      input_zp: [1], weight_zp: [1] {SLIDES} -> output: [n k i j o]
      Input [N, D, H, W, Cin], weight [Cout, KD, KH, KW, Cin].
    DepthwiseConv2DOp=depthwise_conv2d input: [n h w c], weight: [y x c m], bias: [_],
      input_zp: [1], weight_zp: [1] {SLIDES} -> output: [n i j _]
      Input [N, H, W, C], weight [KH, KW, C, M]; the result has C*M channels.
    TransposeConv2DOp=transpose_conv2d input: [n h w c], weight: [o y x c], bias: [_],
      input_zp: [1], weight_zp: [1] {{{WINDOW}, out_pad: ints}} -> output: [n i j o]
      Input [N, H, W, Cin], weight [Cout, KH, KW, Cin]; out_pad is added to the result.
    MatMulOp=matmul a: [n h c], b: [n c w], a_zp: [1], b_zp: [1] -> output: [n h w]
      a [N, H, C] times b [N, C, W], in batches of one size.
    MatMulTOp=matmul_t a: [n h c], b: [n w c], a_zp: [1], b_zp: [1] -> output: [n h w]
      a [N, H, C] times b [N, W, C] transposed.
    """,
    syntax=SYNTAX,
    rules={
        "conv2d": _convolution(2),
        "conv3d": _convolution(3),
        "depthwise_conv2d": _verify_depthwise,
        "transpose_conv2d": _verify_transpose_conv2d,
    },
)
