"""Tensors of one double that a function writes to: counters, sums, running means of models in doubles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import torch2mlir
from tests.dynamo.agreement import compiled


def _count(n: Tensor, x: Tensor, scale: float) -> Tensor:
    n.add_(1)
    return x + n


def _with_a_number(n: Tensor, x: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    n.mul_(scale).add_(1)
    return x * scale + n, n * 2


def _with_a_constant(n: Tensor, x: Tensor, scale: float) -> Tensor:
    n.add_(x.sum())
    return nn.functional.interpolate(x[None, None], scale_factor=scale)[0, 0] * n


def _of_two(n: Tensor, x: Tensor, scale: float) -> Tensor:
    n.copy_(n * 0.5 + x.mean())
    n.sub_(scale)
    return x / (n + 10)


@torch.no_grad()
@pytest.mark.parametrize("function", [_count, _with_a_number, _with_a_constant, _of_two])
def test_they_are_written(function: Callable[..., Any]) -> None:
    ours, n = compiled(function), torch.zeros((), dtype=torch.float64)
    wanted = n.clone()
    for scale in (2.0, 3.0, 4.0, 5.0):
        x = torch.randn(4)
        torch.testing.assert_close(ours(n, x, scale), function(wanted, x, scale))
        torch.testing.assert_close(n, wanted)


class Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros((), dtype=torch.float64))

    def forward(self, x: Tensor) -> Tensor:
        self.calls.add_(1)
        return x * self.calls


@torch.no_grad()
def test_they_are_written_region_by_region() -> None:
    model = Counting().eval()
    ours = torch2mlir.optimize(model, allow_tracing=False)
    assert [ours(torch.ones(2))[0].item() for _ in range(3)] == [1.0, 2.0, 3.0]
    assert model.calls == 3
