"""``onnx-extrema-of-integers``: the larger and the smaller of 64-bit integers on ONNX Runtime.

Its vectors for ``Max``, ``Min`` and ``Clip`` of int64 compare some integers beyond 32 bits the wrong way round: the
larger of 1 and 2**31 + 1 is 1, everywhere but in the last element of an odd number of them. Its ``Less`` is right, so
one of the two is chosen. Single numbers, as sizes are, stay. ``ReduceMax`` and ``ReduceMin`` of eight and more are as
wrong, but along dimensions before others; ``ArgMax`` and ``ArgMin`` are right.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, IntegerType, ModuleOp, TensorType, i1, i64
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from torch2mlir.contract.element_types import si64
from torch2mlir.dialects.onnx import op_class
from torch2mlir.dialects.tensors import element_of, integers, shape_of
from torch2mlir.engine_passes.onnx_nodes import Nodes
from torch2mlir.errors import EngineError

_LARGER, _SMALLER = "onnx.Max", "onnx.Min"
_CHOICES = {
    _LARGER: lambda others: [(_LARGER, other) for other in others],
    _SMALLER: lambda others: [(_SMALLER, other) for other in others],
    "onnx.Clip": lambda bounds: list(zip((_LARGER, _SMALLER), bounds, strict=True)),
}
"""Operator -> which is taken of what is found and each of its other operands, one after the other."""
_PLACES = {"onnx.ReduceMax": "ArgMax", "onnx.ReduceMin": "ArgMin"}


class OnnxExtremaOfIntegersPass(ModulePass):
    """See the module's docstring."""

    name = "onnx-extrema-of-integers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(op.walk()):
            if each.name in _CHOICES and shape_of(each.results[0]):
                replace = _choose
            elif each.name in _PLACES:
                replace = _look_up
            else:
                continue
            dtype = element_of(each.results[0])
            if isinstance(dtype, IntegerType) and dtype.width.data == 64:
                replace(each, dtype)


def _choose(op: Operation, dtype: IntegerType) -> None:
    (found, *others), (result,), before = op.operands, op.results, Nodes(op)
    for extremum, other in _CHOICES[op.name](others):
        is_less = before.node("Less", [found, other], result, i1)
        chosen = [other, found] if extremum == _LARGER else [found, other]
        found = before.node("Where", [is_less, *chosen], result, dtype)
    before.replace(found)


def _look_up(op: Operation, dtype: IntegerType) -> None:
    """The element at the place of the extremum, along one dimension after the other."""
    (found, *axes), (result,), before = op.operands, op.results, Nodes(op)
    kept = list(shape_of(found))
    for axis in _axes(op, len(kept)):
        kept[axis] = 1
        along = {"axis": IntegerAttr(axis % len(kept), si64)}
        keeps = {"keepdims": IntegerAttr(1, si64)}
        kind = op_class(_PLACES[op.name])
        places = before.value(kind, [found], TensorType(i64, kept), along | keeps)
        elements = TensorType(dtype, kept)
        found = before.value(op_class("GatherElements"), [found, places], elements, along)
    if shape_of(result) != shape_of(found):
        found = before.value(op_class("Squeeze"), [found, *axes], result.type)
    before.replace(found)


def _axes(op: Operation, rank: int) -> Sequence[int]:
    """The dimensions that are reduced: all of them where none is named, unless that is to mean none."""
    if len(op.operands) == 1:
        none = op.properties.get("noop_with_empty_axes")
        return () if isinstance(none, IntegerAttr) and none.value.data else range(rank)
    axes = op.operands[1].owner
    if not isinstance(axes, Operation) or "value" not in axes.properties:
        raise EngineError(
            f"ONNX Runtime computes wrong extrema of 64-bit integers, and {op.name} has computed axes",
            dialect="onnx",
            hint="make the axes a constant",
        )
    return integers(axes.properties["value"])
