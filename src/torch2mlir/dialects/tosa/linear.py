"""Convolutions (channels last, one bias per output channel) and batched matrix products.

Zero points are one-element tensors and belong to quantized element types; floats take zeros.
"""

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.rows import Row, RowOp, Rule
from torch2mlir.dialects.tosa.checks import (
    every,
    ranks,
    require,
    require_length,
    require_positive,
    same_dim,
    shape_of,
    single_elements,
)
from torch2mlir.dialects.tosa.kinds import SYNTAX, TOSA

# --- convolutions ----------------------------------------------------------------------------------


def _operands(spatial: int) -> Rule:
    """What all convolutions have."""
    rank = spatial + 2
    return every(
        ranks(input=rank, weight=rank, bias=1, result=rank),
        single_elements("input_zp", "weight_zp"),
        lambda op: require_positive(op, "stride", op.stride, spatial),
    )


def _verify_channels(op: RowOp, in_channels: int, out_channels: int) -> None:
    source, result, bias = map(shape_of, (op.input, op.output, op.bias))
    if source is not None and not same_dim(source[-1], in_channels):
        raise VerifyException(
            f"{op.name}: input {op.input.type} has {source[-1]} channels, "
            f"weight {op.weight.type} takes {in_channels}"
        )
    if result is not None and not same_dim(result[-1], out_channels):
        raise VerifyException(
            f"{op.name}: weight {op.weight.type} gives {out_channels} channels, "
            f"result is {op.output.type}"
        )
    if bias is not None and bias[0] != 1 and not same_dim(bias[0], out_channels):
        raise VerifyException(
            f"{op.name}: bias {op.bias.type} must have 1 or {out_channels} elements"
        )


def _verify_window(op: RowOp, spatial: int, kernel: tuple[int, ...]) -> None:
    require_length(op, "pad", op.pad, 2 * spatial)
    require_positive(op, "dilation", op.dilation, spatial)
    source, result = shape_of(op.input), shape_of(op.output)
    if source is None or result is None:
        return
    pad, stride, dilation = (attr.get_values() for attr in (op.pad, op.stride, op.dilation))
    for axis in range(spatial):
        size, width = source[axis + 1], kernel[axis]
        if DYNAMIC_INDEX in (size, width):
            continue
        padded = size + pad[2 * axis] + pad[2 * axis + 1]
        wanted = (padded - (width - 1) * dilation[axis] - 1) // stride[axis] + 1
        require(
            same_dim(wanted, result[axis + 1]),
            f"{op.name}: dimension {axis + 1} of the result must be {wanted}, got {op.output.type}",
        )


def _convolution(spatial: int) -> Rule:
    """Weight [Cout, K.., Cin]."""

    def rule(op: RowOp) -> None:
        if (weight := shape_of(op.weight)) is not None:
            _verify_channels(op, weight[-1], weight[0])
            _verify_window(op, spatial, weight[1:-1])

    return every(_operands(spatial), rule)


def _verify_depthwise(op: RowOp) -> None:
    if (weight := shape_of(op.weight)) is not None:
        channels, multiplier = weight[2:]
        out_channels = DYNAMIC_INDEX if -1 in weight[2:] else channels * multiplier
        _verify_channels(op, channels, out_channels)
        _verify_window(op, 2, weight[:2])


def _verify_transpose_conv2d(op: RowOp) -> None:
    require_length(op, "out_pad", op.out_pad, 4)
    weight, source, result = map(shape_of, (op.weight, op.input, op.output))
    if weight is None:
        return
    _verify_channels(op, weight[3], weight[0])
    if source is None or result is None:
        return
    pad, stride = op.out_pad.get_values(), op.stride.get_values()
    for axis in range(2):
        size, width = source[axis + 1], weight[axis + 1]
        if DYNAMIC_INDEX in (size, width):
            continue
        wanted = (size - 1) * stride[axis] + pad[2 * axis] + pad[2 * axis + 1] + width
        require(
            same_dim(wanted, result[axis + 1]),
            f"{op.name}: dimension {axis + 1} of the result must be {wanted}, got {op.output.type}",
        )


OPERANDS = "input, weight, bias, input_zp, weight_zp"
PROPERTIES = "stride: ints, acc_type: any, local_bound?: bool"
CONVOLUTION = f"{OPERANDS} {{{PROPERTIES}, pad: ints, dilation: ints}} -> output"

TOSA.add(
    {
        "Conv2DOp": Row(
            "conv2d",
            CONVOLUTION,
            SYNTAX,
            _convolution(2),
            "Input [N, H, W, Cin], weight [Cout, KH, KW, Cin]; pad is top, bottom, left, right.",
        ),
        "Conv3DOp": Row(
            "conv3d",
            CONVOLUTION,
            SYNTAX,
            _convolution(3),
            "Input [N, D, H, W, Cin], weight [Cout, KD, KH, KW, Cin].",
        ),
        "DepthwiseConv2DOp": Row(
            "depthwise_conv2d",
            CONVOLUTION,
            SYNTAX,
            every(_operands(2), _verify_depthwise),
            "Input [N, H, W, C], weight [KH, KW, C, M]; the result has C*M channels.",
        ),
        "TransposeConv2DOp": Row(
            "transpose_conv2d",
            f"{OPERANDS} {{{PROPERTIES}, out_pad: ints}} -> output",
            SYNTAX,
            every(_operands(2), _verify_transpose_conv2d),
            "Input [N, H, W, Cin], weight [Cout, KH, KW, Cin]; out_pad is added to the result.",
        ),
    }
)

# --- matrix products -------------------------------------------------------------------------------


def _verify_matmul(op: RowOp, b_contracted: int) -> None:
    a, b, result = map(shape_of, (op.a, op.b, op.output))
    if a is None or b is None:
        return
    require(
        same_dim(a[2], b[b_contracted]),
        f"{op.name}: contracted dimensions differ in {op.a.type} and {op.b.type}",
    )
    if result is None:
        return
    batch_fits = same_dim(a[0], result[0])
    rows_fit = same_dim(a[1], result[1])
    columns_fit = same_dim(b[3 - b_contracted], result[2])
    require(
        batch_fits and rows_fit and columns_fit,
        f"{op.name}: the product of {op.a.type} and {op.b.type} is not {op.output.type}",
    )


def product(name: str, b_contracted: int, doc: str) -> Row:
    """A batched matrix product."""
    rule = every(
        ranks(a=3, b=3, result=3),
        single_elements("a_zp", "b_zp"),
        lambda op: _verify_matmul(op, b_contracted),
    )
    return Row(name, "a, b, a_zp, b_zp -> output", SYNTAX, rule, doc)


TOSA.add(
    {
        "MatMulOp": product("matmul", 1, "a [N, H, C] times b [N, C, W], in batches of one size."),
        "MatMulTOp": product("matmul_t", 2, "a [N, H, C] times b [N, W, C] transposed."),
    }
)
