"""Convolutions in StableHLO, transposed ones as convolutions of a dilated input."""

from __future__ import annotations

from collections.abc import Sequence

from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering, lowers
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.torch import dims


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
    """1, 2 or 3 spatial dimensions, PyTorch's layout: batch, channels, space; weight: out, in per group, space."""
    spatial = x.rank - 2
    stride, padding, dilation, output_padding = (
        list(v) * spatial if len(v) == 1 else list(v)
        for v in (stride, padding, dilation, output_padding or [0])
    )
    windows: dict[str, Sequence[int]] = {"rhs_dilation": dilation}
    if transposed:
        weight = _transposed_kernel(lower, weight, groups)
        windows["lhs_dilation"] = stride
        edges = [
            lower.static(dims.mul(d, dims.sub(k, 1)), "the size of a convolution's kernel")
            for d, k in zip(dilation, weight.sizes[2:], strict=True)
        ]
        pairs = [(e - p, e - p + o) for e, p, o in zip(edges, padding, output_padding, strict=True)]
    else:
        windows["window_strides"] = stride
        pairs = [(p, p) for p in padding]
    properties = {
        "padding": hlo.padding_attr(pairs),
        "dimension_numbers": hlo.ConvDimensionNumbersAttr.channels_first(spatial),
        "feature_group_count": hlo.i64_attr(groups),
        "batch_group_count": hlo.i64_attr(1),
        **{name: hlo.i64_array(values) for name, values in windows.items() if set(values) != {1}},
    }
    if all(pair == (0, 0) for pair in pairs):
        del properties["padding"]
    result = lower.op(hlo.ConvolutionOp, [x, weight], lower.out.sizes, x.dtype, properties)
    if bias is None:
        return result
    per_channel = lower.broadcast_in_dim(bias, result.sizes, [1])
    return lower.op(hlo.AddOp, [result, per_channel], result.sizes, result.dtype)


def _transposed_kernel(lower: StablehloLowering, weight: Tensor, groups: int) -> Tensor:
    """From in, out per group, space to out, in per group, space reversed."""
    inputs, outputs, *space = weight.sizes
    spatial = list(range(len(space)))
    if groups == 1:
        kernel = lower.transpose(weight, [1, 0, *(2 + s for s in spatial)])
    else:
        grouped = lower.reshape(weight, [groups, dims.floordiv(inputs, groups), outputs, *space])
        swapped = lower.transpose(grouped, [0, 2, 1, *(3 + s for s in spatial)])
        kernel = lower.reshape(
            swapped, [dims.mul(groups, outputs), dims.floordiv(inputs, groups), *space]
        )
    reversed_dims = {"dimensions": hlo.i64_array([2 + s for s in spatial])}
    return lower.op(hlo.ReverseOp, [kernel], kernel.sizes, kernel.dtype, reversed_dims)
