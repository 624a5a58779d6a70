"""Pooling in StableHLO: ``reduce_window``."""

from __future__ import annotations

from collections.abc import Sequence

from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering, lowers
from torch2mlir.conversion.torch_to_stablehlo.reduction import _extreme_body, lowest
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.torch.dims import KnownSize


class Window:
    """A pooling window over the last dimensions, with the padding that ``ceil_mode`` adds at the end."""

    def __init__(
        self,
        lower: StablehloLowering,
        x: Tensor,
        kernel: Sequence[int],
        stride: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
        ceil_mode: bool,
    ) -> None:
        spatial = len(kernel)
        outer = x.rank - spatial
        stride = list(stride) or list(kernel)
        self.outer = outer
        self.size = [1] * outer + list(kernel)
        self.strides = [1] * outer + _spread(stride, spatial)
        self.dilations = [1] * outer + _spread(dilation, spatial)
        low = [0] * outer + _spread(padding, spatial)
        self.padding = [
            (edge, edge + self._extra(lower, x.sizes[i], i, edge) if ceil_mode else edge)
            for i, edge in enumerate(low)
        ]
        self.declared = low

    def _extra(self, lower: StablehloLowering, size: KnownSize, axis: int, edge: int) -> int:
        """What the last window reaches over the padded end."""
        if axis < self.outer:
            return 0
        length = lower.static(size, "a size pooled with ceil_mode")
        steps = lower.static(lower.out.sizes[axis], "a size pooled with ceil_mode") - 1
        reach = steps * self.strides[axis] + self.dilations[axis] * (self.size[axis] - 1) + 1
        return max(reach - length - 2 * edge, 0)


def _spread(values: Sequence[int], count: int) -> list[int]:
    return list(values) * count if len(values) == 1 else list(values)


@lowers("aten.max_pool2d_with_indices")
def max_pool2d_with_indices(
    lower: StablehloLowering,
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> tuple[Tensor, Tensor | None]:
    """The largest element of each window, and where it is in its flattened plane if that is used."""
    window = Window(lower, x, _spread(kernel, 2), stride, padding, dilation, ceil_mode)
    sizes = lower.results[0].sizes
    if not lower.used[1]:
        values = lower.reduce_window(
            hlo.MaxOp,
            x,
            lowest(x.dtype),
            window.size,
            strides=window.strides,
            dilations=window.dilations,
            padding=window.padding,
            sizes=sizes,
        )
        return values, None
    plane = lower.op(
        hlo.AddOp,
        [_row_starts(lower, x), lower.iota(x.sizes, x.rank - 1, lower.si64)],
        x.sizes,
        lower.si64,
    )
    inits = [lower.splat(lowest(x.dtype), (), x.dtype), lower.splat(0, (), lower.si64)]
    op = lower.emit(
        hlo.ReduceWindowOp,
        [x.value, plane.value, *(init.value for init in inits)],
        [lower.tensor_type(sizes, x.dtype), lower.tensor_type(sizes, lower.si64)],
        lower.window_properties(window.size, window.strides, window.dilations, window.padding),
        [_extreme_body(lower, x, "GT")],
    )
    return Tensor(op.results[0], sizes, x.dtype), Tensor(op.results[1], sizes, lower.si64)


def _row_starts(lower: StablehloLowering, x: Tensor) -> Tensor:
    """The flat index of the first element of each row of a plane."""
    row = lower.iota(x.sizes, x.rank - 2, lower.si64)
    width = lower.splat(x.sizes[-1], x.sizes, lower.si64)
    return lower.op(hlo.MulOp, [row, width], x.sizes, lower.si64)


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
    """The mean of each window; of the elements inside the input, or with the declared padding."""
    window = Window(lower, x, _spread(kernel, 2), stride, padding, [1], ceil_mode)
    total = _window_sum(lower, x, window, lower.out.sizes)
    count = window.size[-1] * window.size[-2]
    padded = any(window.declared)
    overhang = any(high != edge for (_, high), edge in zip(window.padding, window.declared))
    if divisor_override is not None or not (overhang or (padded and not count_include_pad)):
        divisor = lower.splat(divisor_override or count, total.sizes, x.dtype)
    else:
        divisor = lower.broadcast_to(_counts(lower, x, window, count_include_pad), total.sizes)
    return lower.op(hlo.DivOp, [total, divisor], total.sizes, x.dtype)


def _window_sum(
    lower: StablehloLowering, x: Tensor, window: Window, sizes: Sequence[KnownSize]
) -> Tensor:
    return lower.reduce_window(
        hlo.AddOp, x, 0, window.size, strides=window.strides, padding=window.padding, sizes=sizes
    )


def _counts(lower: StablehloLowering, x: Tensor, window: Window, with_padding: bool) -> Tensor:
    """How many elements each window counts: the windowed sum of ones."""
    plane = (1, *x.sizes[-2:])
    ones = lower.splat(1, plane, x.dtype)
    inner = Window.__new__(Window)
    inner.size, inner.strides = window.size[-3:], window.strides[-3:]
    inner.padding = [(0, 0), *window.padding[-2:]]
    if with_padding:
        edges = [0, *window.declared[-2:]]
        ones = lower.pad(ones, edges, edges, 1)
        inner.padding = [
            (low - edge, high - edge)
            for (low, high), edge in zip(inner.padding, edges, strict=True)
        ]
    return _window_sum(lower, ones, inner, (1, *lower.out.sizes[-2:]))
