"""``onnx-images-apart``: convolutions are not fused with what computes their images, where OpenVINO gets that wrong.

Its plugin, of version 2026.4,

- multiplies a kernel by what the image is multiplied by, if that is a constant of the kernel's size, as if places of
  the image were places of the kernel: a window, a mask, a learned scale, the counts of ``nn.AdaptiveAvgPool2d``;
- puts the channels of a kernel in the order that those of the image were put in, and not back;
- moves the strides of a kernel of one place to the convolution before it, whatever padding is between them.

Of the first the larger of the image and itself is between them then, which it keeps. Channels are taken of images with
one dimension more, and the strides are a slice.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import onnx
from torch2mlir.dialects.onnx import op_class
from torch2mlir.dialects.tensors import element_of, integer, shape_of
from torch2mlir.engine_passes.onnx_nodes import Nodes

_CONVOLUTION, _GATHER = "onnx.Conv", "onnx.Gather"
_SCALES = {"onnx.Mul", "onnx.Div"}
_MOVED_PAST = {
    *_SCALES,
    *("onnx.Cast", "onnx.Identity", "onnx.Neg", "onnx.Pad", "onnx.Reshape"),
    *("onnx.Slice", "onnx.Squeeze", "onnx.Transpose", "onnx.Unsqueeze"),
}
"""What a product may be moved past, or merged with."""


class OnnxImagesApartPass(PassForOps):
    """See the module's docstring."""

    name = "onnx-images-apart"
    looks_for = frozenset({_CONVOLUTION})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(op.walk()):
            if each.name == _GATHER and _axis(each) == 1 and len(shape_of(each.results[0])) > 2:
                _gather_deeper(each)
            if each.name != _CONVOLUTION:
                continue
            image, kernel = each.operands[0], shape_of(each.operands[1])[2:]
            sizes = {size for size in kernel if size != 1}
            if not sizes:
                _slice_strides(each)
            elif _is_scaled(image, sizes, len(kernel)):
                each.operands[0] = Nodes(each).held(image)


def _axis(gather: Operation) -> int:
    axis = gather.properties.get("axis")
    return 0 if axis is None else integer(axis) % len(shape_of(gather.operands[0]))


def _gather_deeper(op: Operation) -> None:
    """Takes channels of images with one dimension more, the first."""
    (x, places), (result,), before = op.operands, op.results, Nodes(op)
    first = before.integers([0])
    deeper = TensorType(element_of(x), [1, *shape_of(x)])
    x = before.value(op_class("Unsqueeze"), [x, first], deeper)
    found = TensorType(element_of(x), [1, *shape_of(result)])
    x = before.value(op_class("Gather"), [x, places], found, onnx.attributes("Gather", {"axis": 2}))
    before.replace(before.value(op_class("Squeeze"), [x, first], result.type))


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


def _slice_strides(op: Operation) -> None:
    """A convolution with strides of a padded image, whose kernel has one place, of the places that it reads."""
    strides, pads = (_list(op, name) for name in ("strides", "pads"))
    x, rank, before = op.operands[0], len(strides), Nodes(op)
    if all(stride == 1 for stride in strides) or not (any(pads) or _is_padded(x)):
        return
    padded = list(shape_of(x))
    if any(pads):
        padded = _sizes(padded, pads)
        x = _moved(before, "Pad", x, padded, [[0, 0, *pads[:rank], 0, 0, *pads[rank:]]])
    read = [*padded[:2], *shape_of(op.results[0])[2:]]
    axes = list(range(2, rank + 2))
    bounds = [[0] * rank, [2**31 - 1] * rank, axes, list(strides)]
    op.operands[0] = _moved(before, "Slice", x, read, bounds)
    op.properties |= onnx.attributes("Conv", {"strides": [1] * rank, "pads": [0] * 2 * rank})


def _is_padded(image: SSAValue) -> bool:
    """Whether there is padding between an image and the convolutions that it comes of."""
    waiting, seen = [image], set[SSAValue]()
    while waiting:
        value = waiting.pop()
        op = value.owner
        if value in seen or not isinstance(op, Operation) or op.name == _CONVOLUTION:
            continue
        if op.name == "onnx.Pad":
            return True
        seen.add(value)
        waiting += op.operands
    return False


def _list(op: Operation, name: str) -> list[int]:
    values = op.properties.get(name)
    return [integer(each) for each in values] if isinstance(values, ArrayAttr) else []


def _sizes(sizes: Sequence[int], pads: Sequence[int]) -> list[int]:
    rank = len(pads) // 2
    places = zip(sizes[2:], pads[:rank], pads[rank:], strict=True)
    return [
        *sizes[:2],
        *(size if size == DYNAMIC_INDEX else size + low + high for size, low, high in places),
    ]


def _moved(
    before: Nodes, kind: str, x: SSAValue, sizes: Sequence[int], lists: Sequence[Sequence[int]]
) -> SSAValue:
    constants = [before.integers(each) for each in lists]
    return before.value(op_class(kind), [x, *constants], TensorType(element_of(x), sizes))
