"""``onnx-sums-in-doubles``: 32-bit floats are added up in 64 bits where many may follow each other.

ONNX Runtime 1.31 adds up in the type of the elements. Of running sums the last of 10,000 was off by 2e-6 of it, of a
million by 1e-5, where eager mode's is the nearest float; the sum of the squares of fifty millions was off by 4e-3. Sums
whose length is known are added up in parts (``onnx-long-sums-by-parts``), which is faster where there are many.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, TensorType, f32, f64
from xdsl.ir import Operation

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects.onnx import op_class
from torch2mlir.dialects.tensors import element_of, shape_of
from torch2mlir.engine_passes.onnx_long_sums_by_parts import SUMS, adds_unknown
from torch2mlir.engine_passes.onnx_nodes import Nodes

_RUNNING = "onnx.CumSum"
_LONGEST = 64
"""Elements of which running sums are made as they are."""


class OnnxSumsInDoublesPass(PassForOps):
    """See the module's docstring."""

    name = "onnx-sums-in-doubles"
    looks_for = frozenset([_RUNNING, *SUMS])

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if each.name in self.looks_for]:
            if element_of(each.results[0]) == f32 and _may_be_many(each):
                before, (result,), (x, *others) = Nodes(each), each.results, each.operands
                terms = before.node("Cast", [x], x, f64, to=f64)
                kind, type = (
                    op_class(each.name.removeprefix("onnx.")),
                    TensorType(f64, shape_of(result)),
                )
                total = before.value(kind, [terms, *others], type, each.properties)
                before.replace(before.node("Cast", [total], total, f32, to=f32))


def _may_be_many(op: Operation) -> bool:
    if op.name != _RUNNING:
        return adds_unknown(op)
    sizes = shape_of(op.operands[0])
    return DYNAMIC_INDEX in sizes or max(sizes, default=0) > _LONGEST
