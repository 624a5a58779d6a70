"""Writing elements to positions that tensors tell, in ONNX: one ``ScatterElements`` or ``ScatterND`` each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import neutral, si32, widened
from torch2mlir.conversion.indexing import Positions
from torch2mlir.conversion.lowering import Operand, Tensor
from torch2mlir.conversion.torch_to_onnx.indexing import as_position
from torch2mlir.conversion.torch_to_onnx.lowering import OnnxLowering
from torch2mlir.conversion.torch_to_onnx.words import ui8
from torch2mlir.dialects.torch.dims import KnownSize


class Writes(OnnxLowering):
    """The words that write at positions; half floats are combined in f32."""

    def scatter(
        self, x: Tensor, axis: int, index: Tensor, source: Operand, word: str | None
    ) -> Tensor:
        dtype, computed, place = x.dtype, _combined_in(x, word), as_position(self, index)
        x = self.cast(x, computed)
        if isinstance(source, Tensor):
            updates = self.cast(source, computed)
        else:
            updates = self.splat(source, index.sizes, computed)

        def write(x: Tensor, updates: Tensor, word: str | None = word) -> Tensor:
            options = {"axis": axis, "reduction": word}
            operands = (x, place, updates)
            return self.node("ScatterElements", *operands, sizes=x.sizes, dtype=x.dtype, **options)

        if word in ("max", "min") and element_types.is_float(computed):
            return self.cast(_extremum(self, x, updates, write, word), dtype)
        return self.cast(write(x, updates), dtype)

    def put(self, x: Tensor, at: Positions, values: Tensor, word: str | None) -> Tensor:
        dtype, computed, to_front = x.dtype, _combined_in(x, word), [*at.axes, *at.others(x)]
        turned, order = self.transpose(self.cast(x, computed), to_front), at.indexed_order(x)
        in_front: tuple[KnownSize, ...] = (*at.sizes, *turned.sizes[len(at.axes) :])
        updates = self.broadcast_to(self.cast(values, computed), [in_front[d] for d in order])
        updates = self.transpose(updates, _inverse(order))
        operands, sizes = (turned, at.columns(self), updates), turned.sizes
        result = self.node("ScatterND", *operands, sizes=sizes, dtype=computed, reduction=word)
        return self.cast(self.transpose(result, _inverse(to_front)), dtype)


def _extremum(
    lower: OnnxLowering, x: Tensor, updates: Tensor, write: Callable[..., Tensor], word: str
) -> Tensor:
    """An extremum that is NaN where an element is, of which ONNX says nothing: NaNs are written by themselves."""
    start = neutral(word, x.dtype)
    undefined = [lower.apply("IsNaN", each, dtype=i1) for each in (x, updates)]
    numbers = (
        lower.select(nan, start, each) for nan, each in zip(undefined, (x, updates), strict=True)
    )
    any_nan = write(*(lower.cast(each, si32) for each in undefined), "max")
    return lower.select(lower.cast(any_nan, i1), math.nan, write(*numbers))


def _combined_in(x: Tensor, word: str | None) -> Attribute:
    if word is None:
        return x.dtype
    return ui8 if element_types.is_bool(x.dtype) else widened(x.dtype)


def _inverse(permutation: Sequence[int]) -> list[int]:
    return sorted(range(len(permutation)), key=permutation.__getitem__)
