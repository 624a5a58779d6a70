"""Two-dimensional pools in TOSA, channels last."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product
from operator import add

from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute, Operation

from torch2mlir.contract import element_types
from torch2mlir.conversion.expressions import Expr
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_tosa.casts import computed_dtype, si32
from torch2mlir.conversion.torch_to_tosa.dynamic_shapes import is_static
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering, lowers
from torch2mlir.conversion.torch_to_tosa.windows import Window, fitted, i64_array, pads
from torch2mlir.dialects import tosa
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize


def _windows(
    kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]
) -> list[Window]:
    """Height and width, padded as much on both sides."""
    options = zip(kernel, stride, dilation, padding, padding, strict=True)
    return [Window(*option) for option in options]


def _images(lower: TosaLowering, x: Tensor) -> Tensor:
    """``[N, C, H, W]`` or ``[C, H, W]`` with channels last and a batch."""
    return lower.channels_last(lower.ranked(x, 4))


def _result(lower: TosaLowering, x: Tensor, sizes: Sequence[KnownSize]) -> Tensor:
    return lower.reshape(lower.channels_first(x), sizes)


def _pool(
    lower: TosaLowering,
    op_class: type[Operation],
    x: Tensor,
    windows: Sequence[Window],
    extra: dict[str, Attribute],
) -> Tensor:
    """A pool of images with channels last."""
    counts = lower.out.sizes[-2:]
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


@lowers("aten.max_pool2d_with_indices")
def max_pool2d_with_indices(
    lower: TosaLowering,
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> tuple[Tensor, Tensor]:
    """The largest element of each window and its place in the image, ``row * width + column``.

    The places are computed element by element of the window, and disappear where nobody uses them. TOSA's pool has no
    dilation: a dilated one takes its values from there as well.
    """
    windows = _windows(kernel, stride, padding, dilation)
    images = _images(lower, x)
    values, places = _largest(lower, images, windows)
    if all(window.dilation == 1 for window in windows):
        images = _completed(lower, images, windows, ceil_mode, _lowest(x.dtype))
        values = _pool(lower, tosa.MaxPool2DOp, images, windows, {})
    return (
        _result(lower, values, lower.out.sizes),
        _result(lower, lower.cast(places, element_types.si64), lower.out.sizes),
    )


def _largest(lower: TosaLowering, x: Tensor, windows: Sequence[Window]) -> tuple[Tensor, Tensor]:
    """Values and i32 places of the first largest elements; NaN is larger than all others."""
    height, width = x.sizes[1:3]
    rows = lower.iota((1, height, 1, 1), 1, si32)
    columns = lower.iota((1, 1, width, 1), 2, si32)
    stride = lower.operand(width, si32)
    index = lower.elementwise(tosa.AddOp, lower.elementwise(tosa.MulOp, rows, stride), columns)
    wide = lower.cast(x, computed_dtype(x.dtype))
    values = _padded_around(lower, wide, windows, _lowest(wide.dtype))
    index = _padded_around(lower, index, windows, -1)
    best: tuple[Expr, Expr] | None = None
    for offsets in product(*(range(window.size) for window in windows)):
        value = Expr(lower.words, _shifted(lower, values, windows, offsets))
        place = Expr(lower.words, _shifted(lower, index, windows, offsets))
        if best is None:
            best = value, place
            continue
        newer = (value > best[0]) & (place > -1) | best[1].equals(-1)
        if element_types.is_float(wide.dtype):
            newer = newer | ~value.equals(value)
        best = newer.where(value, best[0]), newer.where(place, best[1])
    if best is None:
        lower.fail("a pool without elements in its window")
    sizes = (x.sizes[0], *lower.out.sizes[-2:], x.sizes[3])
    return lower.cast(best[0].value, x.dtype), lower.broadcast_to(best[1].value, sizes)


def _lowest(dtype: Attribute) -> float | int:
    if element_types.is_float(dtype):
        return float("-inf")
    return -(1 << (element_types.bit_width(dtype) - 1))


def _completed(
    lower: TosaLowering, x: Tensor, windows: Sequence[Window], ceil_mode: bool, fill: float | int
) -> Tensor:
    """``x`` with what ``ceil_mode`` lacks for full windows, where that is only known at run time."""
    if not ceil_mode:
        return x
    high: list[KnownSize] = [0]
    for window, size, count in zip(windows, x.sizes[1:3], lower.out.sizes[-2:], strict=True):
        left = window.left_over(size, count)
        high.append(0 if isinstance(left, int) else dims.maximum(dims.mul(-1, left), 0))
    return lower.pad(x, [0] * 4, [*high, 0], fill)


def _padded_around(
    lower: TosaLowering, x: Tensor, windows: Sequence[Window], fill: float | int
) -> Tensor:
    """``x`` with all padding, so that every window lies within."""
    high = []
    for window, size, count in zip(windows, x.sizes[1:3], lower.out.sizes[-2:], strict=True):
        left = window.left_over(size, count)
        missing = max(-left, 0) if isinstance(left, int) else window.stride
        high.append(window.high + missing)
    return lower.pad(x, [0, *(w.low for w in windows), 0], [0, *high, 0], fill)


def _shifted(
    lower: TosaLowering, padded: Tensor, windows: Sequence[Window], offsets: Sequence[int]
) -> Tensor:
    """The element at an offset of every window."""
    starts = [0, *(o * w.dilation for o, w in zip(offsets, windows, strict=True)), 0]
    sizes = [padded.sizes[0], *lower.out.sizes[-2:], padded.sizes[3]]
    return lower.slice(padded, starts, sizes, [1, *(w.stride for w in windows), 1])


@lowers("aten.avg_pool2d")
def avg_pool2d(
    lower: TosaLowering,
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor: int | None,
) -> Tensor:
    """The mean of each window.

    ``tosa.avg_pool2d`` does not count its padding: padding that counts is a ``tosa.pad`` before it; what ``ceil_mode``
    adds at the end does not count. With a divisor everything counts, and the mean is scaled.
    """
    windows = _windows(kernel, stride, padding, (1, 1))
    images = _images(lower, x)
    if element_types.is_integer(x.dtype):
        total = _shifted_sums(lower, lower.cast(images, computed_dtype(x.dtype)), windows)
        always_whole = not ceil_mode and (count_include_pad or not any(w.low for w in windows))
        number = windows[0].size * windows[1].size if always_whole else None
        number = number if divisor is None else divisor
        mean = total / (number or _elements(lower, images, windows, count_include_pad, total))
        return _result(lower, lower.cast(mean.value, x.dtype), lower.out.sizes)
    if count_include_pad or divisor is not None:
        images, windows = _padded(lower, images, windows, divisor is not None)
    if is_static(images.sizes[1:3]):
        result = _pool(lower, tosa.AvgPool2DOp, images, windows, {"acc_type": f32})
    else:
        completed = _completed(lower, images, windows, ceil_mode, 0)
        counts = None if divisor is not None else _counts(lower, images, windows, ceil_mode)
        result = _average_by_sums(lower, completed, windows, counts)
    if divisor is not None:
        count = windows[0].size * windows[1].size
        scale = lower.splat(count / divisor, (1,) * 4, result.dtype)
        result = lower.elementwise(tosa.MulOp, result, scale)
    return _result(lower, result, lower.out.sizes)


def _shifted_sums(lower: TosaLowering, x: Tensor, windows: Sequence[Window]) -> Expr:
    """The sum of each window, an addition for each of its elements: TOSA pools no integers of 32 and 64 bits."""
    padded = _padded_around(lower, x, windows, 0)
    places = product(*(range(window.size) for window in windows))
    terms = [Expr(lower.words, _shifted(lower, padded, windows, offsets)) for offsets in places]
    return reduce(add, terms)


def _elements(
    lower: TosaLowering, x: Tensor, windows: Sequence[Window], with_padding: bool, like: Expr
) -> Expr:
    """How many elements of an image, or of a padded image, lie in each window, as integers."""
    sizes, inner = list(x.sizes[1:3]), list(windows)
    if with_padding:
        sizes = [dims.add(size, w.low + w.high) for size, w in zip(sizes, windows, strict=True)]
        inner = [Window(window.size, window.stride, 1, 0, 0) for window in windows]
    ones = lower.splat(1, (1, *sizes, 1), like.value.dtype)
    return _shifted_sums(lower, ones, inner)


def _average_by_sums(
    lower: TosaLowering, x: Tensor, windows: Sequence[Window], counts: Tensor | None
) -> Tensor:
    """The sum of each window over the count of its elements, all of them unless given.

    IREE 3.13 does not compile ``tosa.avg_pool2d`` of images whose size is known at run time.
    """
    if counts is None:
        inverse = lower.splat(1 / (windows[0].size * windows[1].size), (1,) * 4, x.dtype)
    else:
        inverse = lower.elementwise(tosa.ReciprocalOp, counts)
    return lower.elementwise(tosa.MulOp, _window_sums(lower, x, windows), inverse)


def _counts(
    lower: TosaLowering, x: Tensor, windows: Sequence[Window], ceil_mode: bool
) -> Tensor | None:
    """How many elements of images lie in each window, where windows can reach over the edge."""
    if not ceil_mode and not any(window.low or window.high for window in windows):
        return None
    ones = lower.splat(1, (1, *x.sizes[1:3], 1), x.dtype)
    return _window_sums(lower, _completed(lower, ones, windows, ceil_mode, 0), windows)


def _window_sums(lower: TosaLowering, x: Tensor, windows: Sequence[Window]) -> Tensor:
    """A depthwise convolution with a kernel of ones."""
    channels = lower.static(x.sizes[3], "the number of channels")
    kernel = lower.splat(1, (windows[0].size, windows[1].size, channels, 1), x.dtype)
    bias, zero = lower.splat(0, (channels,), x.dtype), lower.splat(0, (1,), x.dtype)
    properties: dict[str, Attribute] = {
        "pad": pads(windows),
        "stride": i64_array([window.stride for window in windows]),
        "dilation": i64_array([1, 1]),
        "acc_type": f32,
    }
    sizes = (x.sizes[0], *lower.out.sizes[-2:], channels)
    operands = [x, kernel, bias, zero, zero]
    return lower.op(tosa.DepthwiseConv2DOp, operands, sizes, x.dtype, properties)


def _padded(
    lower: TosaLowering, x: Tensor, windows: Sequence[Window], to_the_end: bool
) -> tuple[Tensor, list[Window]]:
    """Padding as zeros of the tensor, that of ``ceil_mode`` included if windows are to be full ``to_the_end``."""
    low, high, rest = [0], [0], list[Window]()
    for window, size, count in zip(windows, x.sizes[1:3], lower.out.sizes[-2:], strict=True):
        left = window.left_over(size, count)
        missing = max(-left, 0) if to_the_end and isinstance(left, int) else 0
        low.append(window.low)
        high.append(window.high + missing)
        rest.append(Window(window.size, window.stride, 1, 0, 0))
    return lower.pad(x, [*low, 0], [*high, 0], 0), rest
