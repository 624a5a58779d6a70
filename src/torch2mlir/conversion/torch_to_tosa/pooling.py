"""Two-dimensional pools in TOSA, channels last."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product
from operator import add

from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute, Operation

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import lowest, si32, si64
from torch2mlir.conversion.expressions import Expr
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.pooling import Window
from torch2mlir.conversion.torch_to_tosa import windows as sides
from torch2mlir.conversion.torch_to_tosa.casts import computed_dtype
from torch2mlir.conversion.torch_to_tosa.convolution import Convolution, convolve_as
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering
from torch2mlir.conversion.torch_to_tosa.windows import fitted, pads
from torch2mlir.dialects import tosa
from torch2mlir.dialects.tensors import i64_array
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import Sizes, is_static


class Pools(TosaLowering):
    """The words that combine the elements of windows."""

    def pool(self, word: str, x: Tensor, window: Window) -> Tensor:
        images = self.channels_last(x)
        if word == "max":
            result = _maxima(self, images, window)
        elif element_types.is_float(x.dtype):
            result = _window_sums(self, _completed(self, images, window, 0), window)
        else:
            result = _shifted_sums(self, images, window)
        return self.channels_first(result)

    def average_pool(
        self, x: Tensor, window: Window, with_padding: bool, divisor: int | None
    ) -> Tensor | None:
        """``tosa.avg_pool2d`` of floats; IREE 3.13 does not compile it for images whose size is known at run time.

        It does not count its padding: padding that counts is a ``tosa.pad`` before it; what ``ceil_mode`` adds at the
        end does not count. With a divisor everything counts, and the mean is scaled.
        """
        if not element_types.is_float(x.dtype) or not is_static(window.plane):
            return None
        images, windows = self.channels_last(x), _sides(window)
        if with_padding or divisor is not None:
            end = window.padding if divisor is None else window.ends
            images = self.pad(images, [0, *window.padding, 0], [0, *end, 0], 0)
            windows = [sides.Window(side.size, side.stride, 1, 0, 0) for side in windows]
        means = _pool(self, tosa.AvgPool2DOp, images, window.counts, windows, {"acc_type": f32})
        if divisor is not None:
            scale = self.splat(window.elements / divisor, (1,) * 4, means.dtype)
            means = self.elementwise(tosa.MulOp, means, scale)
        return self.channels_first(means)

    def max_pool_places(self, x: Tensor, window: Window) -> list[Tensor]:
        images = self.channels_last(x)
        places = self.cast(_largest(self, images, window)[1], si64)
        return [self.pool("max", x, window), self.channels_first(places)]


def _sides(window: Window) -> list[sides.Window]:
    """Height and width, padded as much on both sides."""
    options = (window.kernel, window.strides, window.dilations, window.padding, window.padding)
    return [sides.Window(*side) for side in zip(*options, strict=True)]


def _pool(
    lower: TosaLowering,
    op_class: type[Operation],
    x: Tensor,
    counts: Sizes,
    windows: Sequence[sides.Window],
    extra: dict[str, Attribute],
) -> Tensor:
    """A pool of images with channels last."""
    x, windows = fitted(lower, x, windows, counts)
    properties = {
        "kernel": i64_array([window.size for window in windows]),
        "stride": i64_array([window.stride for window in windows]),
        "pad": pads(windows),
        **extra,
    }
    zero = lower.splat(0, (1,), x.dtype)
    operands = [x, zero, zero] if op_class is tosa.AvgPool2DOp else [x]
    sizes = (x.sizes[0], *counts, x.sizes[3])
    return lower.op(op_class, operands, sizes, x.dtype, properties)


def _maxima(lower: TosaLowering, x: Tensor, window: Window) -> Tensor:
    """The largest element of each window; TOSA's pool has no dilation."""
    if any(dilation != 1 for dilation in window.dilations):
        return _largest(lower, x, window)[0]
    x = _completed(lower, x, window, lowest(x.dtype))
    return _pool(lower, tosa.MaxPool2DOp, x, window.counts, _sides(window), {})


