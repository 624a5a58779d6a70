"""Falcon-Mamba, whose first layers IREE got wrong: each line of a product has factors of its own there."""

from __future__ import annotations

import pytest
import torch

import torch2mlir

transformers = pytest.importorskip("transformers")


@pytest.mark.share(3)
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
@torch.no_grad()
def test_agrees_with_eager(output_type: str) -> None:
    torch.manual_seed(0)
    config = transformers.FalconMambaConfig(vocab_size=64, hidden_size=32, num_hidden_layers=2)
    model = transformers.FalconMambaModel(config).eval()
    tokens = [torch.randint(0, 64, (2, 12)) for _ in range(3)]
    compiled = torch2mlir.compile(model, tokens[0], use_cache=False, output_type=output_type)
    for ids in tokens:
        actual = compiled(ids, use_cache=False).last_hidden_state
        expected = model(ids, use_cache=False).last_hidden_state
        torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-4)
