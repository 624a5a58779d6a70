"""Convolutions in StableHLO; a transposed one is a plain one of a dilated input."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute

from torch2mlir.contract.element_types import widened
from torch2mlir.conversion.convolution import transposed_padding, turned
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import (
    StablehloLowering,
    lowers,
)
from torch2mlir.dialects import stablehlo as hlo


@lowers("aten.convolution")
def convolution(
    lower: StablehloLowering,
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
    """Cross-correlation of ``x[n, c, ..]`` with ``weight[f, c / groups, ..]``, plus ``bias[f]``.

    Half floats are added up in f32.
    """
    count, computed = x.rank - 2, widened(lower.out.dtype)
    strides, paddings, dilations = (list(v) for v in (stride, padding, dilation))
    properties: dict[str, Attribute] = {
        "feature_group_count": hlo.i64_attr(groups),
        "batch_group_count": hlo.i64_attr(1),
    }
    if transposed:
        edges = transposed_padding(lower, weight, paddings, dilations, output_padding)
        weight = turned(lower, weight, groups)
        spread = "lhs_dilation"
    else:
        edges = [(p, p) for p in paddings]
        spread = "window_strides"
    for name, factors in ((spread, strides), ("rhs_dilation", dilations)):
        if any(factor != 1 for factor in factors):
            properties[name] = hlo.i64_array(factors)
    if any(edge != (0, 0) for edge in edges):
        properties["padding"] = hlo.padding_attr(edges)
    kernel = (1, 0) if transposed and groups == 1 else (0, 1)
    properties["dimension_numbers"] = hlo.ConvDimensionNumbersAttr.channels_first(count, kernel)
    result = lower.op(hlo.ConvolutionOp, [x, weight], lower.out.sizes, computed, properties)
    if bias is not None:
        per_channel = lower.broadcast_in_dim(lower.cast(bias, computed), result.sizes, [1])
        result = lower.apply(hlo.AddOp, result, per_channel)
    return lower.cast(result, lower.out.dtype)
