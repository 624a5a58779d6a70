"""Saved programs that write to their arguments, and have weights in their code."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import torch2mlir
from tests.e2e.configurations import TARGETS


class Writes(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.second = nn.Linear(4, 2, bias=False)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = self.second(self.first(x).relu())
        x.add_(1)
        return y, self.first.weight.sum() * x


@pytest.mark.parametrize(("output_type", "engine"), TARGETS)
@torch.no_grad()
def test_arguments_are_written_as_in_eager_mode(
    output_type: str, engine: str, tmp_path: Path
) -> None:
    model = Writes()
    compiled = torch2mlir.compile(model, torch.randn(5, 3), output_type=output_type, engine=engine)
    loaded = torch2mlir.load(torch2mlir.save(compiled, tmp_path / "saved"))
    for _ in range(3):
        x = torch.randn(5, 3)
        given = x.clone()
        torch.testing.assert_close(loaded(given), model(x))
        assert torch.equal(given, x)
