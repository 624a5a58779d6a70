"""Writing elements to positions that tensors tell, in StableHLO: one scatter each."""

from __future__ import annotations

from xdsl.ir import Attribute

from torch2mlir.conversion.indexing import Positions, covered
from torch2mlir.conversion.lowering import Operand, Tensor
from torch2mlir.conversion.torch_to_stablehlo.indexing import starts
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering
from torch2mlir.conversion.torch_to_stablehlo.reduction import COMBINING
from torch2mlir.dialects import stablehlo as hlo


class Writes(StablehloLowering):
    """The words that write at positions."""

    def scatter(
        self, x: Tensor, axis: int, index: Tensor, source: Operand, word: str | None
    ) -> Tensor:
        if not isinstance(source, Tensor):
            source = self.splat(source, index.sizes, x.dtype)
        others = [d for d in range(x.rank) if d != axis]
        numbers = hlo.ScatterDimensionNumbersAttr(
            inserted_window_dims=[axis],
            input_batching_dims=others,
            scatter_indices_batching_dims=others,
            scatter_dims_to_operand_dims=[axis],
            index_vector_dim=index.rank,
        )
        part = covered(self, x, axis, index)
        result = _scattered(self, part, index, source, numbers, word)
        if part is not x:
            start = self.size(0)
            operands = [x, result, *[start] * x.rank]
            result = self.op(hlo.DynamicUpdateSliceOp, operands, x.sizes, x.dtype)
        return result

    def put(self, x: Tensor, at: Positions, values: Tensor, word: str | None) -> Tensor:
        numbers = hlo.ScatterDimensionNumbersAttr(
            update_window_dims=at.slice_dims(x),
            inserted_window_dims=at.axes,
            scatter_dims_to_operand_dims=at.axes,
            index_vector_dim=len(at.sizes),
        )
        places = starts(self, x, at)
        updates = self.broadcast_to(values, at.indexed_sizes(x))
        return _scattered(self, x, places, updates, numbers, word)


def _scattered(
    lower: StablehloLowering,
    x: Tensor,
    indices: Tensor,
    updates: Tensor,
    numbers: hlo.ScatterDimensionNumbersAttr,
    word: str | None,
) -> Tensor:
    """``x`` with updates written, or combined with what is there by a word."""
    if word is None:
        body = hlo.assign_body(lower.element_type(x.dtype), lower.location)
    else:
        body = lower.combiner(COMBINING[word], x.dtype)
    properties: dict[str, Attribute] = {"scatter_dimension_numbers": numbers}
    operands = [x, indices, updates]
    return lower.op(hlo.ScatterOp, operands, x.sizes, x.dtype, properties, [body])
