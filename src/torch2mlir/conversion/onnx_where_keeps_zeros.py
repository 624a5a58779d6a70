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
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from torch2mlir.dialects.onnx import OnnxOp, op_class


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
    condition, x, y = op.operands
    if _has_no_negative_zero(y):
        # ONNX Runtime has a fusion of Not and Where that would turn them round again
        true = op_class("Constant").create(
            result_types=[TensorType(i1, [])],
            properties={"value": DenseIntOrFPElementsAttr.from_list(TensorType(i1, []), [1])},
            location=op.location,
        )
        negated = _node("Xor", [condition, true.results[0]], op, i1)
        choice = _node("Where", [negated.results[0], y, x], op, dtype)
        Rewriter.replace_op(op, [true, negated, choice], choice.results)
        return
    bits = IntegerType(dtype.bitwidth)
    taken = [_node("BitCast", [each], op, bits, to=bits) for each in (x, y)]
    choice = _node("Where", [condition, *(each.results[0] for each in taken)], op, bits)
    back = _node("BitCast", [choice.results[0]], op, dtype, to=dtype)
    Rewriter.replace_op(op, [*taken, choice, back], back.results)


def _node(
    name: str, operands: list[SSAValue], near: Operation, dtype: Attribute, **properties: Attribute
) -> OnnxOp:
    """An operator on all elements; any but the choice itself keeps the shape of its first operand."""
    like = near.results[0] if name == "Where" else operands[0]
    type = TensorType(dtype, like.type.get_shape())  # type: ignore[attr-defined]
    return op_class(name).create(
        operands=operands, result_types=[type], properties=properties, location=near.location
    )
