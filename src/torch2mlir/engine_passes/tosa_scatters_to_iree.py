"""``tosa-scatters-to-iree``: a ``tosa.scatter`` of known sizes, or of one batch, becomes ``iree_linalg_ext.scatter``.

IREE 3.13 compiles ``tosa.scatter`` to a comparison of every place with every index, or, of unknown sizes, to a loop. It
begins with the whole allocation that the values are a part of, so that what it does not write may be anything. Indices
outside, which TOSA leaves undefined, are held inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith, tensor
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
from torch2mlir.conversion.torch_to_linalg.scalars import default_properties
from torch2mlir.dialects import iree_linalg_ext, tensor_ext, tosa
from torch2mlir.dialects.tensors import element_of
from torch2mlir.engine_passes.beside import INDEX, Beside


class TosaScattersToIreePass(PassForOps):
    """See the module's docstring."""

    name = "tosa-scatters-to-iree"
    looks_for = frozenset({tosa.ScatterOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for scatter in [each for each in op.walk() if isinstance(each, tosa.ScatterOp)]:
            shapes = [_shape(value) for value in scatter.operands]
            if element_of(scatter.operands[1]) != i32 or any(0 in shape for shape in shapes):
                continue
            if all(DYNAMIC_INDEX not in shape for shape in shapes):
                _Rewrite(scatter).run()
            elif shapes[0][0] == shapes[1][0] == shapes[2][0] == 1:
                _RewriteOfUnknown(scatter).run()


def _shape(value: SSAValue) -> tuple[int, ...]:
    type = value.type
    return type.get_shape() if isinstance(type, TensorType) else (DYNAMIC_INDEX,)


class _Rewrite(Beside):
    """One op's replacement: batches become one, of ``N * K`` rows."""

    def run(self) -> None:
        values, indices, rows = self.op.operands
        (batches, places, channels), (_, count) = _shape(values), _shape(indices)
        flat = self._reshaped(self._moved(indices, places), [batches * count, 1])
        original = self._reshaped(values, [batches * places, channels])
        updates = self._reshaped(rows, [batches * count, channels])
        result = self._scattered(updates, flat, original)
        self.replace(self._reshaped(result, [batches, places, channels]))

    def _scattered(self, updates: SSAValue, indices: SSAValue, values: SSAValue) -> SSAValue:
        """``[n, channels]`` to the places ``[n, 1]`` of ``[places, channels]``."""
        properties: dict[str, Attribute] = {
            "dimension_map": DenseArrayBase.from_list(i64, [0]),
            "unique_indices": BoolAttr.from_bool(False),
        }
        element = element_of(values)
        block = Block(arg_types=[element, element])
        block.add_op(iree_linalg_ext.YieldOp.create(operands=[block.args[0]]))
        operands, body = [updates, indices, values], Region(block)
        return self.value(iree_linalg_ext.ScatterOp, operands, values.type, properties, [body])

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


class _RewriteOfUnknown(_Rewrite):
    """As :class:`_Rewrite`, of one batch with sizes that are not known."""

    def run(self) -> None:
        values, indices, rows = self.op.operands
        (_, places, channels), (_, count) = _shape(values), _shape(indices)
        held = self.value(tosa.MaximumOp, [indices, self._column([0])], indices.type)
        held = self.value(tosa.MinimumOp, [held, self._last(values)], indices.type)
        flat = self._collapsed(held, [[0, 1]], [count])
        flat = self._expanded(flat, [[0, 1]], [count, 1], [(indices, 1)])
        updates = self._collapsed(rows, _BATCH, [count, channels])
        original = self._collapsed(values, _BATCH, [places, channels])
        result = self._scattered(updates, flat, original)
        sizes, unknown = [1, places, channels], [(values, 1), (values, 2)]
        self.replace(self._expanded(result, _BATCH, sizes, unknown))

    def _last(self, values: SSAValue) -> SSAValue:
        """The last place, as a column of one."""
        size = self.value(tensor.DimOp, [values, self.index(1)], INDEX)
        flags = default_properties(arith.SubiOp)
        last = self.value(arith.SubiOp, [size, self.index(1)], INDEX, flags)
        last = self.value(arith.IndexCastOp, [last], i32)
        return self.value(tensor.FromElementsOp, [last], TensorType(i32, [1, 1]))

    def _collapsed(
        self, x: SSAValue, groups: Sequence[Sequence[int]], sizes: Sequence[int]
    ) -> SSAValue:
        type = TensorType(element_of(x), sizes)
        return self.value(
            tensor.CollapseShapeOp, [x], type, {"reassociation": _reassociation(groups)}
        )

    def _expanded(
        self,
        x: SSAValue,
        groups: Sequence[Sequence[int]],
        sizes: Sequence[int],
        known: Sequence[tuple[SSAValue, int]],
    ) -> SSAValue:
        """``known`` are tensors and dimensions that have the sizes, where the type does not."""
        unknown = [
            self.value(tensor.DimOp, [tensor_, self.index(axis)], INDEX)
            for tensor_, axis in known
            if _shape(tensor_)[axis] == DYNAMIC_INDEX
        ]
        properties: dict[str, Attribute] = {
            "reassociation": _reassociation(groups),
            "static_output_shape": DenseArrayBase.from_list(i64, list(sizes)),
        }
        type = TensorType(element_of(x), sizes)
        return self.value(tensor_ext.ExpandShapeOp, [x, *unknown], type, properties)


_BATCH = [[0, 1], [2]]
"""A batch of one and its places, and channels."""


def _one_group(rank: int) -> Attribute:
    return _reassociation([range(rank)])


def _reassociation(groups: Sequence[Sequence[int]]) -> Attribute:
    return ArrayAttr([ArrayAttr([IntegerAttr(d, i64) for d in group]) for group in groups])
