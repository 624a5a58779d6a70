"""Pools over the last two dimensions, the plane, once for all dialects; targets say how windows are combined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.ir import Attribute

from torch2mlir.contract.element_types import si64, widened
from torch2mlir.conversion.expressions import Expr, Number
from torch2mlir.conversion.lowering import Lowering, ResultType, Tensor
from torch2mlir.conversion.registry import lowers_everywhere
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize


@dataclass(frozen=True)
class Window:
    """A window that moves over a plane; everything is given for rows and for columns.

    ``ceil_mode`` of PyTorch leaves out a last window that begins behind the padding: the number of windows says what it
    meant, and the padding at the end is as much as they need.

    Attributes:
        plane: the sizes that it moves over, without padding.
        counts: how many windows there are.
        kernel, strides, padding, dilations: the options of the pool.
    """

    plane: tuple[KnownSize, ...]
    counts: tuple[KnownSize, ...]
    kernel: list[int]
    strides: list[int]
    padding: list[int]
    dilations: list[int]

    @cached_property
    def ends(self) -> list[KnownSize]:
        """The padding at the end: as much as at the start, and what the last window of ceil_mode needs."""
        return [self._end(axis) for axis in (0, 1)]

    def _end(self, axis: int) -> KnownSize:
        padding, size, count = self.padding[axis], self.plane[axis], self.counts[axis]
        span = self.dilations[axis] * (self.kernel[axis] - 1) + 1
        inside = dims.sub(dims.add(size, 2 * padding), span)
        if dims.add(dims.floordiv(inside, self.strides[axis]), 1) == count:
            return padding
        needed = dims.add(dims.mul(dims.sub(count, 1), self.strides[axis]), span)
        return dims.maximum(dims.sub(needed, dims.add(size, padding)), padding)

    @property
    def leaves_the_padding(self) -> bool:
        """Whether a window of ceil_mode may reach over the padded plane."""
        return any(end != low for end, low in zip(self.ends, self.padding, strict=True))

    @property
    def elements(self) -> int:
        """How many elements a window has."""
        return self.kernel[0] * self.kernel[1]

    def padded(self, lower: Lowering, x: Tensor, fill: Number) -> Tensor:
        """``[n, c, h, w]`` with all padding around."""
        return lower.pad(x, [0, 0, *self.padding], [0, 0, *self.ends], fill)


def window_of(lower: Lowering, x: Tensor, *options: Sequence[int]) -> Window:
    """The window of the pool that is lowered; the options are kernel, stride, padding and dilation."""
    kernel, stride, padding, dilation = map(list, options)
    plane, counts = x.sizes[-2:], lower.out.sizes[-2:]
    return Window(plane, counts, kernel, stride, padding, dilation)


def batched(lower: Lowering, x: Tensor) -> Tensor:
    """``[c, h, w]`` as a batch of one."""
    return lower.reshape(x, (*[1] * (4 - x.rank), *x.sizes))


@lowers_everywhere("aten.max_pool2d_with_indices")
def max_pool2d_with_indices(
    lower: Lowering,
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> list[Tensor | None]:
    """The maximum of each window, NaN if there is one, and its place in the plane, ``row * width + column``."""
    window = window_of(lower, x, kernel, stride, padding, dilation)
    x = batched(lower, x)
    if not lower.used[1]:
        return [lower.reshape(lower.pool("max", x, window), lower.out.sizes), None]
    found = lower.max_pool_places(x, window)
    return [lower.reshape(t, r.sizes) for t, r in zip(found, lower.results, strict=True)]


@lowers_everywhere("aten.avg_pool2d")
def avg_pool2d(
    lower: Lowering,
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    """The sum of each window divided by its number of elements: those of the plane, or with its padding."""
    window, out = window_of(lower, x, kernel, stride, padding, [1, 1]), lower.out
    always_whole, images = count_include_pad or not any(padding), batched(lower, x)
    word = lower.average_pool(images, window, always_whole, divisor_override)
    if word is not None:
        return lower.reshape(lower.cast(word, out.dtype), out.sizes)
    total = lower.pool("add", lower.cast(images, widened(x.dtype)), window)
    result = ResultType(total.sizes, out.dtype)
    if divisor_override is not None or (always_whole and not window.leaves_the_padding):
        divisors: list[Tensor | int] = [divisor_override or window.elements]
    else:
        rows, columns = (extents(lower, window, a, count_include_pad, total.dtype) for a in (0, 1))
        rows = lower.reshape(rows, (window.counts[0], 1))
        divisors = [lower.spread(each, total.sizes) for each in (rows, columns)]

    def code(total: Expr, first: Expr, *second: Expr) -> Expr:
        return total / (first * second[0] if second else first)

    mean = lower.formula(code, total, *divisors, computed=total.dtype, result=result)
    return lower.reshape(mean, out.sizes)


def extents(
    lower: Lowering, window: Window, axis: int, with_padding: bool, dtype: Attribute
) -> Tensor:
    """How many rows, or columns, of the plane or of the padded plane each window has."""
    count, size = window.counts[axis], window.plane[axis]
    limits = [dims.add(size, window.padding[axis]) if with_padding else size]

    def code(number: Expr, limit: Expr) -> Expr:
        start = number * window.strides[axis] - window.padding[axis]
        end = (start + window.kernel[axis]).of("min", limit)
        return end - (start if with_padding else start.of("max", 0))

    numbers = lower.iota((count,), 0, si64)
    whole = ResultType((count,), si64)
    found = lower.formula(code, numbers, *limits, computed=si64, result=whole)
    return lower.cast(found, dtype)
