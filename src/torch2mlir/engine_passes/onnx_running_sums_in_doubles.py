"""``onnx-running-sums-in-doubles``: running sums of 32-bit floats are added up in 64 bits, as PyTorch's are.

ONNX Runtime 1.31 adds up in the type of the elements: the last of 10,000 sums was off by 2e-6 of it, of a million by
1e-5, where eager mode's is the nearest float.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, f32, f64
from xdsl.ir import Operation

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects.tensors import element_of, shape_of
from torch2mlir.engine_passes.onnx_nodes import Nodes

_SUM = "onnx.CumSum"
_LONGEST = 64
"""Elements that are added up as they are."""


class OnnxRunningSumsInDoublesPass(PassForOps):
    """See the module's docstring."""

    name = "onnx-running-sums-in-doubles"
    looks_for = frozenset([_SUM])

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if each.name == _SUM]:
            if element_of(each.results[0]) == f32 and _may_be_long(each):
                before, (x, axis) = Nodes(each), each.operands
                terms = before.node("Cast", [x], x, f64, to=f64)
                total = before.node("CumSum", [terms, axis], x, f64, **each.properties)
                before.replace(before.node("Cast", [total], x, f32, to=f32))


def _may_be_long(op: Operation) -> bool:
    sizes = shape_of(op.operands[0])
    return DYNAMIC_INDEX in sizes or max(sizes, default=0) > _LONGEST
