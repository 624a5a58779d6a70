"""Scaled dot product attention in the forms models use, and attention layers."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.nn.functional import scaled_dot_product_attention as attention

from tests.e2e.registry import b1, bf16, case, f16, f32, f64

QKV = (f32("B", 2, "S", 4), f32("B", 2, "S", 4), f32("B", 2, "S", 4))
CROSS = (f32("B", 2, "S", 4), f32("B", 2, "T", 4), f32("B", 2, "T", 4))

case("attention", attention, *QKV, loose=5)
case("attention_cross", attention, *CROSS, loose=5)
case("attention_causal", partial(attention, is_causal=True), *QKV, loose=5)
case(
    "attention_bool_mask",
    attention,
    *CROSS,
    b1("B", 1, "S", "T", values=(True, True, False)),
    loose=5,
)
case("attention_float_mask", attention, *CROSS, f32("B", 1, "S", "T"), loose=5)
case("attention_row_mask", attention, *CROSS, b1(1, 1, 1, "T", values=(True, True, False)), loose=5)
case("attention_scale", partial(attention, scale=0.3), *QKV, loose=5)
case("attention_rank_3", attention, f32("B", 3, 4), f32("B", 5, 4), f32("B", 5, 4), loose=5)
case(
    "attention_grouped",
    partial(attention, enable_gqa=True),
    f32("B", 4, 3, 4),
    f32("B", 2, 3, 4),
    f32("B", 2, 3, 4),
    loose=5,
)
case("attention_f64", attention, f64(2, 2, 3, 4), f64(2, 2, 3, 4), f64(2, 2, 3, 4))
case("attention_f16", attention, f16(2, 2, 3, 4), f16(2, 2, 3, 4), f16(2, 2, 3, 4), loose=4)
case("attention_bf16", attention, bf16(2, 2, 3, 4), bf16(2, 2, 3, 4), bf16(2, 2, 3, 4), loose=4)


class SelfAttention(nn.Module):
    """Multi-head attention written out."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(8, 24)
        self.out = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, _ = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, 2, 4).permute(2, 0, 3, 1, 4)
        weights = torch.softmax(q @ k.transpose(-1, -2) / 2.0, -1)
        return self.out((weights @ v).transpose(1, 2).reshape(batch, length, 8))


class Rotary(nn.Module):
    """Rotary position embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("frequencies", 1.0 / 100 ** (torch.arange(4) / 4), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        angles = torch.arange(x.shape[1])[:, None] * self.frequencies
        angles = torch.cat([angles, angles], -1)
        one, other = x.chunk(2, -1)
        return x * angles.cos() + torch.cat([-other, one], -1) * angles.sin()


class MultiHead(nn.Module):
    """PyTorch's own layer."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.attention(x, x, x, need_weights=False)[0]


case("self_attention", SelfAttention, f32("B", "S", 8), loose=5)
case("rotary_embedding", Rotary, f32("B", "S", 8))
case("multi_head_attention", MultiHead, f32(2, 3, 8), loose=5)
case("transformer_layer", nn.TransformerEncoderLayer, f32(2, 3, 8), init=(8, 2, 16, 0.0), loose=20)


class RelativeFlex(nn.Module):
    """Causal, with a learned bias by distance: ``flex_attention`` has both as functions."""

    def __init__(self) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.randn(2, 3))
        self.mask = create_block_mask(lambda b, h, i, j: i >= j, 1, 1, 8, 8, "cpu", BLOCK_SIZE=8)

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        bias = self.bias

        def biased(score: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
            return score + bias[h, (i - j).abs().clamp(max=2)]

        return flex_attention(q, k, v, score_mod=biased, block_mask=self.mask)  # type: ignore[return-value]


class CountingFlex(nn.Module):
    """Its bias is written in every call, and its first rows see nothing: their result is zero."""

    bias: Tensor
    seen: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("bias", torch.zeros(2))
        self.register_buffer("seen", torch.tensor(0))

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        self.bias += q.mean((0, 2, 3))
        self.seen += 1
        bias, seen, tokens = self.bias, self.seen, q.shape[2]

        def biased(score: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
            return score + bias[h] * (i - j)

        mask = create_block_mask(
            lambda b, h, i, j: i - j >= seen, None, None, tokens, tokens, "cpu", BLOCK_SIZE=8
        )
        return flex_attention(q, k, v, score_mod=biased, block_mask=mask)  # type: ignore[return-value]


def _flex_bounded(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return flex_attention(q, k, v, score_mod=lambda score, *_: 5 * torch.tanh(score / 5))  # type: ignore[return-value]


FLEX = (f32(2, 2, 8, 16), f32(2, 2, 8, 16), f32(2, 2, 8, 16))

case("flex_attention", _flex_bounded, *FLEX, loose=5)
case("flex_attention_varying", _flex_bounded, *(f32("B", 2, "S", 16) for _ in range(3)), loose=5)
case("flex_attention_relative", RelativeFlex, *FLEX, loose=5)
case("flex_attention_counting", CountingFlex, *(f32("B", 2, 8, 16) for _ in range(3)), loose=5)
case(
    "flex_attention_grouped",
    partial(flex_attention, enable_gqa=True, scale=0.3),
    *(f32(2, 4, 8, 16), f32(2, 2, 8, 16), f32(2, 2, 8, 16)),
    loose=5,
)
case("flex_attention_bf16", _flex_bounded, *(bf16(2, 2, 8, 16) for _ in range(3)), loose=4)
