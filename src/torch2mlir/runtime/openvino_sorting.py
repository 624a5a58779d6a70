"""Sorting on OpenVINO: told to keep the order of equal elements, as ONNX has it and its reader of ONNX does not say."""

from __future__ import annotations

from math import prod
from typing import Any

from xdsl.ir import Operation

from torch2mlir.dialects.tensors import integer, shape_of
from torch2mlir.runtime.openvino_import import ConversionExtension
from torch2mlir.runtime.openvino_import import openvino as ov

ops = ov.opset13
MOST_COMPARISONS = 1 << 22
"""How many a sort may take, some 2 ns each: the stable way looks at each element once for each place."""


def stable_sorting() -> Any:
    """What makes an ``openvino.Core`` read ``TopK`` so."""
    return ConversionExtension("TopK", _stable)


def _stable(node: Any) -> Any:
    elements, count = node.get_input(0), ops.squeeze(node.get_input(1), [0])
    axis = node.get_attribute("axis", -1)
    mode = "max" if node.get_attribute("largest", 1) else "min"
    dtype = elements.get_element_type()
    is_narrow = dtype.is_integral() and dtype.size < 4  # which its kernel has not
    keys = ops.convert(elements, "i32") if is_narrow else elements
    values, places = ops.topk(keys, count, axis, mode, "value", "i64", stable=True).outputs()
    return [ops.convert(values, dtype).output(0) if is_narrow else values, places]


def comparisons(op: Operation) -> int:
    """How many ``onnx.TopK`` of known sizes takes.

    They are not counted in the first branch of a choice, which sorts whole lines where they have NaNs.
    """
    parent = op.parent_op()
    if parent is not None and parent.name == "onnx.If" and op.parent_region() is parent.regions[0]:
        return 0
    axis = integer(op.properties["axis"])
    sizes = [*shape_of(op.operands[0]), shape_of(op.results[0])[axis]]
    return prod(sizes)


def is_static(op: Operation) -> bool:
    """Whether all sizes of ``onnx.TopK`` are known."""
    return all(min(shape_of(value), default=0) >= 0 for value in (op.operands[0], *op.results))
