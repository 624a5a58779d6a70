"""One element for each row of what an attention gives: OpenVINO read it from wrong places behind the first columns.

Its kernel computes blocks of 64 columns where the processor has AVX-512, and of 24 elsewhere; 192 are several of both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from repeated_calls import agrees_with_eager
from torch import Tensor
from torch.export import Dim
from torch.nn import functional as F
from transformers import LlamaConfig, LlamaModel

Program = Callable[[Tensor, Tensor, Tensor, Tensor], Any]


def _weighted(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q @ k.mT).softmax(-1) @ v


def _by_hand(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    weights = (q @ k.mT).exp()
    return (weights / weights.sum(-1, keepdim=True)) @ v


def _normed(x: Tensor) -> Tensor:
    return (x - x.mean(-1, keepdim=True)) * torch.rsqrt(x.var(-1, keepdim=True) + 1e-5)


def _gated(q: Tensor, k: Tensor, v: Tensor, x: Tensor) -> Tensor:
    return _weighted(q, k, v) * x - v


def _masked(q: Tensor, k: Tensor, v: Tensor, x: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, x.mT > 0)


PROGRAMS: dict[str, Program] = {
    "mask": lambda q, k, v, x: F.scaled_dot_product_attention(q, k, v, x @ x.mT > 0),
    "rows_without_keys": lambda q, k, v, x: F.scaled_dot_product_attention(q, k, v, x > 0),
    "keys_masked": lambda q, k, v, x: F.scaled_dot_product_attention(q, k, v, x.mT > 0),
    "keys_masked_and_more": lambda q, k, v, x: (
        (F.scaled_dot_product_attention(q, k, v, x.mT > 0) + v.sin()) / (1 + x.abs())
    ),
    "mask_of_floats": lambda q, k, v, x: F.scaled_dot_product_attention(q, k, v, (x @ x.mT).abs()),
    "causal": lambda q, k, v, x: F.scaled_dot_product_attention(q, k, v, is_causal=True) * x,
    "gate": lambda q, k, v, x: _weighted(q, k, v) * x.sigmoid(),
    "gate_of_constants": lambda q, k, v, x: (
        _weighted(q, k, v) * torch.arange(q.shape[2])[:, None] + x
    ),
    "gate_of_queries": lambda q, k, v, x: _weighted(q, k, v) * q[..., :1],
    "two_gates": lambda q, k, v, x: (_weighted(q, k, v) * x).tanh() - x.exp() * 3,
    "chosen": lambda q, k, v, x: torch.where(x > 0, _weighted(q, k, v) * 2, x),
    "by_hand": lambda q, k, v, x: _by_hand(q, k, v) / (x.abs() + 1),
    "reshaped": lambda q, k, v, x: _weighted(q, k, v).reshape(2, q.shape[2], -1) * x[0],
    "heads_joined": lambda q, k, v, x: _weighted(q, k, v).transpose(1, 2) * x.transpose(1, 2),
    "of_one_head": lambda q, k, v, x: (
        _weighted(q[:, :1], k[:, :1], v[:, :1]).transpose(1, 2) * x.transpose(1, 2)
    ),
    "in_a_branch": lambda q, k, v, x: torch.cond(
        x.sum() > 0, _gated, lambda q, k, v, x: v * x, (q, k, v, x)
    ),
    "masked_in_a_branch": lambda q, k, v, x: torch.cond(
        x.sum() > 0, _masked, lambda q, k, v, x: v * x, (q, k, v, x)
    ),
    "read_again": lambda q, k, v, x: (y := _weighted(q, k, v)) * x + y.sin(),
    "normed": lambda q, k, v, x: _normed(_weighted(q, k, v)) * x,
    "of_matrices": lambda q, k, v, x: _weighted(q[0, 0], k[0, 0], v[0, 0]) * x[0, 0],
}


def _arguments(columns: int) -> tuple[Tensor, ...]:
    queries, keys = torch.randn(1, 2, 64, 32) / 4, torch.randn(1, 2, 64, 32)
    return queries, keys, torch.randn(1, 2, 64, columns), torch.randn(1, 1, 64, 1)


@pytest.mark.share(4)
@pytest.mark.parametrize("columns", [96, 128, 192])
@pytest.mark.parametrize("rows", ["fixed", "any"])
@pytest.mark.parametrize("engine", ["openvino", "onnxruntime"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_rows_meet_their_elements(program: str, engine: str, rows: str, columns: int) -> None:
    pytest.importorskip(engine)
    sizes = {"fixed": None, "any": [{2: Dim("rows", min=2, max=4096)}] * 4}[rows]
    agrees_with_eager(
        PROGRAMS[program],
        lambda: _arguments(columns),
        engine=engine,
        output_type="onnx",
        dynamic_shapes=sizes,
    )


@pytest.mark.parametrize("columns", [96, 128])
def test_a_llama_of_wide_heads(columns: int) -> None:
    pytest.importorskip("openvino")
    config = LlamaConfig(
        vocab_size=99,
        hidden_size=2 * columns,
        intermediate_size=64,
        num_attention_heads=2,
        num_key_value_heads=1,
        num_hidden_layers=2,
        use_cache=False,
    )
    agrees_with_eager(
        LlamaModel(config).eval(),
        lambda: (torch.randint(0, 99, (1, 64)),),
        engine="openvino",
        output_type="onnx",
    )
