"""``onnx-extrema-of-integers``: the larger and the smaller of two 64-bit integers on ONNX Runtime.

Its vectors for ``Max``, ``Min`` and ``Clip`` of int64 compare some integers beyond 32 bits the wrong way round: the
larger of 1 and 2**31 + 1 is 1, everywhere but in the last element of an odd number of them. Its ``Less`` is right, so
one of the two is chosen. Single numbers, as sizes are, stay.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp, i1
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from torch2mlir.dialects.tensors import element_of, shape_of
from torch2mlir.engine_passes.onnx_nodes import Nodes

_LARGER, _SMALLER = "onnx.Max", "onnx.Min"
_CHOICES = {
    _LARGER: lambda others: [(_LARGER, other) for other in others],
    _SMALLER: lambda others: [(_SMALLER, other) for other in others],
    "onnx.Clip": lambda bounds: list(zip((_LARGER, _SMALLER), bounds, strict=True)),
}
"""Operator -> which is taken of what is found and each of its other operands, one after the other."""


class OnnxExtremaOfIntegersPass(ModulePass):
    """See the module's docstring."""

    name = "onnx-extrema-of-integers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(op.walk()):
            if each.name not in _CHOICES or not shape_of(each.results[0]):
                continue
            dtype = element_of(each.results[0])
            if isinstance(dtype, IntegerType) and dtype.width.data == 64:
                _replace(each, dtype)


def _replace(op: Operation, dtype: IntegerType) -> None:
    (found, *others), (result,), before = op.operands, op.results, Nodes(op)
    for extremum, other in _CHOICES[op.name](others):
        is_less = before.node("Less", [found, other], result, i1)
        chosen = [other, found] if extremum == _LARGER else [found, other]
        found = before.node("Where", [is_less, *chosen], result, dtype)
    before.replace(found)
