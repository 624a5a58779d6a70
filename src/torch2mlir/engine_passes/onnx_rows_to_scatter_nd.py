"""``onnx-rows-to-scatter-nd``: rows that are combined with others by ``ScatterND``, which takes them whole.

The conversion has ``ScatterElements`` of as many equal positions as a row has elements, which is right everywhere and
takes ONNX Runtime 40 times as long. Its ``ScatterND`` is wrong on several threads; the engine sees to that.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects.onnx import op_class
from torch2mlir.dialects.tensors import shape_of
from torch2mlir.engine_passes.onnx_nodes import Nodes

_ELEMENTS = "onnx.ScatterElements"


class OnnxRowsToScatterNdPass(PassForOps):
    """See the module's docstring."""

    name = "onnx-rows-to-scatter-nd"
    looks_for = frozenset({_ELEMENTS})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if each.name == _ELEMENTS]:
            if "reduction" in each.properties and (rows := _rows(each)) is not None:
                x, _, updates = each.operands
                before, written = Nodes(each), {"reduction": each.properties["reduction"]}
                kind, type = op_class("ScatterND"), each.results[0].type
                before.replace(before.value(kind, [x, rows, updates], type, written))


def _rows(op: Operation) -> SSAValue | None:
    """The position of each row, ``[n, 1]``, where all elements of one have the same."""
    places, axis = op.operands[1], op.properties.get("axis")
    expand = places.owner
    if (
        not isinstance(expand, Operation)
        or expand.name != "onnx.Expand"
        or len(shape_of(places)) != 2
    ):
        return None
    is_first = axis is None or (isinstance(axis, IntegerAttr) and axis.value.data == 0)
    rows = expand.operands[0]
    has_rows = shape_of(rows)[1:] == (1,) and shape_of(rows)[0] == shape_of(places)[0]
    return rows if is_first and has_rows else None
