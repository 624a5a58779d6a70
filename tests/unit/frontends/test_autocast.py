"""Regions with ``torch.autocast`` in a model: each op is computed with the casts that PyTorch inserts."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import torch2mlir


class Mixed(nn.Module):
    """Products and convolutions in bf16 of weights in f32, sums and norms in f32, and a part without autocast."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.convolution = nn.Conv1d(1, 2, 3)
        self.norm = nn.BatchNorm1d(2)
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)

    def forward(self, x: torch.Tensor) -> Any:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = self.linear(x)
            z = self.norm(self.convolution(y[:, None]))
            attended = self.attention(y[None], y[None], y[None])[0]
            with torch.autocast("cpu", enabled=False):
                plain = self.linear(x)
            loss = F.mse_loss(z, torch.zeros_like(z))
        return y, z, attended, plain, loss, x @ x.T


@pytest.mark.parametrize("output_type", ["stablehlo", "linalg-on-tensors", "tosa"])
@pytest.mark.parametrize("is_dynamic, is_training", [(False, True), (True, False)])
@pytest.mark.share(8)
def test_regions_with_autocast(output_type: str, is_dynamic: bool, is_training: bool) -> None:
    model = Mixed().train(is_training)
    eager = copy.deepcopy(model)
    shapes = ({0: torch.export.Dim("rows", min=2, max=16)},) if is_dynamic else None
    compiled = torch2mlir.compile(
        model, torch.randn(6, 4), output_type=output_type, dynamic_shapes=shapes
    )
    for rows in (6, 9, 3) if is_dynamic else (6, 6, 6):
        x = torch.randn(rows, 4)
        with torch.no_grad():
            torch.testing.assert_close(compiled(x), eager(x), rtol=3e-2, atol=3e-2)
        torch.testing.assert_close(
            list(model.buffers()), list(eager.buffers()), rtol=2e-2, atol=1e-2
        )
