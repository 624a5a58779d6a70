"""Pooling in Linalg-on-Tensors: the named ops, and one loop nest for the positions of maxima."""

from __future__ import annotations

from collections.abc import Sequence

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import lowest, widened
from torch2mlir.conversion.lowering import Number, Scalar, Tensor
from torch2mlir.conversion.torch_to_linalg.convolution import window_place, windowed
from torch2mlir.conversion.torch_to_linalg.lowering import (
    Access,
    LinalgLowering,
    Subscript,
    lowers,
)
from torch2mlir.conversion.torch_to_linalg.scalars import INDEX, Scalars, is_unsigned
from torch2mlir.dialects import linalg
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize


class Window:
    """A pooling window: for both dimensions kernel, stride, padding and dilation, and the padded input."""

    def __init__(
        self,
        lower: LinalgLowering,
        x: Tensor,
        options: Sequence[Sequence[int]],
        fill: Number,
        ceil_mode: bool,
    ) -> None:
        self.kernel, self.stride, self.padding, self.dilation = map(list, options)
        self.lower = lower
        self.sizes = list(lower.out.sizes) if lower.out.rank == 4 else [1, *lower.out.sizes]
        self.input = x if x.rank == 4 else lower.reshape(x, [1, *x.sizes])
        after = [self._needed(axis) if ceil_mode else self.padding[axis] for axis in (0, 1)]
        self.padded = lower.pad(self.input, [0, 0, *self.padding], [0, 0, *after], fill)

    def _needed(self, axis: int) -> KnownSize:
        """The padding after the last element, and what the last window needs beyond it."""
        out, size = self.sizes[2 + axis], self.input.sizes[2 + axis]
        reach = self.dilation[axis] * (self.kernel[axis] - 1) + 1
        needed = dims.add(dims.mul(dims.sub(out, 1), self.stride[axis]), reach)
        missing = dims.sub(needed, dims.add(size, self.padding[axis]))
        return dims.maximum(missing, self.padding[axis])

    def shape(self) -> Tensor:
        """A tensor that only gives the size of the window."""
        return self.lower.empty(self.kernel, self.padded.dtype)

    def places(self) -> list[Subscript]:
        """What indexes the padded input in a nest of loops n, c, y, x, window y, window x."""
        return [
            0,
            1,
            *(window_place(2 + a, 4 + a, self.stride[a], self.dilation[a]) for a in (0, 1)),
        ]


@lowers("aten.max_pool2d_with_indices")
def max_pool2d_with_indices(
    lower: LinalgLowering,
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> list[Tensor]:
    """The maximum of each window, NaN if there is one, and its place in the unpadded plane."""
    window = Window(lower, x, (kernel, stride, padding, dilation), lowest(x.dtype), ceil_mode)
    values, places = max_with_places(lower, window)
    if not is_unsigned(x.dtype):
        init = lower.full(lowest(x.dtype), window.sizes, x.dtype)
        operands = (window.padded, window.shape(), init, window.stride, window.dilation)
        values = windowed(lower, linalg.PoolingNchwMaxOp, *operands)
    return [lower.reshape(t, r.sizes) for t, r in zip((values, places), lower.results, strict=True)]


def max_with_places(lower: LinalgLowering, window: Window) -> list[Tensor]:
    """The maximum of each window and the place of its first occurrence, of the last NaN if there is one.

    The first place inside the plane stands, whatever its element is, until a better one is found.
    """
    dtype, place_type = window.padded.dtype, lower.results[1].dtype
    width = window.input.sizes[3]

    def build(s: Scalars, element: Scalar, _: Scalar, best: Scalar, place: Scalar) -> list[Scalar]:
        better = s.compare("gt", element, best)
        if element_types.is_float(dtype):
            better = s("or", better, s.is_nan(element))
        row, column = (_position(s, window, axis) for axis in (0, 1))
        flat = s("add", s("mul", row, lower.number(width, INDEX)), column)
        here = s.cast(flat, place_type)
        first = s.compare("eq", place, -1)
        for axis, position in enumerate((row, column)):
            first = s("and", first, _inside(s, window, axis, position))
        better = s("or", better, first)
        return [s.select(better, element, best), s.select(better, here, place)]

    outputs = [
        (lower.full(lowest(dtype), window.sizes, dtype), range(4)),
        (lower.full(-1, window.sizes, place_type), range(4)),
    ]
    inputs: list[Access] = [(window.padded, window.places()), (window.shape(), [4, 5])]
    return lower.nest("pppprr", inputs, outputs, build)


def _position(s: Scalars, window: Window, axis: int) -> Scalar:
    """Where in the unpadded input a window's element is."""
    start, offset = _start(s, window, axis), s.index(4 + axis)
    if window.dilation[axis] != 1:
        offset = s("mul", offset, window.dilation[axis])
    return s("add", start, offset)


def _inside(s: Scalars, window: Window, axis: int, position: Scalar) -> Scalar:
    """Whether a position along an axis is one of the unpadded input."""
    size = s.lower.number(window.input.sizes[2 + axis], INDEX)
    return s("and", s.compare("ge", position, 0), s.compare("lt", position, size))


def _start(s: Scalars, window: Window, axis: int) -> Scalar:
    """Where in the unpadded input a window starts."""
    start = s.index(2 + axis)
    if window.stride[axis] != 1:
        start = s("mul", start, window.stride[axis])
    return s("sub", start, window.padding[axis]) if window.padding[axis] else start


@lowers("aten.avg_pool2d")
def avg_pool2d(
    lower: LinalgLowering,
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    """The sum of each window divided by its number of elements: those of the input, or with its padding."""
    window = Window(lower, x, (kernel, stride, padding, [1, 1]), 0, ceil_mode)
    computed = widened(x.dtype)
    init = lower.full(0, window.sizes, computed)
    operands = (window.padded, window.shape(), init, window.stride, window.dilation)
    total = windowed(lower, linalg.PoolingNchwSumOp, *operands)
    always_whole = not ceil_mode and (count_include_pad or not any(window.padding))

    def build(s: Scalars, element: Scalar) -> Scalar:
        if divisor_override is not None:
            return s("div", element, divisor_override)
        if always_whole:
            return s("div", element, window.kernel[0] * window.kernel[1])
        rows, columns = (_extent(s, window, axis, count_include_pad) for axis in (0, 1))
        return s("div", element, s.cast(s("mul", rows, columns), computed))

    access = (total, range(4))
    mean = lower.compute(build, [access], window.sizes, lower.out.dtype)
    return lower.reshape(mean, lower.out.sizes)


def _extent(s: Scalars, window: Window, axis: int, with_padding: bool) -> Scalar:
    """How many elements of a window count along an axis."""
    size = window.input.sizes[2 + axis]
    start = _start(s, window, axis)
    limit = dims.add(size, window.padding[axis])
    end = s("min", s("add", start, window.kernel[axis]), s.lower.number(limit, INDEX))
    if not with_padding:
        start = s("max", start, 0)
        end = s("min", end, s.lower.number(size, INDEX))
    return s("sub", end, start)
