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
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import iree_linalg_ext, tensor_ext, tosa


class TosaScattersToIreePass(PassForOps):
    """See the module's docstring."""

    name = "tosa-scatters-to-iree"
    looks_for = frozenset({tosa.ScatterOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for scatter in [each for each in op.walk() if isinstance(each, tosa.ScatterOp)]:
            shapes = [_shape(value) for value in scatter.operands]
            index = scatter.operands[1].type.element_type  # type: ignore[attr-defined]
            if index == i32 and all(
                DYNAMIC_INDEX not in shape and 0 not in shape for shape in shapes
            ):
                _Rewrite(scatter).run()


def _shape(value: SSAValue) -> tuple[int, ...]:
    type = value.type
    return type.get_shape() if isinstance(type, TensorType) else (DYNAMIC_INDEX,)


class _Rewrite:
    """One op's replacement: batches become one, of ``N * K`` rows."""

    def __init__(self, op: Operation) -> None:
        self.op = op

    def run(self) -> None:
        values, indices, rows = self.op.operands
        (batches, places, channels), (_, count) = _shape(values), _shape(indices)
        element = values.type.element_type  # type: ignore[attr-defined]
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
        result = self._emit(
            iree_linalg_ext.ScatterOp, operands, original.type, properties, [Region(block)]
        )
        self.op.results[0].replace_all_uses_with(
            self._reshaped(result, [batches, places, channels])
        )
        self.op.detach()
        self.op.erase()

    def _moved(self, indices: SSAValue, places: int) -> SSAValue:
        """Indices held inside and counted over all batches."""
        batches = _shape(indices)[0]
        held = self._emit(tosa.MaximumOp, [indices, self._column([0])], indices.type)
        held = self._emit(tosa.MinimumOp, [held, self._column([places - 1])], indices.type)
        if batches == 1:
            return held
        starts = self._column([batch * places for batch in range(batches)])
        return self._emit(tosa.AddOp, [held, starts], indices.type)

    def _column(self, numbers: Sequence[int]) -> SSAValue:
        type = TensorType(i32, [len(numbers), 1])
        values = DenseIntOrFPElementsAttr.from_list(type, numbers)
        return self._emit(tosa.ConstOp, [], type, {"values": values})

    def _reshaped(self, x: SSAValue, sizes: Sequence[int]) -> SSAValue:
        """Through a single dimension."""
        element = x.type.element_type  # type: ignore[attr-defined]
        rank = len(_shape(x))
        if list(_shape(x)) == list(sizes):
            return x
        line = TensorType(element, [prod(sizes)])
        whole = {"reassociation": _one_group(rank)}
        if rank > 1:
            x = self._emit(tensor.CollapseShapeOp, [x], line, whole)
        properties: dict[str, Attribute] = {
            "reassociation": _one_group(len(sizes)),
            "static_output_shape": DenseArrayBase.from_list(i64, list(sizes)),
        }
        return self._emit(tensor_ext.ExpandShapeOp, [x], TensorType(element, sizes), properties)

    def _emit(
        self,
        kind: type[Operation],
        operands: Sequence[SSAValue],
        type: Attribute,
        properties: dict[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> SSAValue:
        new = kind.create(
            operands=operands, result_types=[type], properties=properties or {}, regions=regions
        )
        new.location = self.op.location
        block = self.op.parent
        assert block is not None
        block.insert_op_before(new, self.op)
        return new.results[0]


def _one_group(rank: int) -> Attribute:
    return ArrayAttr([ArrayAttr([IntegerAttr(d, i64) for d in range(rank)])])
