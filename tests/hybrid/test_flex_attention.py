"""``flex_attention`` behind ``optimize`` and ``torch.compile``: one of PyTorch's operators, of which all ops compile."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch import Tensor, nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

import torch2mlir
from torch2mlir.runtime.dynamo_metrics import FallbackWarning


class Layer(nn.Module):
    """Self-attention over as many tokens as there are."""

    def __init__(self) -> None:
        super().__init__()
        self.project, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        rows, tokens, _ = x.shape
        q, k, v = (
            part.view(rows, tokens, 2, 16).transpose(1, 2) for part in self.project(x).chunk(3, -1)
        )
        mask = create_block_mask(
            lambda b, h, i, j: j < lengths[b], rows, None, tokens, tokens, "cpu", BLOCK_SIZE=4
        )
        found = flex_attention(q, k, v, block_mask=mask)
        return self.out(found.transpose(1, 2).reshape(x.shape))  # type: ignore[union-attr]


@pytest.mark.share(3)
@torch.no_grad()
@pytest.mark.parametrize("way", ["compile", "optimize", "torch.compile"])
def test_agrees_with_eager(way: str) -> None:
    """Through ``optimize`` a view of its result was one of other strides, which PyTorch refused."""
    model, x, lengths = Layer(), torch.randn(2, 4, 32), torch.tensor([4, 2])
    if way == "compile":
        ours = torch2mlir.compile(model, x, lengths)
    elif way == "optimize":
        ours = torch2mlir.optimize(model, engine="xla")
    else:
        ours = torch.compile(model, backend="torch2mlir")
    with warnings.catch_warnings():
        warnings.simplefilter("error", FallbackWarning)
        for one, other in ((4, 2), (1, 3), (2, 4)):
            x, lengths = torch.randn(2, 4, 32), torch.tensor([one, other])
            torch.testing.assert_close(ours(x, lengths), model(x, lengths), rtol=1e-4, atol=1e-5)
    if way == "optimize":
        assert not ours.report().pytorch_ops
