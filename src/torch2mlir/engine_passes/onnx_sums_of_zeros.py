"""``onnx-sums-of-zeros``: sums and means that are 0.0 where all terms are -0.0.

ONNX Runtime 1.31 begins a sum with its first term, where PyTorch begins with 0.0. A ``Sum`` with 0.0 changes no other
sum, and is not taken out as ``Add`` may be.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from torch2mlir.dialects.tensors import element_of
from torch2mlir.engine_passes.onnx_nodes import Nodes

_SUMS = ("onnx.ReduceSum", "onnx.ReduceMean")
_NEVER_NEGATIVE = ("onnx.Abs", "onnx.Exp", "onnx.Sigmoid", "onnx.Softmax")


class OnnxSumsOfZerosPass(ModulePass):
    """See the module's docstring."""

    name = "onnx-sums-of-zeros"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(op.walk()):
            if each.name in _SUMS and not _is_never_negative(each.operands[0]):
                dtype = element_of(each.results[0])
                if isinstance(dtype, AnyFloat):
                    before = Nodes(each)
                    total = before.insert(each.clone()).results[0]
                    zero = before.number(0.0, dtype)
                    before.replace(before.node("Sum", [total, zero], total, dtype))


def _is_never_negative(value: SSAValue) -> bool:
    """Whether no element is negative, or -0.0, by the operator that computes them."""
    op = value.owner
    if not isinstance(op, Operation):
        return False
    is_square = op.name == "onnx.Mul" and op.operands[0] is op.operands[1]
    return is_square or op.name in _NEVER_NEGATIVE
