"""Pooling in ONNX, over the last two dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

from xdsl.dialects.builtin import f32, i1

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import si64, widened
from torch2mlir.conversion.lowering import Number, Tensor
from torch2mlir.conversion.torch_to_onnx.lowering import OnnxLowering, lowers
from torch2mlir.conversion.torch_to_onnx.words import ui8
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize


class Window:
    """A window over the plane, in the words of ONNX's attributes.

    ``ceil_mode`` of PyTorch leaves out a last window that begins behind the padding; the padding at the end says how
    many windows there are, so that no engine has to agree on that.
    """

    def __init__(
        self,
        lower: OnnxLowering,
        x: Tensor,
        kernel: Sequence[int],
        stride: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
    ) -> None:
        self.lower = lower
        self.plane = x.sizes[-2:]
        self.windows = lower.out.sizes[-2:]
        self.kernel = list(kernel)
        self.strides = list(stride)
        self.padding = list(padding)
        self.dilations = list(dilation)
        self.ends = [self._after(axis) for axis in (0, 1)]

    def _after(self, axis: int) -> KnownSize:
        """The padding at the end: as much as at the start, and what the last window of ceil_mode needs."""
        padding, size, windows = self.padding[axis], self.plane[axis], self.windows[axis]
        reach = self.dilations[axis] * (self.kernel[axis] - 1) + 1
        inside = dims.sub(dims.add(size, 2 * padding), reach)
        if dims.add(dims.floordiv(inside, self.strides[axis]), 1) == windows:
            return padding
        needed = dims.add(dims.mul(dims.sub(windows, 1), self.strides[axis]), reach)
        return dims.maximum(dims.sub(needed, dims.add(size, padding)), padding)

    @property
    def leaves_the_padding(self) -> bool:
        """Whether a window of ceil_mode reaches over the padded plane."""
        return any(end != low for end, low in zip(self.ends, self.padding, strict=True))

    def pool(self, name: str, x: Tensor, fill: Number, **attributes: Any) -> Tensor:
        """A pooling operator over ``[n, c, h, w]``; padding that no attribute can say is put around the input."""
        pads = [*self.padding, *self.ends]
        kernel = max(self.kernel)
        plain = all(isinstance(p, int) and p < kernel for p in pads)
        if not plain:
            x = self.lower.pad(x, [0, 0, *self.padding], [0, 0, *self.ends], fill)
            pads = [0, 0, 0, 0]
        return self.lower.node(
            name,
            x,
            sizes=(*x.sizes[:2], *self.windows),
            dtype=x.dtype,
            kernel_shape=self.kernel,
            strides=self.strides,
            pads=pads,
            dilations=self.dilations if any(d != 1 for d in self.dilations) else None,
            **attributes,
        )

    def unpadded(self, name: str, x: Tensor) -> Tensor:
        """A pooling operator over a tensor that has its padding."""
        sizes = (*x.sizes[:2], *self.windows)
        options = {"kernel_shape": self.kernel, "strides": self.strides}
        return self.lower.node(name, x, sizes=sizes, dtype=x.dtype, **options)

    def elements(self, x: Tensor, fill: Number) -> Tensor:
        """The elements of each window along a new first dimension: of ``[n, c, h, w]``, ``[kh * kw, n, c, oh, ow]``."""
        lower = self.lower
        x = lower.pad(x, [0, 0, *self.padding], [0, 0, *self.ends], fill)
        sizes = (*x.sizes[:2], *self.windows)
        steps = [1, 1, *self.strides]
        parts = []
        for place in product(*map(range, self.kernel)):
            starts = [0, 0, *(p * d for p, d in zip(place, self.dilations, strict=True))]
            part = lower.slice(x, starts, sizes, steps)
            parts.append(lower.reshape(part, (1, *sizes)))
        return lower.concatenate(parts, 0)

    def starts(self, axis: int) -> Tensor:
        """The row or column of the plane that each window begins in, as ``[oh, 1]`` or ``[ow]``."""
        lower = self.lower
        numbers = lower.iota((self.windows[axis],), 0, si64)
        places = lower.apply("Mul", numbers, self.strides[axis])
        places = lower.apply("Sub", places, self.padding[axis])
        return lower.reshape(places, (self.windows[0], 1)) if axis == 0 else places


def _batched(lower: OnnxLowering, x: Tensor) -> Tensor:
    """A tensor of the rank that ONNX's pools have."""
    return x if x.rank == 4 else lower.reshape(x, (*[1] * (4 - x.rank), *x.sizes))


