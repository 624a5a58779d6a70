"""Sizes that strides make of sizes that vary: 1 for small ones, which no example may decide for the others."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim

import torch2mlir
from tests.e2e.agreement import assert_agrees


class Strided(nn.Module):
    """The last stages of a residual network: 2x2 places of a 32x32 image, and 1 of a small one."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 4, 3, 4, 1, bias=False)
        self.second = nn.Conv2d(4, 4, 3, 4, 1, bias=False)
        self.shortcut = nn.Conv2d(4, 4, 1, 4, bias=False)
        self.norm = nn.BatchNorm2d(4)

    def forward(self, x: torch.Tensor) -> Any:
        x = self.first(x)
        y = self.norm(self.second(x)) + self.shortcut(x)
        return y, y.mean((2, 3))


@pytest.mark.share(3)
@pytest.mark.parametrize("dialect", ["linalg-on-tensors", "tosa", "stablehlo"])
def test_one_place_or_several(dialect: str) -> None:
    model = Strided().eval()
    varies = Dim.AUTO(min=2, max=32)
    ours = torch2mlir.compile(
        model,
        torch.randn(2, 3, 32, 32),
        output_type=dialect,
        dynamic_shapes=({2: varies, 3: varies},),
    )
    for height, width in ((32, 32), (2, 2), (32, 8), (17, 32), (5, 16)):
        x = torch.randn(2, 3, height, width)
        with torch.no_grad():
            assert_agrees(ours(x), model(x), loose=10.0)
