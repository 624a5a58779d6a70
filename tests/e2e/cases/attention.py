"""Scaled dot product attention in the forms models use, and attention layers."""

from __future__ import annotations

from functools import partial

import torch
from torch import nn
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
