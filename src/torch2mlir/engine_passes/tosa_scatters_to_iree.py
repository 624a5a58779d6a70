"""``tosa-scatters-to-iree``: a ``tosa.scatter`` of known sizes becomes ``iree_linalg_ext.scatter``.

IREE 3.13 compiles ``tosa.scatter`` to a comparison of every place with every index. Indices outside, which TOSA leaves
undefined, are held inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.context import Context
from xdsl.dialects import tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    ModuleOp,
    TensorType,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Region, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import iree_linalg_ext, tensor_ext, tosa
from torch2mlir.dialects.tensors import element_of
from torch2mlir.engine_passes.beside import Beside


class TosaScattersToIreePass(PassForOps):
    """See the module's docstring."""

    name = "tosa-scatters-to-iree"
    looks_for = frozenset({tosa.ScatterOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for scatter in [each for each in op.walk() if isinstance(each, tosa.ScatterOp)]:
            shapes = [_shape(value) for value in scatter.operands]
            index = element_of(scatter.operands[1])
            if index == i32 and all(
                DYNAMIC_INDEX not in shape and 0 not in shape for shape in shapes
            ):
                _Rewrite(scatter).run()


def _shape(value: SSAValue) -> tuple[int, ...]:
    type = value.type
    return type.get_shape() if isinstance(type, TensorType) else (DYNAMIC_INDEX,)


class _Rewrite(Beside):
    """One op's replacement: batches become one, of ``N * K`` rows."""

    def run(self) -> None:
        values, indices, rows = self.op.operands
        (batches, places, channels), (_, count) = _shape(values), _shape(indices)
        element = element_of(values)
        flat = self._reshaped(self._moved(indices, places), [batches * count, 1])
        properties: dict[str, Attribute] = {
            "dimension_map": DenseArrayBase.from_list(i64, [0]),
            "unique_indices": BoolAttr.from_bool(False),
        }
        block = Block(arg_types=[element, element])
        block.add_op(iree_linalg_ext.YieldOp.create(operands=[block.args[0]]))
        original = self._reshaped(values, [batches * places, channels])
        updates = self._reshaped(rows, [batches * count, channels])
        operands = [updates, flat, original]
        result = self.value(
            iree_linalg_ext.ScatterOp, operands, original.type, properties, [Region(block)]
        )
        self.replace(self._reshaped(result, [batches, places, channels]))

    def _moved(self, indices: SSAValue, places: int) -> SSAValue:
        """Indices held inside and counted over all batches."""
        batches = _shape(indices)[0]
        held = self.value(tosa.MaximumOp, [indices, self._column([0])], indices.type)
        held = self.value(tosa.MinimumOp, [held, self._column([places - 1])], indices.type)
        if batches == 1:
            return held
        starts = self._column([batch * places for batch in range(batches)])
        return self.value(tosa.AddOp, [held, starts], indices.type)

    def _column(self, numbers: Sequence[int]) -> SSAValue:
        type = TensorType(i32, [len(numbers), 1])
        values = DenseIntOrFPElementsAttr.from_list(type, numbers)
        return self.value(tosa.ConstOp, [], type, {"values": values})

    def _reshaped(self, x: SSAValue, sizes: Sequence[int]) -> SSAValue:
        """Through a single dimension."""
        element = element_of(x)
        rank = len(_shape(x))
        if list(_shape(x)) == list(sizes):
            return x
        line = TensorType(element, [prod(sizes)])
        whole = {"reassociation": _one_group(rank)}
        if rank > 1:
            x = self.value(tensor.CollapseShapeOp, [x], line, whole)
        properties: dict[str, Attribute] = {
            "reassociation": _one_group(len(sizes)),
            "static_output_shape": DenseArrayBase.from_list(i64, list(sizes)),
        }
        return self.value(tensor_ext.ExpandShapeOp, [x], TensorType(element, sizes), properties)


def _one_group(rank: int) -> Attribute:
    return ArrayAttr([ArrayAttr([IntegerAttr(d, i64) for d in range(rank)])])
