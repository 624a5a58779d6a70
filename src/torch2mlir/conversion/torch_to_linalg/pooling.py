"""Pooling in Linalg-on-Tensors: the named ops, and one loop nest for the positions of maxima."""

from __future__ import annotations

from dataclasses import replace

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import lowest, neutral, si64
from torch2mlir.conversion.expressions import Number
from torch2mlir.conversion.lowering import Scalar, Tensor
from torch2mlir.conversion.pooling import Window
from torch2mlir.conversion.torch_to_linalg.convolution import (
    window_place,
    windowed,
    without_unread,
)
from torch2mlir.conversion.torch_to_linalg.lowering import Access, LinalgLowering, Subscript
from torch2mlir.conversion.torch_to_linalg.scalars import INDEX, Scalars, is_unsigned
from torch2mlir.dialects import linalg


class Pools(LinalgLowering):
    """The words that combine the elements of windows."""

    def pool(self, word: str, x: Tensor, window: Window) -> Tensor:
        if word == "max" and is_unsigned(x.dtype):  # the named op compares with signs
            return self.max_pool_places(x, window)[0]
        named = linalg.PoolingNchwMaxOp if word == "max" else linalg.PoolingNchwSumOp
        fill = neutral(word, x.dtype)
        padded, window = self._read(x, window, fill)
        shape = self.empty(window.kernel, x.dtype)
        init = self.full(fill, (*x.sizes[:2], *window.counts), x.dtype)
        return windowed(self, named, padded, shape, init, window.strides, window.dilations)

    def max_pool_places(self, x: Tensor, window: Window) -> list[Tensor]:
        """The first place inside the plane stands, whatever its element is, until a better one is found."""
        dtype, width = x.dtype, window.plane[1]

        def build(
            s: Scalars, element: Scalar, _: Scalar, best: Scalar, place: Scalar
        ) -> list[Scalar]:
            better = s.compare("gt", element, best)
            if element_types.is_float(dtype):
                better = s("or", better, s.is_nan(element))
            row, column = (_position(s, read, axis) for axis in (0, 1))
            flat = s("add", s("mul", row, self.number(width, INDEX)), column)
            here = s.cast(flat, si64)
            first = s.compare("eq", place, -1)
            for axis, position in enumerate((row, column)):
                first = s("and", first, _inside(s, read, axis, position))
            better = s("or", better, first)
            return [s.select(better, element, best), s.select(better, here, place)]

        padded, read = self._read(x, window, lowest(dtype))
        shape, sizes = self.empty(window.kernel, dtype), (*x.sizes[:2], *window.counts)
        outputs = [
            (self.full(lowest(dtype), sizes, dtype), range(4)),
            (self.full(-1, sizes, si64), range(4)),
        ]
        inputs: list[Access] = [(padded, _places(read)), (shape, [4, 5])]
        found = self.nest("pppprr", inputs, outputs, build)
        # engines know the named op better
        return found if is_unsigned(dtype) else [self.pool("max", x, window), found[1]]

    def _read(self, x: Tensor, window: Window, fill: Number) -> tuple[Tensor, Window]:
        """What a window reads, with all padding, and how it moves there."""
        padded = window.padded(self, x, fill)
        counts, kernel, strides = window.counts, window.kernel, window.strides
        padded, strides = without_unread(self, padded, counts, kernel, strides, window.dilations)
        return padded, replace(window, strides=strides)


def _places(window: Window) -> list[Subscript]:
    """What indexes the padded input in a nest of loops n, c, y, x, window y, window x."""
    options = zip(window.strides, window.dilations, strict=True)
    return [0, 1, *(window_place(2 + a, 4 + a, *option) for a, option in enumerate(options))]


def _position(s: Scalars, window: Window, axis: int) -> Scalar:
    """Where in the unpadded input a window's element is."""
    start, offset = s.index(2 + axis), s.index(4 + axis)
    if window.strides[axis] != 1:
        start = s("mul", start, window.strides[axis])
    if window.padding[axis]:
        start = s("sub", start, window.padding[axis])
    if window.dilations[axis] != 1:
        offset = s("mul", offset, window.dilations[axis])
    return s("add", start, offset)


def _inside(s: Scalars, window: Window, axis: int, position: Scalar) -> Scalar:
    """Whether a position along an axis is one of the unpadded input."""
    size = s.lower.number(window.plane[axis], INDEX)
    return s("and", s.compare("ge", position, 0), s.compare("lt", position, size))
