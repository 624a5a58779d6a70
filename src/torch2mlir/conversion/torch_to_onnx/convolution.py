"""Convolutions in ONNX, with their bias."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import si64, widened
from torch2mlir.conversion.convolution import in_full
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_onnx.lowering import OnnxLowering, lowers
from torch2mlir.dialects.torch import dims
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
        x, weight, stride = in_full(
            lower, x, weight, stride, padding, dilation, transposed, output_padding, groups
        )
        return _of_integers(lower, x, weight, bias, stride, dilation, groups)
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


def _of_integers(
    lower: OnnxLowering,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Tensor:
    """A product of matrices for each element of the window, as ``Conv`` takes floats only; ``x`` has its padding."""
    batch, features, *counts = lower.out.sizes
    channels, window, places = weight.sizes[1], weight.sizes[2:], dims.product(counts)
    x, weight = (lower.cast(each, si64) for each in (x, weight))
    sizes = (batch, groups, dims.floordiv(features, groups), places)
    total = lower.splat(0, (1, 1, 1, 1), si64)
    if bias is not None:
        total = lower.reshape(lower.cast(bias, si64), (1, *sizes[1:3], 1))
    for offsets in product(*(range(lower.static(n, "the size of a window")) for n in window)):
        starts = [0, 0, *(o * d for o, d in zip(offsets, dilation, strict=True))]
        taken = lower.slice(x, starts, (batch, x.sizes[1], *counts), [1, 1, *stride])
        taken = lower.reshape(taken, (batch, groups, channels, places))
        ones = [1] * len(offsets)
        factors = lower.slice(weight, [0, 0, *offsets], (features, channels, *ones), [1, 1, *ones])
        factors = lower.reshape(factors, (1, *sizes[1:3], channels))
        products = lower.node("MatMul", factors, taken, sizes=sizes, dtype=si64)
        total = lower.apply("Add", total, products)
    return lower.cast(lower.reshape(total, lower.out.sizes), lower.out.dtype)
