"""Convolutions in TOSA, channels last; one spatial dimension counts as two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute, Operation

from torch2mlir.contract import element_types
from torch2mlir.conversion.convolution import apart
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering, lowers
from torch2mlir.conversion.torch_to_tosa.windows import Window, fitted, pads
from torch2mlir.dialects import tosa
from torch2mlir.dialects.tensors import i64_array
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize, is_static


@dataclass(frozen=True)
class Convolution:
    """A convolution with two or three spatial dimensions.

    Attributes:
        x: channels last.
        weight: as PyTorch has it: [out, in / groups, ..], of a transposed one [in, out / groups, ..].
        bias: one element per output channel.
        windows: one for each spatial dimension.
        counts: spatial sizes of the result.
    """

    x: Tensor
    weight: Tensor
    bias: Tensor
    windows: list[Window]
    counts: list[KnownSize]


@lowers("aten.convolution")
def convolution(
    lower: TosaLowering,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    _output_padding: Sequence[int],
    groups: int,
) -> Tensor:
    """Convolutions over 1 to 3 dimensions: plain, dilated, grouped, transposed. Half precision accumulates in f32."""
    spatial = x.rank - 2
    if spatial > 3:
        lower.fail(f"TOSA has no convolution over {spatial} dimensions")
    rows = zip(stride, dilation, padding, strict=True)
    windows = [
        Window(lower.static(size, "the size of a kernel"), step, spread, pad, pad)
        for size, (step, spread, pad) in zip(weight.sizes[2:], rows, strict=True)
    ]
    if bias is None:
        bias = lower.splat(0, (lower.out.sizes[1],), x.dtype)
    conv = Convolution(lower.channels_last(x), weight, bias, windows, list(lower.out.sizes[2:]))
    if spatial == 1:
        conv = _with_height(lower, conv)
    if element_types.is_integer(x.dtype):
        convolve = _transposed_integers if transposed else _integers
    else:
        convolve = _transposed if transposed else _plain
    result = _in_groups(lower, conv, groups, convolve)
    sizes = (lower.out.sizes[0], *lower.out.sizes[2:], lower.out.sizes[1])
    return lower.channels_first(lower.reshape(result, sizes))


def _with_height(lower: TosaLowering, conv: Convolution) -> Convolution:
    """One spatial dimension as the width of an image of height 1."""
    count, length, channels = conv.x.sizes
    out, inner, size = conv.weight.sizes
    return Convolution(
        lower.reshape(conv.x, (count, 1, length, channels)),
        lower.reshape(conv.weight, (out, inner, 1, size)),
        conv.bias,
        [Window(1, 1, 1, 0, 0), *conv.windows],
        [1, *conv.counts],
    )


def _in_groups(
    lower: TosaLowering,
    conv: Convolution,
    groups: int,
    convolve: Callable[[TosaLowering, Convolution], Tensor],
) -> Tensor:
    """One convolution per group of channels, joined; one depthwise convolution if a group is one channel."""
    if groups == 1:
        return convolve(lower, conv)
    if convolve is _plain and conv.x.sizes[-1] == groups and len(conv.windows) == 2:
        return _depthwise(lower, conv)
    parts = zip(
        _split(lower, conv.x, conv.x.rank - 1, groups),
        _split(lower, conv.weight, 0, groups),
        _split(lower, conv.bias, 0, groups),
        strict=True,
    )
    results = [convolve(lower, Convolution(*part, conv.windows, conv.counts)) for part in parts]
    return lower.concatenate(results, conv.x.rank - 1)


def _split(lower: TosaLowering, x: Tensor, axis: int, groups: int) -> list[Tensor]:
    """Equal parts of a static dimension."""
    size = lower.static(x.sizes[axis], "the number of channels") // groups
    return [lower.section(x, axis, g * size, size) for g in range(groups)]


def _zero_points(lower: TosaLowering, conv: Convolution) -> list[Tensor]:
    """Of input and weight; floats have none."""
    return [lower.splat(0, (1,), conv.x.dtype)] * 2


def _accumulator(dtype: Attribute) -> Attribute:
    return f32 if element_types.is_float(dtype) else dtype


def convolve_as(lower: TosaLowering, op_class: type[Operation], conv: Convolution) -> Tensor:
    """A TOSA convolution of operands in its own layout."""
    x, windows = fitted(lower, conv.x, conv.windows, conv.counts)
    properties: dict[str, Attribute] = {
        "pad": pads(windows),
        "stride": i64_array([window.stride for window in windows]),
        "dilation": i64_array([window.dilation for window in windows]),
        "acc_type": _accumulator(x.dtype),
    }
    operands = [x, conv.weight, conv.bias, *_zero_points(lower, conv)]
    sizes = (x.sizes[0], *conv.counts, conv.bias.sizes[0])
    return lower.op(op_class, operands, sizes, x.dtype, properties)


def _plain(lower: TosaLowering, conv: Convolution) -> Tensor:
    return convolve_as(
        lower, _conv_op(conv), replace(conv, weight=lower.channels_last(conv.weight))
    )


def _integers(lower: TosaLowering, conv: Convolution) -> Tensor:
    """A product of matrices for each element of the window: TOSA convolves no integers of 32 and 64 bits.

    Products and sums are elementwise, as ``tosa.matmul`` takes 8 and 16 bits only.
    """
    low, high = ([getattr(w, side) for w in conv.windows] for side in ("low", "high"))
    padded = lower.pad(conv.x, [0, *low, 0], [0, *high, 0], 0)
    batch, channels, features = conv.x.sizes[0], conv.x.sizes[-1], conv.weight.sizes[0]
    weight = lower.transpose(conv.weight, (*range(2, conv.weight.rank), 0, 1))
    total = conv.bias
    for offsets in product(*(range(window.size) for window in conv.windows)):
        starts = [0, *(o * w.dilation for o, w in zip(offsets, conv.windows, strict=True)), 0]
        steps = [1, *(window.stride for window in conv.windows), 1]
        taken = lower.slice(padded, starts, (batch, *conv.counts, channels), steps)
        taken = lower.reshape(taken, (batch, *conv.counts, 1, channels))
        ones = [1] * len(offsets)
        factors = lower.slice(
            weight, [*offsets, 0, 0], (*ones, features, channels), [1] * weight.rank
        )
        products = lower.elementwise(tosa.MulOp, taken, lower.reshape(factors, (1, *factors.sizes)))
        last, sizes = products.rank - 1, products.sizes[:-1]
        sums = lower.reduce("add", products, [last], products.dtype, sizes)
        total = lower.elementwise(tosa.AddOp, sums, total)
    return total


def _transposed_integers(lower: TosaLowering, conv: Convolution) -> Tensor:
    weight = lower.transpose(conv.weight, (1, *range(2, len(conv.windows) + 2), 0))
    return _transposed_as_plain(lower, conv, weight)


def _conv_op(conv: Convolution) -> type[Operation]:
    return tosa.Conv2DOp if len(conv.windows) == 2 else tosa.Conv3DOp


def _depthwise(lower: TosaLowering, conv: Convolution) -> Tensor:
    """The weight [C * M, 1, H, W] as [H, W, C, M]."""
    channels = lower.static(conv.x.sizes[-1], "the number of channels")
    out, _, height, width = conv.weight.sizes
    split = (channels, dims.floordiv(out, channels), height, width)
    weight = lower.transpose(lower.reshape(conv.weight, split), (2, 3, 0, 1))
    return convolve_as(lower, tosa.DepthwiseConv2DOp, replace(conv, weight=weight))


def _transposed(lower: TosaLowering, conv: Convolution) -> Tensor:
    """``tosa.transpose_conv2d`` with the kernel spread by its dilation.

    TOSA has none over three dimensions, and IREE 3.13 compiles none of sizes known at run time: there it is a plain
    convolution of the input, spread by the stride, with the kernel reversed.
    """
    spatial = len(conv.windows)
    weight = lower.transpose(conv.weight, (1, *range(2, spatial + 2), 0))
    if spatial == 3 or not is_static(conv.x.sizes[1:]):
        return _transposed_as_plain(lower, conv, weight)
    for axis, window in enumerate(conv.windows, 1):
        weight = _spread(lower, weight, axis, window.dilation)
    wanted, sizes = list[int](), list[KnownSize]()
    for window, size, count in zip(conv.windows, conv.x.sizes[1:], conv.counts, strict=False):
        wanted += [-window.low, _end(lower, window, size, count)]
    # a negative pad is smaller than the kernel in TOSA; what more there is to cut off is sliced
    pad = [max(amount, 1 - conv.windows[i // 2].span) for i, amount in enumerate(wanted)]
    cut = [have - want for have, want in zip(pad, wanted, strict=True)]
    sizes = [dims.add(n, cut[2 * i] + cut[2 * i + 1]) for i, n in enumerate(conv.counts)]
    properties: dict[str, Attribute] = {
        "out_pad": i64_array(pad),
        "stride": i64_array([window.stride for window in conv.windows]),
        "acc_type": _accumulator(conv.x.dtype),
    }
    operands = [conv.x, weight, conv.bias, *_zero_points(lower, conv)]
    batch, channels = conv.x.sizes[0], conv.bias.sizes[0]
    result = lower.op(
        tosa.TransposeConv2DOp, operands, (batch, *sizes, channels), conv.x.dtype, properties
    )
    starts = [0, *cut[::2], 0]
    return lower.slice(result, starts, (batch, *conv.counts, channels), [1] * result.rank)


def _end(lower: TosaLowering, window: Window, size: KnownSize, count: KnownSize) -> int:
    """What a transposed convolution adds at the end of a dimension to give ``count`` elements."""
    spread = dims.add(dims.mul(dims.sub(size, 1), window.stride), window.span - window.low)
    return lower.static(dims.sub(count, spread), "the padding of a transposed convolution")


def _transposed_as_plain(lower: TosaLowering, conv: Convolution, weight: Tensor) -> Tensor:
    x, windows = conv.x, list[Window]()
    for axis, (window, count) in enumerate(zip(conv.windows, conv.counts, strict=True), 1):
        end = _end(lower, window, conv.x.sizes[axis], count)
        x = _spread(lower, x, axis, window.stride)
        weight = lower.reverse(weight, [axis])
        low, high = window.span - 1 - window.low, window.span - 1 + end
        # padding larger than a kernel reaches into the input
        first, last = max(-low, 0), max(-high, 0)
        x = lower.section(x, axis, first, dims.sub(x.sizes[axis], first + last))
        windows.append(Window(window.size, 1, window.dilation, max(low, 0), max(high, 0)))
    if element_types.is_integer(x.dtype):
        weight = lower.transpose(weight, (0, weight.rank - 1, *range(1, weight.rank - 1)))
        return _integers(lower, replace(conv, x=x, weight=weight, windows=windows))
    plain = replace(conv, x=x, weight=weight, windows=windows)
    return convolve_as(lower, _conv_op(conv), plain)


def _spread(lower: TosaLowering, x: Tensor, axis: int, step: int) -> Tensor:
    """``step - 1`` zeros between the elements along an axis."""
    if step == 1 or x.sizes[axis] == 1:
        return x
    longer = apart(lower, x, [step if i == axis else 1 for i in range(x.rank)])
    return lower.section(longer, axis, 0, dims.sub(longer.sizes[axis], step - 1))
