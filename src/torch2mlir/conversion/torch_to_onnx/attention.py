"""Attention in ONNX, one op from operator set 23 on; its masks and heads are PyTorch's."""

from __future__ import annotations

from xdsl.dialects.builtin import i1

from torch2mlir.contract.element_types import widened
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_onnx.lowering import OnnxLowering, lowers


@lowers("aten.scaled_dot_product_attention")
def attention(
    lower: OnnxLowering,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    dropout: float,
    is_causal: bool,
    scale: float | None,
    grouped: bool,
) -> Tensor:
    """``softmax(scale * query @ key.T + mask) @ value`` of ``[batch, heads, length, size]``; half floats in f32.

    A row whose keys are all masked gives zeros, as PyTorch's, and so does one without keys. Several heads of the query
    may share one of the keys.
    """
    if key.sizes[-2] == 0:
        return lower.splat(0, lower.out.sizes, lower.out.dtype)
    computed = widened(lower.out.dtype)
    operands = [lower.cast(x, computed) for x in (query, key, value)]
    if mask is not None:
        mask = mask if mask.dtype == i1 else lower.cast(mask, computed)
        # engines take what broadcasts over samples and heads, but whole planes
        outer = ((1,) * 4 + mask.sizes[:-2])[-2:]
        plane = (query.sizes[-2], key.sizes[-2])
        mask = lower.broadcast_to(mask, (*outer, *plane))
    result = lower.node(
        "Attention",
        *operands,
        mask,
        sizes=lower.out.sizes,
        dtype=computed,
        is_causal=int(is_causal),
        scale=scale,
    )
    return lower.cast(result, lower.out.dtype)
