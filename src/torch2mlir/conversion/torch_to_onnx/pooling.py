"""Pooling in ONNX, over the last two dimensions."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

from xdsl.dialects.builtin import f32, i1

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import si64, widened
from torch2mlir.conversion.lowering import Number, Tensor
from torch2mlir.conversion.pooling import Window
from torch2mlir.conversion.torch_to_onnx.bounds import is_bounded_below
from torch2mlir.conversion.torch_to_onnx.lowering import OnnxLowering
from torch2mlir.conversion.torch_to_onnx.words import ui8


class Pools(OnnxLowering):
    """The words that combine the elements of windows."""

    def pool(self, word: str, x: Tensor, window: Window) -> Tensor:
        if word == "max":
            return _maximum(self, x, window)
        if not element_types.is_float(x.dtype):
            elements = _elements(self, x, window, 0)
            return self.reduce("add", elements, [0], x.dtype, elements.sizes[1:])
        average = _pool(self, "AveragePool", x, window, 0, count_include_pad=1)
        return self.apply("Mul", average, window.elements)

    def average_pool(
        self, x: Tensor, window: Window, with_padding: bool, divisor: int | None
    ) -> Tensor | None:
        """``AveragePool``, of floats, where it counts what PyTorch counts."""
        is_float = element_types.is_float(x.dtype)
        if not is_float or divisor is not None or window.leaves_the_padding:
            return None
        wide = self.cast(x, widened(x.dtype))
        return _pool(self, "AveragePool", wide, window, 0, count_include_pad=int(with_padding))

    def max_pool_places(self, x: Tensor, window: Window) -> list[Tensor]:
        elements = _elements(self, x, window, element_types.lowest(x.dtype))
        inside = _elements(self, self.splat(1, (1, 1, *window.plane), ui8), window, 0)
        found = self.reduce("max", elements, [0], x.dtype, elements.sizes[1:])
        hits = self.compare("eq", elements, found)
        if element_types.is_float(x.dtype):
            undefined = (self.apply("IsNaN", each, dtype=i1) for each in (elements, found))
            hits = self.apply("Or", hits, self.apply("And", *undefined))
        hits = self.cast(self.apply("And", hits, self.cast(inside, i1)), ui8)
        options: dict[str, Any] = {
            "sizes": elements.sizes[1:],
            "dtype": si64,
            "axis": 0,
            "keepdims": 0,
        }
        nth = self.node("ArgMax", hits, **options)
        if element_types.is_float(x.dtype):  # of several NaNs PyTorch takes the last
            last = self.node("ArgMax", hits, select_last_index=1, **options)
            nth = self.select(self.apply("IsNaN", found, dtype=i1), last, nth)
        rows = self.apply("Div", nth, window.kernel[1])
        columns = self.apply("Mod", nth, window.kernel[1])
        places = [
            self.apply(
                "Add",
                self.apply("Mul", each, window.dilations[axis]),
                _starts(self, window, axis),
            )
            for axis, each in enumerate((rows, columns))
        ]
        place = self.apply("Add", self.apply("Mul", places[0], window.plane[1]), places[1])
        return [found, place]


def _pool(
    lower: OnnxLowering, name: str, x: Tensor, window: Window, fill: Number, **attributes: Any
) -> Tensor:
    """A pooling operator over ``[n, c, h, w]``; padding that no attribute can say is put around the input."""
    pads, sizes = [*window.padding, *window.ends], (*x.sizes[:2], *window.counts)
    if not all(isinstance(p, int) and p < max(window.kernel) for p in pads):
        x, pads = window.padded(lower, x, fill), [0, 0, 0, 0]
    dilated = any(d != 1 for d in window.dilations)
    return lower.node(
        name,
        x,
        sizes=sizes,
        dtype=x.dtype,
        kernel_shape=window.kernel,
        strides=window.strides,
        pads=pads,
        dilations=window.dilations if dilated else None,
        **attributes,
    )


def _elements(lower: OnnxLowering, x: Tensor, window: Window, fill: Number) -> Tensor:
    """The elements of each window along a new first dimension: of ``[n, c, h, w]``, ``[kh * kw, n, c, oh, ow]``."""
    x, sizes, parts = window.padded(lower, x, fill), (*x.sizes[:2], *window.counts), []
    for place in product(*map(range, window.kernel)):
        starts = [0, 0, *(p * d for p, d in zip(place, window.dilations, strict=True))]
        part = lower.slice(x, starts, sizes, [1, 1, *window.strides])
        parts.append(lower.reshape(part, (1, *sizes)))
    return lower.concatenate(parts, 0)


def _starts(lower: OnnxLowering, window: Window, axis: int) -> Tensor:
    """The row or column of the plane that each window begins in, as ``[oh, 1]`` or ``[ow]``."""
    numbers = lower.iota((window.counts[axis],), 0, si64)
    places = lower.apply("Mul", numbers, window.strides[axis])
    places = lower.apply("Sub", places, window.padding[axis])
    return lower.reshape(places, (window.counts[0], 1)) if axis == 0 else places


def _maximum(lower: OnnxLowering, x: Tensor, window: Window) -> Tensor:
    """The maxima. ONNX's operator has no say on NaN, and ONNX Runtime's starts from the lowest finite number.

    So what the windows have is pooled too: 2 for a NaN, 1 for a number that is not the lowest, else 0. Where there is
    no negative infinity the mean is undefined just where an element is, and engines take both pools in one layout.
    """
    lowest = element_types.lowest(x.dtype)
    if not element_types.is_float(x.dtype):
        elements = _elements(lower, x, window, lowest)
        return lower.reduce("max", elements, [0], x.dtype, elements.sizes[1:])
    found = _pool(lower, "MaxPool", x, window, lowest)
    is_dense = all(
        d == 1 for d in window.dilations
    )  # then every window begins before the plane ends
    if x.dtype == f32 and is_dense and is_bounded_below(x.value):
        mean = _pool(lower, "AveragePool", x, window, 0, count_include_pad=1)
        return lower.select(lower.apply("IsNaN", mean, dtype=i1), mean, found)
    undefined = lower.cast(lower.apply("IsNaN", x, dtype=i1), f32)
    above = lower.cast(lower.compare("gt", x, lowest), f32)
    kinds = lower.apply("Add", lower.apply("Add", undefined, undefined), above)
    kind = _pool(lower, "MaxPool", kinds, window, 0)
    finite = lower.select(lower.compare("gt", kind, 0.5), found, lowest)
    return lower.select(lower.compare("gt", kind, 1.5), math.nan, finite)
