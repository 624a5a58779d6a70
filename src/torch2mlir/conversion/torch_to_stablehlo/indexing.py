"""Reading elements at positions that tensors tell, in StableHLO: one gather each, or a dynamic slice.

Positions outside a tensor are held inside it, as ``stablehlo.gather`` does.
"""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue

from torch2mlir.conversion.indexing import Positions, covered
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.torch.dims import KnownSize, Sizes, is_static


class Reads(StablehloLowering):
    """The words that read at positions."""

    def take(self, x: Tensor, axis: int, index: Tensor) -> Tensor:
        sizes = (*x.sizes[:axis], *index.sizes, *x.sizes[axis + 1 :])
        if index.sizes == (1,) and is_static(sizes):
            start, first = self.reshape(index, ()), self.splat(0, (), index.dtype)
            starts = [start if d == axis else first for d in range(x.rank)]
            properties: dict[str, Attribute] = {"slice_sizes": hlo.i64_array(sizes)}
            return self.op(hlo.DynamicSliceOp, [x, *starts], sizes, x.dtype, properties)
        return _gathered(self, x, Positions([axis], [index], index.sizes, axis), index)

    def take_elements(self, x: Tensor, axis: int, index: Tensor) -> Tensor:
        others = [d for d in range(x.rank) if d != axis]
        properties: dict[str, Attribute] = {
            "dimension_numbers": hlo.GatherDimensionNumbersAttr(
                collapsed_slice_dims=[axis],
                operand_batching_dims=others,
                start_indices_batching_dims=others,
                start_index_map=[axis],
                index_vector_dim=index.rank,
            ),
            "slice_sizes": hlo.i64_array([1] * x.rank),
        }
        operands = [covered(self, x, axis, index), index]
        return self.op(hlo.GatherOp, operands, index.sizes, x.dtype, properties)

    def take_at(self, x: Tensor, at: Positions) -> Tensor:
        return _gathered(self, x, at, starts(self, x, at))


def starts(lower: StablehloLowering, x: Tensor, at: Positions) -> Tensor:
    """A position along each axis, in a last dimension of their own; along one axis, that is left out."""
    wrapped = [
        _wrapped(lower, index, x.sizes[axis])
        for axis, index in zip(at.axes, at.indices, strict=True)
    ]
    return wrapped[0] if len(wrapped) == 1 else at.columns(lower, wrapped)


def _wrapped(lower: StablehloLowering, index: Tensor, size: KnownSize) -> Tensor:
    """Negative positions count from the end."""
    from_end = lower.apply(hlo.AddOp, index, size)
    return lower.select(lower.compare("lt", index, 0), from_end, index)


def _gathered(lower: StablehloLowering, x: Tensor, at: Positions, starts: Tensor) -> Tensor:
    """``x`` with the indexed dimensions replaced by those of the indices."""
    window: Sizes = [1 if d in at.axes else size for d, size in enumerate(x.sizes)]
    properties: dict[str, Attribute] = {
        "dimension_numbers": hlo.GatherDimensionNumbersAttr(
            offset_dims=at.slice_dims(x),
            collapsed_slice_dims=at.axes,
            start_index_map=at.axes,
            index_vector_dim=len(at.sizes),
        )
    }
    operands: list[Tensor | SSAValue] = [x, starts]
    static = [size for size in window if isinstance(size, int)]
    if len(static) == len(window):
        properties["slice_sizes"] = hlo.i64_array(static)
        return lower.op(hlo.GatherOp, operands, at.indexed_sizes(x), x.dtype, properties)
    operands.append(lower.shape(window))
    return lower.op(hlo.DynamicGatherOp, operands, at.indexed_sizes(x), x.dtype, properties)
