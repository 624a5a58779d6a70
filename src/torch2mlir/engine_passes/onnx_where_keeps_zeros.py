"""``onnx-where-keeps-zeros``: a choice between floats that keeps the sign of every zero on ONNX Runtime.

ONNX Runtime 1.31 chooses by filling both operands with zeros where the other one is chosen, and then takes the first
where that is not 0: a -0.0 chosen from the first operand is 0.0. From the second operand it is taken as it is. So a
constant without negative zeros comes first, and what varies on both sides is chosen by its bits.
"""

from __future__ import annotations

import math

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    IntegerType,
    ModuleOp,
    TensorType,
    i1,
)
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from torch2mlir.engine_passes.onnx_nodes import Nodes


class OnnxWhereKeepsZerosPass(ModulePass):
    """See the module's docstring."""

    name = "onnx-where-keeps-zeros"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(op.walk()):
            if each.name == "onnx.Where" and isinstance(each.results[0].type, TensorType):
                dtype = each.results[0].type.element_type
                if isinstance(dtype, AnyFloat) and not _has_no_negative_zero(each.operands[1]):
                    _replace(each, dtype)


def _has_no_negative_zero(value: SSAValue) -> bool:
    """Whether a value is a constant without a -0.0."""
    op = value.owner
    literal = op.properties.get("value") if isinstance(op, Operation) else None
    if not isinstance(literal, DenseIntOrFPElementsAttr):
        return False
    return not any(
        number == 0 and math.copysign(1.0, float(number)) < 0 for number in literal.get_values()
    )


def _replace(op: Operation, dtype: AnyFloat) -> None:
    (condition, x, y), (result,), before = op.operands, op.results, Nodes(op)
    if _has_no_negative_zero(y):
        # ONNX Runtime has a fusion of Not and Where that would turn them round again
        negated = before.node("Xor", [condition, before.number(1, i1)], condition, i1)
        before.replace(before.node("Where", [negated, y, x], result, dtype))
        return
    bits = IntegerType(dtype.bitwidth)
    taken = [before.node("BitCast", [each], each, bits, to=bits) for each in (x, y)]
    choice = before.node("Where", [condition, *taken], result, bits)
    before.replace(before.node("BitCast", [choice], choice, dtype, to=dtype))
