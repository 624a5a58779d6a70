"""New operators of ONNX beside one that is there."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType, i64
from xdsl.ir import Attribute, SSAValue

from torch2mlir.dialects.onnx import op_class
from torch2mlir.dialects.tensors import shape_of
from torch2mlir.engine_passes.beside import Beside


class Nodes(Beside):
    """Inserts operators before one."""

    def number(self, value: float, dtype: Attribute) -> SSAValue:
        """A constant of rank 0."""
        type = TensorType(dtype, [])
        literal = DenseIntOrFPElementsAttr.from_list(type, [value])  # type: ignore[type-var]
        return self.value(op_class("Constant"), [], type, {"value": literal})

    def integers(self, values: Sequence[int]) -> SSAValue:
        """A constant list of i64."""
        type = TensorType(i64, [len(values)])
        literal = DenseIntOrFPElementsAttr.from_list(type, list(values))
        return self.value(op_class("Constant"), [], type, {"value": literal})

    def held(self, value: SSAValue) -> SSAValue:
        """The larger of a tensor and itself, which optimizers keep between what computes and what reads it."""
        return self.value(op_class("Max"), [value, value], value.type)

    def node(
        self,
        name: str,
        operands: Sequence[SSAValue],
        like: SSAValue,
        dtype: Attribute,
        **properties: Attribute,
    ) -> SSAValue:
        """An operator on all elements, with a result of the shape of ``like``."""
        type = TensorType(dtype, shape_of(like))
        return self.value(op_class(name), operands, type, properties)
