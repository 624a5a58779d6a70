"""``onnx-extrema-of-infinities``: the largest of nothing but ``-inf`` is that, on OpenVINO too.

Its ``ReduceMax`` begins with the lowest finite number, ``ReduceMin`` with the highest, which is what they give of
infinities alone. So whether there is anything on this side of the infinity is reduced as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    ModuleOp,
    TensorType,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from torch2mlir.conversion.torch_to_onnx.bounds import is_bounded_below
from torch2mlir.dialects.onnx import OnnxOp, op_class

_INFINITIES = {"onnx.ReduceMax": ("Greater", -math.inf), "onnx.ReduceMin": ("Less", math.inf)}
"""Operator -> how others compare with the infinity that it does not give, and that one."""


class OnnxExtremaOfInfinitiesPass(ModulePass):
    """See the module's docstring."""

    name = "onnx-extrema-of-infinities"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(op.walk()):
            if each.name in _INFINITIES:
                dtype = each.results[0].type.element_type  # type: ignore[attr-defined]
                is_bounded = each.name == "onnx.ReduceMax" and is_bounded_below(each.operands[0])
                if isinstance(dtype, AnyFloat) and not is_bounded:
                    _replace(each, dtype)


def _replace(op: Operation, dtype: AnyFloat) -> None:
    comparison, infinity = _INFINITIES[op.name]
    x, axes = op.operands
    found = op.clone()
    bound, half = _number(infinity, dtype), _number(0.5, dtype)
    others = _node(comparison, [x, bound.results[0]], x, i1)
    numbers = _node("Cast", [others.results[0]], x, dtype, to=dtype)
    any_other = op_class("ReduceMax").create(
        operands=[numbers.results[0], axes],
        result_types=op.result_types,
        properties=op.properties,
    )
    there_is = _node("Greater", [any_other.results[0], half.results[0]], op.results[0], i1)
    operands = [there_is.results[0], found.results[0], bound.results[0]]
    choice = _node("Where", operands, op.results[0], dtype)
    made = [found, bound, half, others, numbers, any_other, there_is, choice]
    for each in made:
        each.location = op.location
    Rewriter.replace_op(op, made, choice.results)


def _number(value: float, dtype: AnyFloat) -> OnnxOp:
    type = TensorType(dtype, [])
    literal = DenseIntOrFPElementsAttr.from_list(type, [value])
    return op_class("Constant").create(result_types=[type], properties={"value": literal})


def _node(
    name: str,
    operands: Sequence[SSAValue],
    like: SSAValue,
    dtype: Attribute,
    **properties: Attribute,
) -> OnnxOp:
    """An operator on all elements, with a result of the shape of ``like``."""
    type = TensorType(dtype, like.type.get_shape())  # type: ignore[attr-defined]
    return op_class(name).create(operands=operands, result_types=[type], properties=properties)
