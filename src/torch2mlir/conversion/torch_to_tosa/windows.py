"""What convolutions and pools share: windows that slide over dimensions, whose sizes TOSA wants to come out even."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DenseArrayBase

from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering
from torch2mlir.dialects.tensors import i64_array
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize, Sizes


@dataclass(frozen=True)
class Window:
    """A window along one dimension, ``span`` elements wide with its dilation, and the padding on both sides."""

    size: int
    stride: int
    dilation: int
    low: int
    high: int

    @property
    def span(self) -> int:
        """From the first to the last element."""
        return (self.size - 1) * self.dilation + 1

    def left_over(self, length: KnownSize, count: KnownSize) -> KnownSize:
        """Elements after the last of ``count`` windows over a padded dimension; negative if some are missing."""
        used = dims.add(dims.mul(dims.sub(count, 1), self.stride), self.span)
        return dims.sub(dims.add(length, self.low + self.high), used)


def fitted(
    lower: TosaLowering, x: Tensor, windows: Sequence[Window], counts: Sizes
) -> tuple[Tensor, list[Window]]:
    """``x`` (channels last) and windows such that nothing is left over behind the last window, as TOSA demands.

    What is left over is taken from the padding at the end, then from the tensor. Of a size known at run time it must
    show in the expression; otherwise the op stands as it is, and its result is rounded down.
    """
    sizes, result = list(x.sizes), []
    for axis, (window, count) in enumerate(zip(windows, counts, strict=True), 1):
        left = window.left_over(sizes[axis], count)
        high = window.high - left if isinstance(left, int) else window.high
        if high < 0:
            sizes[axis] = dims.add(sizes[axis], high)
        low = (window.size, window.stride, window.dilation, window.low)
        result.append(Window(*low, max(high, 0)))
    return lower.slice(x, [0] * x.rank, sizes, [1] * x.rank), result


def pads(windows: Sequence[Window]) -> DenseArrayBase:
    """The property ``pad``: before and after each dimension."""
    return i64_array([amount for window in windows for amount in (window.low, window.high)])
