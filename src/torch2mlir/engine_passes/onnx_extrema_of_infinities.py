"""``onnx-extrema-of-infinities``: the largest of nothing but ``-inf`` is that, on OpenVINO too.

Its ``ReduceMax`` begins with the lowest finite number, ``ReduceMin`` with the highest, which is what they give of
infinities alone. So whether there is anything on this side of the infinity is reduced as well.
"""

from __future__ import annotations

import math

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyFloat,
    ModuleOp,
    i1,
)
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from torch2mlir.conversion.torch_to_onnx.bounds import is_bounded_below
from torch2mlir.dialects.onnx import op_class
from torch2mlir.dialects.tensors import element_of
from torch2mlir.engine_passes.onnx_nodes import Nodes

_INFINITIES = {"onnx.ReduceMax": ("Greater", -math.inf), "onnx.ReduceMin": ("Less", math.inf)}
"""Operator -> how others compare with the infinity that it does not give, and that one."""


class OnnxExtremaOfInfinitiesPass(ModulePass):
    """See the module's docstring."""

    name = "onnx-extrema-of-infinities"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(op.walk()):
            if each.name in _INFINITIES:
                dtype = element_of(each.results[0])
                is_bounded = each.name == "onnx.ReduceMax" and is_bounded_below(each.operands[0])
                if isinstance(dtype, AnyFloat) and not is_bounded:
                    _replace(each, dtype)


def _replace(op: Operation, dtype: AnyFloat) -> None:
    comparison, infinity = _INFINITIES[op.name]
    (x, axes), (result,), before = op.operands, op.results, Nodes(op)
    found = before.insert(op.clone()).results[0]
    bound, half = before.number(infinity, dtype), before.number(0.5, dtype)
    others = before.node(comparison, [x, bound], x, i1)
    numbers = before.node("Cast", [others], x, dtype, to=dtype)
    any_other = before.value(op_class("ReduceMax"), [numbers, axes], result.type, op.properties)
    there_is = before.node("Greater", [any_other, half], result, i1)
    before.replace(before.node("Where", [there_is, found, bound], result, dtype))
