"""``onnx-scaled-images``: images that are scaled place by place before a convolution, for OpenVINO.

Its plugin, of version 2026.4, multiplies the kernel of a convolution by what its image is multiplied by, if that is a
constant of the kernel's size, as if places of the image were places of the kernel: a window, a mask, a learned scale,
the counts of ``nn.AdaptiveAvgPool2d``. The larger of the image and itself is between them then, which it keeps.
"""

from __future__ import annotations

from collections.abc import Collection

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects.onnx import op_class
from torch2mlir.dialects.tensors import shape_of
from torch2mlir.engine_passes.onnx_nodes import Nodes

_CONVOLUTION = "onnx.Conv"
_SCALES = {"onnx.Mul", "onnx.Div"}
_MOVED_PAST = {
    *_SCALES,
    *("onnx.Cast", "onnx.Identity", "onnx.Neg", "onnx.Pad", "onnx.Reshape"),
    *("onnx.Slice", "onnx.Squeeze", "onnx.Transpose", "onnx.Unsqueeze"),
}
"""What a product may be moved past, or merged with."""


class OnnxScaledImagesPass(PassForOps):
    """See the module's docstring."""

    name = "onnx-scaled-images"
    looks_for = frozenset({_CONVOLUTION})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if each.name == _CONVOLUTION]:
            image, kernel = each.operands[0], shape_of(each.operands[1])[2:]
            if _is_scaled(image, {size for size in kernel if size != 1}, len(kernel)):
                each.operands[0] = Nodes(each).value(op_class("Max"), [image, image], image.type)


def _is_scaled(image: SSAValue, sizes: Collection[int], rank: int) -> bool:
    """Whether an image comes of a product with what has one of these sizes along one of the last dimensions."""
    waiting, seen = [image], set[SSAValue]()
    while waiting:
        value = waiting.pop()
        op = value.owner
        if value in seen or not isinstance(op, Operation) or op.name not in _MOVED_PAST:
            continue
        seen.add(value)
        waiting += op.operands
        if op.name in _SCALES and any(
            size in sizes for operand in op.operands for size in shape_of(operand)[-rank:]
        ):
            return True
    return False
