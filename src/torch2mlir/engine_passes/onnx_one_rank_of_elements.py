"""``onnx-one-rank-of-elements``: an element that is computed with another of more dimensions gets these first.

OpenVINO leaves out an operator with a neutral element (``x + 0``, ``x * 1``) and takes its other operand for the
result, which has one element as well, but not its dimensions: what is computed from it is another shape, or wrong.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, TensorType, i64
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from torch2mlir.dialects.onnx import op_class
from torch2mlir.dialects.tensors import element_of, shape_of
from torch2mlir.engine_passes.onnx_nodes import Nodes

_ELEMENTWISE = frozenset(
    f"onnx.{name}"
    for name in ("Add", "And", "Div", "Max", "Min", "Mul", "Or", "Pow", "Sub", "Where", "Xor")
)


class OnnxOneRankOfElementsPass(ModulePass):
    """See the module's docstring."""

    name = "onnx-one-rank-of-elements"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(op.walk()):
            if each.name in _ELEMENTWISE and all(size == 1 for size in shape_of(each.results[0])):
                _give_dimensions(each)


def _give_dimensions(op: Operation) -> None:
    rank = len(shape_of(op.results[0]))
    for place, operand in enumerate(op.operands):
        if len(shape_of(operand)) < rank and not _is_constant(operand):
            op.operands[place] = _reshaped(Nodes(op), operand, rank)


def _is_constant(value: SSAValue) -> bool:
    """Whether a value is left out if it is neutral, never the one that is left."""
    return isinstance(value.owner, Operation) and value.owner.name == "onnx.Constant"


def _reshaped(before: Nodes, element: SSAValue, rank: int) -> SSAValue:
    type = TensorType(i64, [rank])
    literal = DenseIntOrFPElementsAttr.from_list(type, [1] * rank)
    sizes = before.value(op_class("Constant"), [], type, {"value": literal})
    result = TensorType(element_of(element), [1] * rank)
    return before.value(op_class("Reshape"), [element, sizes], result)
