"""Pooling in StableHLO: ``reduce_window``."""

from __future__ import annotations

from xdsl.ir import Attribute, Region, SSAValue

from torch2mlir.contract.element_types import highest, lowest, neutral, si64
from torch2mlir.conversion.expressions import Expr
from torch2mlir.conversion.lowering import Number, Tensor
from torch2mlir.conversion.pooling import Window
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering
from torch2mlir.conversion.torch_to_stablehlo.reduction import COMBINING
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.torch import dims


class Pools(StablehloLowering):
    """The words that combine the elements of windows."""

    def pool(self, word: str, x: Tensor, window: Window) -> Tensor:
        init, sizes = neutral(word, x.dtype), (*x.sizes[:2], *window.counts)
        x, properties = _windows(self, x, window, init)
        return self.reduce_window(COMBINING[word], x, init, sizes, properties)

    def max_pool_places(self, x: Tensor, window: Window) -> list[Tensor]:
        """Of pairs of an element and its place; padding comes after every place."""
        flat = self.iota((dims.product(window.plane),), 0, si64)
        places = self.broadcast_to(self.reshape(flat, window.plane), x.sizes)
        sizes, dtypes = (*x.sizes[:2], *window.counts), (x.dtype, si64)
        starts = (lowest(x.dtype), highest(si64))
        inits = [self.splat(s, (), dtype) for s, dtype in zip(starts, dtypes, strict=True)]
        x, properties = _windows(self, x, window, starts[0])
        places, _ = _windows(self, places, window, starts[1])
        op = self.emit(
            hlo.ReduceWindowOp,
            [t.value for t in (x, places, *inits)],
            [self.tensor_type(sizes, dtype) for dtype in dtypes],
            properties,
            [_greater(self, x.dtype)],
        )
        return [Tensor(v, sizes, dtype) for v, dtype in zip(op.results, dtypes, strict=True)]


def _greater(lower: StablehloLowering, dtype: Attribute) -> Region:
    """The body that chooses of two elements and their places: NaN before numbers, its last; of equals the first."""

    def build(a: SSAValue, i: SSAValue, b: SSAValue, j: SSAValue) -> list[SSAValue]:
        x, y = (Expr(lower.words, Tensor(value, (), dtype)) for value in (a, b))
        place, other = (Expr(lower.words, Tensor(value, (), si64)) for value in (i, j))
        wins = (x > y) | x.equals(y) & (place < other)
        if x.is_float:
            wins = wins | x.differs(x) & (y.equals(y) | (place > other))
        return [wins.where(*pair).value.value for pair in ((x, y), (place, other))]

    types = [lower.tensor_type((), each) for each in (dtype, si64)]
    return lower.region([*types, *types], build)


def _windows(
    lower: StablehloLowering, x: Tensor, window: Window, fill: Number
) -> tuple[Tensor, dict[str, Attribute]]:
    """The input and the properties of a window op over it.

    An amount of padding that is an expression of sizes cannot be a property: the input is padded itself.
    """
    edges = zip(window.padding, window.ends, strict=True)
    padding = [(0, 0), (0, 0), *((low, high) for low, high in edges if isinstance(high, int))]
    if len(padding) < x.rank:
        x, padding = window.padded(lower, x, fill), []
    options = (window.kernel, window.strides, window.dilations)
    kernel, strides, dilations = ([1, 1, *each] for each in options)
    return x, lower.window_properties(kernel, strides, dilations, padding)