def _largest(lower: TosaLowering, x: Tensor, window: Window) -> tuple[Tensor, Tensor]:
    """Values and i32 places of the first largest elements; NaN is larger than all others."""
    height, width = window.plane
    rows = lower.iota((1, height, 1, 1), 1, si32)
    columns = lower.iota((1, 1, width, 1), 2, si32)
    stride = lower.operand(width, si32)
    index = lower.elementwise(tosa.AddOp, lower.elementwise(tosa.MulOp, rows, stride), columns)
    wide = lower.cast(x, computed_dtype(x.dtype))
    values = _padded_around(lower, wide, window, lowest(wide.dtype))
    index = _padded_around(lower, index, window, -1)
    best: tuple[Expr, Expr] | None = None
    for offsets in product(*map(range, window.kernel)):
        value = Expr(lower.words, _shifted(lower, values, window, offsets))
        place = Expr(lower.words, _shifted(lower, index, window, offsets))
        if best is None:
            best = value, place
            continue
        newer = (value > best[0]) & (place > -1) | best[1].equals(-1)
        if element_types.is_float(wide.dtype):
            newer = newer | ~value.equals(value)
        best = newer.where(value, best[0]), newer.where(place, best[1])
    if best is None:
        lower.fail("a pool without elements in its window")
    sizes = (x.sizes[0], *window.counts, x.sizes[3])
    return lower.cast(best[0].value, x.dtype), lower.broadcast_to(best[1].value, sizes)


def _completed(lower: TosaLowering, x: Tensor, window: Window, fill: float | int) -> Tensor:
    """``x`` with what ``ceil_mode`` lacks for full windows, where that is only known at run time."""
    ends = zip(window.ends, window.padding, strict=True)
    high = [0 if isinstance(end, int) else dims.sub(end, padding) for end, padding in ends]
    return lower.pad(x, [0] * 4, [0, *high, 0], fill)


def _padded_around(lower: TosaLowering, x: Tensor, window: Window, fill: float | int) -> Tensor:
    """``x`` with all padding, so that every window lies within; constants, where need be more."""
    ends = zip(window.ends, window.padding, window.strides, strict=True)
    high = [end if isinstance(end, int) else padding + stride for end, padding, stride in ends]
    return lower.pad(x, [0, *window.padding, 0], [0, *high, 0], fill)


def _shifted(lower: TosaLowering, padded: Tensor, window: Window, offsets: Sequence[int]) -> Tensor:
    """The element at an offset of every window."""
    starts = [0, *(o * d for o, d in zip(offsets, window.dilations, strict=True)), 0]
    sizes = [padded.sizes[0], *window.counts, padded.sizes[3]]
    return lower.slice(padded, starts, sizes, [1, *window.strides, 1])


def _shifted_sums(lower: TosaLowering, x: Tensor, window: Window) -> Tensor:
    """The sum of each window, an addition for each of its elements: TOSA pools no integers of 32 and 64 bits."""
    padded = _padded_around(lower, lower.cast(x, computed_dtype(x.dtype)), window, 0)
    places = product(*map(range, window.kernel))
    terms = [Expr(lower.words, _shifted(lower, padded, window, offsets)) for offsets in places]
    return lower.cast(reduce(add, terms).value, x.dtype)


def _window_sums(lower: TosaLowering, x: Tensor, window: Window) -> Tensor:
    """A depthwise convolution with a kernel of ones."""
    channels = lower.static(x.sizes[3], "the number of channels")
    kernel = lower.splat(1, (*window.kernel, channels, 1), x.dtype)
    bias = lower.splat(0, (channels,), x.dtype)
    conv = Convolution(x, kernel, bias, _sides(window), list(window.counts))
    return convolve_as(lower, tosa.DepthwiseConv2DOp, conv)
