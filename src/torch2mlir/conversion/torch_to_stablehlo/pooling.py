"""Pooling in StableHLO: ``reduce_window``."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation

from torch2mlir.contract.element_types import highest, lowest, si64, widened
from torch2mlir.conversion.lowering import Number, Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import (
    StablehloLowering,
    lowers,
)
from torch2mlir.conversion.torch_to_stablehlo.reduction import extremum_body
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize

Edges = list[tuple[KnownSize, KnownSize]]
"""Padding at the start and at the end of each dimension."""


class Window:
    """A window over the last two dimensions, the plane; its options are given for those."""

    def __init__(
        self,
        lower: StablehloLowering,
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
        self.edges: Edges = [(self.padding[axis], self._after(axis)) for axis in (0, 1)]

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
        return any(low != high for low, high in self.edges)

    def over(self, x: Tensor, init: Number, edges: Edges) -> tuple[Tensor, dict[str, Attribute]]:
        """The input and the properties of a window op over it.

        An amount of padding that is an expression of sizes cannot be a property: the input is padded itself.
        """
        outer = x.rank - 2
        padding: Edges = [(0, 0)] * outer + edges
        constant = [(a, b) for a, b in padding if isinstance(a, int) and isinstance(b, int)]
        if len(constant) < x.rank:
            low, high = zip(*padding, strict=True)
            x, constant = self.lower.pad(x, low, high, init), []
        ones = [1] * outer
        properties = self.lower.window_properties(
            ones + self.kernel, ones + self.strides, ones + self.dilations, constant
        )
        return x, properties

    def reduce(self, op_class: type[Operation], x: Tensor, init: Number, edges: Edges) -> Tensor:
        """The elements of each window combined."""
        sizes = (*x.sizes[:-2], *self.windows)
        x, properties = self.over(x, init, edges)
        return self.lower.reduce_window(op_class, x, init, sizes, properties)


@lowers("aten.max_pool2d_with_indices")
def max_pool2d_with_indices(
    lower: StablehloLowering,
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> list[Tensor | None]:
    """The maximum of each window, NaN if there is one, and its place in the plane if that is used."""
    window = Window(lower, x, kernel, stride, padding, dilation)
    if lower.used[1]:
        return [*_with_places(lower, x, window)]
    return [window.reduce(hlo.MaxOp, x, lowest(x.dtype), window.edges), None]


def _with_places(lower: StablehloLowering, x: Tensor, window: Window) -> list[Tensor]:
    """The maximum of each window and the first place of it, or the last NaN's; padding comes after every place."""
    flat = lower.iota((dims.product(window.plane),), 0, si64)
    places = lower.broadcast_to(lower.reshape(flat, window.plane), x.sizes)
    starts = (lowest(x.dtype), highest(si64))
    inits = [lower.splat(start, (), dtype) for start, dtype in zip(starts, (x.dtype, si64))]
    x, properties = window.over(x, starts[0], window.edges)
    places, _ = window.over(places, starts[1], window.edges)
    op = lower.emit(
        hlo.ReduceWindowOp,
        [t.value for t in (x, places, *inits)],
        [lower.tensor_type(r.sizes, r.dtype) for r in lower.results],
        properties,
        [extremum_body(lower, x.dtype, "GT", of_nans="GT")],
    )
    results = zip(op.results, lower.results, strict=True)
    return [Tensor(value, r.sizes, r.dtype) for value, r in results]


@lowers("aten.avg_pool2d")
def avg_pool2d(
    lower: StablehloLowering,
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    """The sum of each window divided by its number of elements: those of the plane, or with its padding."""
    window = Window(lower, x, kernel, stride, padding, [1, 1])
    total = window.reduce(hlo.AddOp, lower.cast(x, widened(x.dtype)), 0, window.edges)
    whole = count_include_pad or not any(window.padding)
    divisor: Tensor | Number
    if divisor_override is not None:
        divisor = divisor_override
    elif whole and not window.leaves_the_padding:
        divisor = window.kernel[0] * window.kernel[1]
    else:
        counts = _counts(lower, window, count_include_pad, total.dtype)
        divisor = lower.broadcast_to(counts, total.sizes)
    return lower.cast(lower.apply(hlo.DivOp, total, divisor), lower.out.dtype)


def _counts(
    lower: StablehloLowering, window: Window, with_padding: bool, dtype: Attribute
) -> Tensor:
    """How many elements of a plane, or of the padded plane, each window has: its sum of ones."""
    counted, edges = list(window.plane), window.edges
    if with_padding:
        counted = [dims.add(size, 2 * p) for size, p in zip(counted, window.padding, strict=True)]
        edges = [(0, dims.sub(high, p)) for (_, high), p in zip(edges, window.padding, strict=True)]
    return window.reduce(hlo.AddOp, lower.splat(1, counted, dtype), 0, edges)
