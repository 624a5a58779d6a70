"""Reading elements at positions that tensors tell, in ONNX: one ``Gather``, ``GatherElements`` or ``GatherND`` each."""

from __future__ import annotations

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import si64
from torch2mlir.conversion.indexing import Positions, covered
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_onnx.lowering import OnnxLowering


class Reads(OnnxLowering):
    """The words that read at positions; all of them count negative ones from the end."""

    def take(self, x: Tensor, axis: int, index: Tensor) -> Tensor:
        sizes = (*x.sizes[:axis], *index.sizes, *x.sizes[axis + 1 :])
        position = as_position(self, index)
        return self.node("Gather", x, position, sizes=sizes, dtype=x.dtype, axis=axis)

    def take_elements(self, x: Tensor, axis: int, index: Tensor) -> Tensor:
        part, place = covered(self, x, axis, index), as_position(self, index)
        return self.node("GatherElements", part, place, sizes=index.sizes, dtype=x.dtype, axis=axis)

    def take_at(self, x: Tensor, at: Positions) -> Tensor:
        if len(at.axes) == 1:
            return self.take(x, at.axes[0], at.indices[0])
        turned = self.transpose(x, [*at.axes, *at.others(x)])
        sizes = (*at.sizes, *turned.sizes[len(at.axes) :])
        found = self.node("GatherND", turned, at.columns(self), sizes=sizes, dtype=x.dtype)
        return self.transpose(found, at.indexed_order(x))


def as_position(lower: OnnxLowering, index: Tensor) -> Tensor:
    """Positions in a type that ONNX indexes with."""
    is_plain = element_types.bit_width(index.dtype) in (32, 64) and not element_types.is_unsigned(
        index.dtype
    )
    return index if is_plain else lower.cast(index, si64)
