"""Encoders with padding masks, whose fast path in eager mode is another computation than what is captured."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch import Tensor, nn

import torch2mlir

TARGET = {"engine": "reference", "output_type": "linalg-on-tensors"}
PADDED = torch.tensor([[False, False, False, True, True], [False] * 5])


class Pooled(nn.Module):
    def __init__(self, is_nested: bool) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=is_nested)

    def forward(self, x: Tensor, padded: Tensor | None, masked: Tensor | None = None) -> Tensor:
        return self.encoder(x, masked, src_key_padding_mask=padded).mean(1)


ADDED = torch.zeros(2, 5).masked_fill(PADDED, -torch.inf)


@torch.no_grad()
@pytest.mark.parametrize("mask", [PADDED, ADDED], ids=["booleans", "floats"])
@pytest.mark.share(2)
def test_zeros_of_the_fast_path_are_told_of(mask: Tensor) -> None:
    model, x = Pooled(True).eval(), torch.randn(2, 5, 8)
    with pytest.warns(UserWarning, match=r"zeros at the padded positions .* 'encoder'"):
        torch2mlir.compile(model, x, mask, **TARGET)
    optimized = torch2mlir.optimize(model, model_inputs=(x, mask))
    torch.testing.assert_close(optimized(x, mask), model(x, mask))


@torch.no_grad()
@pytest.mark.parametrize("case", ["no mask", "not nested", "training", "another mask"])
def test_nothing_is_said_where_both_are_the_same(case: str) -> None:
    model = Pooled(case != "not nested").train(case == "training")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        masked = torch.zeros(5, 5) if case == "another mask" else None
        arguments = (torch.randn(2, 5, 8), None if case == "no mask" else ADDED, masked)
        torch2mlir.compile(model, *arguments, **TARGET)
