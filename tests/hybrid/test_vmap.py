"""``torch.vmap`` in a model that ``optimize`` cuts: calls between its beginning and its end mean nothing by themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.func import vmap

import torch2mlir


class Counted(nn.Module):
    """State that is written beside a transform, and read in it."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(()))
        self.weight = nn.Parameter(torch.arange(4.0))

    def forward(self, x: Tensor) -> Any:
        self.count += 1
        return vmap(lambda row: row.dot(self.weight) + self.count)(x).relu()


def _products(x: Tensor) -> Any:
    return vmap(lambda row: (row @ torch.ones(4, 5)).sum())(x)


def _nested(x: Tensor) -> Any:
    return vmap(lambda row: vmap(lambda other: row * other.sum())(x))(x) + 1


def _in_place(x: Tensor) -> Any:
    return vmap(lambda row: row.mul_(2).sum())(x)


def _in_chunks(x: Tensor) -> Any:
    return vmap(lambda row: row.cumsum(0), chunk_size=2)(x)


@pytest.mark.share(8)
@torch.no_grad()
@pytest.mark.parametrize("code", [_products, _nested, _in_place, _in_chunks, Counted])
def test_vmap_is_traced_through(code: Callable[..., Any]) -> None:
    """The parts compiled were compared inside of the transform, which raised and left the transform on for good."""
    model, eager = (code() if isinstance(code, type) else code for _ in range(2))
    optimized = torch2mlir.optimize(model, engine="xla")
    for _ in range(3):
        x = torch.randn(3, 4)
        ours, theirs = x.clone(), x.clone()
        torch.testing.assert_close(optimized(ours), eager(theirs))
        torch.testing.assert_close(ours, theirs)
    if isinstance(model, nn.Module):
        torch.testing.assert_close(model.state_dict(), eager.state_dict())


@torch.no_grad()
def test_random_numbers_in_vmap() -> None:
    def code(x: Tensor) -> Any:
        return vmap(lambda row: row + torch.rand(4), randomness="different")(x).sin()

    optimized, x = torch2mlir.optimize(code), torch.randn(3, 4)
    for seed in range(2):
        torch.manual_seed(seed)
        found = optimized(x)
        torch.manual_seed(seed)
        torch.testing.assert_close(found, code(x))
