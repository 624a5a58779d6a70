"""``onnx-magnitudes-by-maxima``: absolute values that are written over nothing, for OpenVINO.

Its plugin, of version 2026.4, computes ``Abs`` in the memory of its operand where that is a constant or the result of a
``Concat``, whoever else reads it. The larger of a number and its negative is in memory of its own, and only a -0.0 is
still another number than its absolute value. A negative alone would not do: two of them are left out.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects.onnx import op_class
from torch2mlir.engine_passes.onnx_nodes import Nodes

_ABS = "onnx.Abs"


class OnnxMagnitudesByMaximaPass(PassForOps):
    """See the module's docstring."""

    name = "onnx-magnitudes-by-maxima"
    looks_for = frozenset({_ABS})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if each.name == _ABS]:
            x, before = each.operands[0], Nodes(each)
            negative = before.value(op_class("Neg"), [x], x.type)
            each.operands[0] = before.value(op_class("Max"), [x, negative], x.type)
