"""Scaled dot product attention and its relatives."""

from __future__ import annotations

from typing import Any

import torch

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten


@decomposes(aten.scaled_dot_product_attention.default)
def _attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """``softmax(scale * query @ key.T + mask) @ value``; half precision computes in float32.

    A row whose keys are all masked gives zeros, as PyTorch's: its maximum is clamped to the lowest finite number, so
    its exponentials vanish, and the sum of any other row is at least ``exp(0)``.
    """
    dtype = query.dtype
    computed = torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype
    query, key, value = (x.to(computed) for x in (query, key, value))
    if enable_gqa:
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
        value = value.repeat_interleave(query.shape[-3] // value.shape[-3], -3)
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    scores = torch.matmul(query * scale, key.transpose(-2, -1))
    if is_causal:
        rows, columns = (torch.arange(n, device=scores.device) for n in scores.shape[-2:])
        scores = torch.where(rows.unsqueeze(1) >= columns, scores, -torch.inf)
    if attn_mask is None:
        weights = torch.softmax(scores, -1)
    else:
        if attn_mask.dtype == torch.bool:
            scores = torch.where(attn_mask, scores, -torch.inf)
        else:
            scores = scores + attn_mask
        lowest = torch.finfo(computed).min
        exponentials = torch.exp(scores - scores.amax(-1, keepdim=True).clamp(min=lowest))
        weights = exponentials / exponentials.sum(-1, keepdim=True).clamp(min=1.0)
    if dropout_p > 0:
        weights = torch.dropout(weights, dropout_p, True)
    return torch.matmul(weights, value).to(dtype)
