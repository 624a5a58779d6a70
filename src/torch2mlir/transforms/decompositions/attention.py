"""Scaled dot product attention and its relatives."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten


@decomposes(aten.scaled_dot_product_attention.default)
def _attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
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


# what AOTAutograd captures on CPU


@decomposes(aten._scaled_dot_product_flash_attention_for_cpu.default)
def _flash_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Attention and, for the way back, the logarithm of each row's sum of exponentials.

    Dao et al., FlashAttention, https://arxiv.org/abs/2205.14135.
    """
    key, value = _for_each_query_head(query, key, value)
    scores = _scores(query, key, is_causal, attn_mask, scale)
    logarithms = torch.logsumexp(scores, -1)
    weights = _weights(scores, logarithms)
    return torch.matmul(weights, value.to(weights.dtype)).to(query.dtype), logarithms


@decomposes(aten._scaled_dot_product_flash_attention_for_cpu_backward.default)
def _flash_attention_backward(
    grad: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    logarithms: Tensor,
    dropout_p: float,
    is_causal: bool,
    *,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, ...]:
    """Gradients of query, key and value from the weights computed anew, as in section 3 of FlashAttention."""
    keys, values = _for_each_query_head(query, key, value)
    scores = _scores(query, keys, is_causal, attn_mask, scale)
    weights = _weights(scores, logarithms)
    grad, out = grad.to(weights.dtype), out.to(weights.dtype)
    of_value = torch.matmul(weights.transpose(-2, -1), grad)
    of_weights = torch.matmul(grad, values.to(weights.dtype).transpose(-2, -1))
    pull = weights * (of_weights - (grad * out).sum(-1, keepdim=True))
    pull = pull * (query.shape[-1] ** -0.5 if scale is None else scale)
    of_query = torch.matmul(pull, keys.to(weights.dtype))
    of_key = torch.matmul(pull.transpose(-2, -1), query.to(weights.dtype))
    gradients = of_query, *(_summed_heads(g, key) for g in (of_key, of_value))
    return tuple(g.to(query.dtype) for g in gradients)


def _for_each_query_head(query: Tensor, *tensors: Any) -> list[Any]:
    """Keys and values repeated where several heads of the query share one."""
    heads = query.shape[1]
    return [
        t if heads == t.shape[1] else t.repeat_interleave(heads // t.shape[1], 1) for t in tensors
    ]


def _summed_heads(gradient: Tensor, like: Tensor) -> Tensor:
    """The gradient of a head that several of the query share."""
    if gradient.shape[1] == like.shape[1]:
        return gradient
    shape = (like.shape[0], like.shape[1], -1, *gradient.shape[2:])
    return gradient.reshape(shape).sum(2)


def _scores(
    query: Tensor, key: Tensor, is_causal: bool, mask: Tensor | None, scale: float | None
) -> Tensor:
    """``scale * query @ key.T + mask``; half precision computes in float32."""
    dtype = query.dtype
    computed = torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    scores = torch.matmul(query.to(computed) * scale, key.to(computed).transpose(-2, -1))
    if is_causal:
        rows, columns = (torch.arange(n, device=scores.device) for n in scores.shape[-2:])
        scores = torch.where(rows.unsqueeze(1) >= columns, scores, -torch.inf)
    if mask is None:
        return scores
    if mask.dtype == torch.bool:
        return torch.where(mask, scores, -torch.inf)
    return scores + mask.to(computed)


def _weights(scores: Tensor, logarithms: Tensor) -> Tensor:
    """``exp(score - logarithm of the sum)``; zeros in a row whose keys are all masked."""
    lowest = torch.finfo(scores.dtype).min
    return torch.exp(scores - logarithms.unsqueeze(-1).clamp(min=lowest))


# what modules of torch.nn call in inference


@decomposes(aten._native_multi_head_attention.default)
def _multi_head_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim: int,
    num_head: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    mask: Tensor | None = None,
    need_weights: bool = True,
    average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Attention of several heads over (batch, length, embed_dim), and its weights, empty if nobody needs them.

    Where ``mask`` is true, or not zero, keys are left out. It is of the shape (length, keys) for ``mask_type`` 0,
    (batch, keys) for 1, and any that broadcasts to (batch, heads, length, keys) for 2.
    """
    weights, biases = qkv_weight.chunk(3), qkv_bias.chunk(3)
    projected = (
        torch.nn.functional.linear(x, weight, bias).unflatten(-1, (num_head, -1)).transpose(1, 2)
        for x, weight, bias in zip((query, key, value), weights, biases, strict=True)
    )
    q, k, v = projected
    scores = torch.matmul(q * q.shape[-1] ** -0.5, k.transpose(-2, -1))
    if mask is not None:
        if mask_type == 1:
            mask = mask[:, None, None, :]
        scores = torch.where(mask.to(torch.bool), -torch.inf, scores)
    attention = torch.softmax(scores, -1)
    result = torch.matmul(attention, v).transpose(1, 2).flatten(2)
    result = torch.nn.functional.linear(result, proj_weight, proj_bias)
    if not need_weights:
        return result, query.new_empty((0,))
    return result, attention.mean(1) if average_attn_weights else attention


@decomposes(aten._transformer_encoder_layer_fwd.default)
def _encoder_layer(
    src: Tensor,
    embed_dim: int,
    num_heads: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: Tensor,
    norm_bias_1: Tensor,
    norm_weight_2: Tensor,
    norm_bias_2: Tensor,
    ffn_weight_1: Tensor,
    ffn_bias_1: Tensor,
    ffn_weight_2: Tensor,
    ffn_bias_2: Tensor,
    mask: Tensor | None = None,
    mask_type: int | None = None,
) -> Tensor:
    """``torch.nn.TransformerEncoderLayer`` without dropout, as ATen/native/transformers/transformer.cpp has it."""
    functional = torch.nn.functional

    def attend(x: Any) -> Any:
        return aten._native_multi_head_attention(
            *(x, x, x, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, mask),
            need_weights=False,
            mask_type=mask_type,
        )[0]

    def feed_forward(x: Any) -> Any:
        inner = functional.linear(x, ffn_weight_1, ffn_bias_1)
        inner = functional.gelu(inner) if use_gelu else torch.relu(inner)
        return functional.linear(inner, ffn_weight_2, ffn_bias_2)

    def norm_1(x: Any) -> Any:
        return functional.layer_norm(x, (embed_dim,), norm_weight_1, norm_bias_1, eps)

    def norm_2(x: Any) -> Any:
        return functional.layer_norm(x, (embed_dim,), norm_weight_2, norm_bias_2, eps)

    if norm_first:
        attended = src + attend(norm_1(src))
        return attended + feed_forward(norm_2(attended))
    attended = norm_1(src + attend(src))
    return norm_2(attended + feed_forward(attended))