@lowers("aten.max_pool2d_with_indices")
def max_pool2d_with_indices(
    lower: OnnxLowering,
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> list[Tensor | None]:
    """The maximum of each window, NaN if there is one, and its place in the plane if that is used."""
    window = Window(lower, x, kernel, stride, padding, dilation)
    x = _batched(lower, x)
    if lower.used[1]:
        return [*_with_places(lower, x, window)]
    return [lower.reshape(_maximum(lower, x, window), lower.out.sizes), None]


def _maximum(lower: OnnxLowering, x: Tensor, window: Window) -> Tensor:
    """The maxima. ONNX's operator has no say on NaN, and ONNX Runtime's starts from the lowest finite number.

    So what the windows have is pooled too: 2 for a NaN, 1 for a number that is not the lowest, else 0.
    """
    lowest = element_types.lowest(x.dtype)
    if not element_types.is_float(x.dtype):
        elements = window.elements(x, lowest)
        return lower.reduce("max", elements, [0], x.dtype, elements.sizes[1:])
    found = window.pool("MaxPool", x, lowest)
    undefined = lower.cast(lower.apply("IsNaN", x, dtype=i1), f32)
    above = lower.cast(lower.compare("Greater", x, lowest), f32)
    kinds = lower.apply("Add", lower.apply("Add", undefined, undefined), above)
    kind = window.pool("MaxPool", kinds, 0)
    finite = lower.select(lower.compare("Greater", kind, 0.5), found, lowest)
    return lower.select(lower.compare("Greater", kind, 1.5), math.nan, finite)


def _with_places(lower: OnnxLowering, x: Tensor, window: Window) -> list[Tensor]:
    """The maximum of each window and the first place of the plane where it is, of NaNs the last; padding is none."""
    elements = window.elements(x, element_types.lowest(x.dtype))
    inside = window.elements(lower.splat(1, (1, 1, *window.plane), ui8), 0)
    found = lower.reduce("max", elements, [0], x.dtype, elements.sizes[1:])
    hits = lower.compare("Equal", elements, found)
    if element_types.is_float(x.dtype):
        undefined = (lower.apply("IsNaN", each, dtype=i1) for each in (elements, found))
        hits = lower.apply("Or", hits, lower.apply("And", *undefined))
    hits = lower.cast(lower.apply("And", hits, lower.cast(inside, i1)), ui8)
    options: dict[str, Any] = {"sizes": elements.sizes[1:], "dtype": si64, "axis": 0, "keepdims": 0}
    nth = lower.node("ArgMax", hits, **options)
    if element_types.is_float(x.dtype):  # of several NaNs PyTorch takes the last
        last = lower.node("ArgMax", hits, select_last_index=1, **options)
        nth = lower.select(lower.apply("IsNaN", found, dtype=i1), last, nth)
    rows = lower.apply("Div", nth, window.kernel[1])
    columns = lower.apply("Mod", nth, window.kernel[1])
    places = [
        lower.apply(
            "Add",
            lower.apply("Mul", each, window.dilations[axis]),
            window.starts(axis),
        )
        for axis, each in enumerate((rows, columns))
    ]
    place = lower.apply("Add", lower.apply("Mul", places[0], window.plane[1]), places[1])
    results = zip((found, place), lower.results, strict=True)
    return [lower.reshape(each, result.sizes) for each, result in results]


@lowers("aten.avg_pool2d")
def avg_pool2d(
    lower: OnnxLowering,
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    """The sum of each window divided by its number of elements: those of the plane, or with its padding."""
    if not element_types.is_float(x.dtype):
        lower.fail("ONNX averages no integers", "convert them to floats before")
    window = Window(lower, x, kernel, stride, padding, [1, 1])
    x = _batched(lower, lower.cast(x, widened(x.dtype)))
    whole = count_include_pad or not any(window.padding)
    if divisor_override is None and not window.leaves_the_padding:
        average = window.pool("AveragePool", x, 0, count_include_pad=int(whole))
    else:
        average = window.pool("AveragePool", x, 0, count_include_pad=1)
        share = _share(lower, window, count_include_pad, average, divisor_override)
        average = lower.apply("Div", average, share)
    return lower.cast(lower.reshape(average, lower.out.sizes), lower.out.dtype)


def _share(
    lower: OnnxLowering,
    window: Window,
    with_padding: bool,
    average: Tensor,
    divisor: int | None,
) -> Tensor | Number:
    """The divisor over the size of a window: the average of ones where the plane, or the padded plane, is."""
    if divisor is not None:
        return divisor / (window.kernel[0] * window.kernel[1])
    counted, ends, low = list(window.plane), window.ends, window.padding
    ones = lower.splat(1, (1, 1, *counted), average.dtype)
    if with_padding:
        ones = lower.pad(ones, [0, 0, *low], [0, 0, *low], 1)
        ends = [dims.sub(end, p) for end, p in zip(ends, low, strict=True)]
        low = [0, 0]
    padded = lower.pad(ones, [0, 0, *low], [0, 0, *ends], 0)
    return window.unpadded("AveragePool", padded)
