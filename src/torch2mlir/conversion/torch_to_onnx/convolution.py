"""Convolutions in ONNX, with their bias."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import widened
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_onnx.lowering import OnnxLowering, lowers
from torch2mlir.dialects.torch.dims import is_static


@lowers("aten.convolution")
def convolution(
    lower: OnnxLowering,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Tensor:
    """Cross-correlation of ``x[n, c, ..]`` with ``weight[f, c / groups, ..]``, plus ``bias[f]``; half floats in f32."""
    if not element_types.is_float(lower.out.dtype):
        lower.fail("ONNX convolves no integers", "convert them to floats before")
    computed = widened(lower.out.dtype)
    operands = [None if each is None else lower.cast(each, computed) for each in (x, weight, bias)]
    pads = list(padding)
    attributes: dict[str, Any] = {
        "strides": list(stride),
        "dilations": list(dilation),
        "pads": [*pads, *pads],
        "group": groups,
    }
    if is_static(weight.sizes[2:]):
        attributes["kernel_shape"] = list(weight.sizes[2:])
    if transposed:
        attributes["output_padding"] = list(output_padding)
    name = "ConvTranspose" if transposed else "Conv"
    sizes = lower.out.sizes
    result = lower.node(name, *operands, sizes=sizes, dtype=computed, **attributes)
    return lower.cast(result, lower.out.dtype)
