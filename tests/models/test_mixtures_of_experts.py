"""Mixtures of experts of transformers, as they are: small random configurations, equal to eager PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import torch2mlir

transformers = pytest.importorskip("transformers")

COMMON = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "num_experts_per_tok": 2,
}
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "Mixtral": ("MixtralConfig", {"num_local_experts": 4}),
    "Qwen3Moe": ("Qwen3MoeConfig", {"num_experts": 4, "moe_intermediate_size": 24, "head_dim": 8}),
    "GraniteMoe": ("GraniteMoeConfig", {"num_local_experts": 4}),
    "Jamba": (
        "JambaConfig",
        {
            "num_experts": 4,
            "expert_layer_period": 1,
            "expert_layer_offset": 0,
            "attn_layer_period": 2,
            "attn_layer_offset": 1,
            "mamba_d_state": 8,
            "mamba_dt_rank": 4,
        },
    ),
}
MORE: dict[str, tuple[str, dict[str, Any]]] = {
    "Olmoe": ("OlmoeConfig", {"num_experts": 4}),
    "Qwen2Moe": (
        "Qwen2MoeConfig",
        {"num_experts": 4, "moe_intermediate_size": 24, "shared_expert_intermediate_size": 24},
    ),
    "Phimoe": ("PhimoeConfig", {"num_local_experts": 4}),
    "GptOss": ("GptOssConfig", {"num_local_experts": 4, "head_dim": 8, "sliding_window": 8}),
    "DeepseekV3": (
        "DeepseekV3Config",
        {
            "n_routed_experts": 4,
            "n_group": 1,
            "topk_group": 1,
            "moe_intermediate_size": 24,
            "q_lora_rank": 16,
            "kv_lora_rank": 16,
            "qk_rope_head_dim": 8,
            "qk_nope_head_dim": 8,
            "v_head_dim": 8,
            "first_k_dense_replace": 1,
            "num_key_value_heads": 4,
        },
    ),
    "Ernie4_5_Moe": (
        "Ernie4_5_MoeConfig",
        {
            "moe_num_experts": 4,
            "moe_k": 2,
            "moe_intermediate_size": 24,
            "moe_num_shared_experts": 1,
        },
    ),
    "MiniMax": ("MiniMaxConfig", {"num_local_experts": 4, "block_size": 4, "head_dim": 8}),
}
"""Further architectures."""
ALIKE = {"Ernie4_5_Moe", "Olmoe", "Phimoe", "Qwen2Moe"}
"""Those of them that compute as others here do: with ``--full``."""
TARGETS = [("stablehlo", "xla"), ("linalg-on-tensors", "iree"), ("tosa", "iree")]


@pytest.mark.parametrize("output_type, engine", TARGETS)
@pytest.mark.parametrize("name", [*MODELS, *MORE])
@torch.no_grad()
@pytest.mark.share(12)
def test_agrees_with_eager(
    name: str, output_type: str, engine: str, request: pytest.FixtureRequest
) -> None:
    on_iree = name == "Mixtral" and output_type == "linalg-on-tensors"
    if output_type != "stablehlo" and not on_iree and not request.config.getoption("--full"):
        pytest.skip("IREE takes up to minutes to compile it: with --full")
    if name in ALIKE and not request.config.getoption("--full"):
        pytest.skip("others compute alike: with --full")
    config, options = (MODELS | MORE)[name]
    torch.manual_seed(0)
    model = getattr(transformers, f"{name}ForCausalLM")(
        getattr(transformers, config)(**COMMON | options)
    ).eval()
    tokens = [torch.randint(0, 64, (2, 7)) for _ in range(3)]
    compiled = torch2mlir.compile(
        model, tokens[0], use_cache=False, output_type=output_type, engine=engine
    )
    for ids in tokens:
        expected = model(ids, use_cache=False).logits
        assert torch.allclose(compiled(ids, use_cache=False).logits, expected, atol=1e-5)


@pytest.mark.full("slow, and of any size others are tested as well")
@torch.no_grad()
def test_any_number_of_tokens() -> None:
    name, (config, options) = "Mixtral", MODELS["Mixtral"]
    torch.manual_seed(0)
    model = getattr(transformers, f"{name}ForCausalLM")(
        getattr(transformers, config)(**COMMON, **options)
    ).eval()
    sizes = {"input_ids": {1: torch.export.Dim("tokens", min=2, max=32)}, "use_cache": None}
    compiled = torch2mlir.compile(
        model, torch.randint(0, 64, (2, 7)), use_cache=False, dynamic_shapes=sizes
    )
    for count in (2, 7, 32):
        ids = torch.randint(0, 64, (2, count))
        expected = model(ids, use_cache=False).logits
        assert torch.allclose(compiled(ids, use_cache=False).logits, expected, atol=1e-5)
