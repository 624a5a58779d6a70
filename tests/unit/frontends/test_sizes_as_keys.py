"""Sizes that vary as keys of a model's dictionaries and sets."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import torch2mlir


class Positions(torch.nn.Module):
    """A cache of what is computed once for every length."""

    def __init__(self) -> None:
        super().__init__()
        self.cache = dict[int, Tensor]()

    def forward(self, x: Tensor) -> Tensor:
        length = x.shape[0]
        if length not in self.cache:
            self.cache[length] = torch.arange(length, dtype=torch.float32)
        return x + self.cache[length][:, None]


class Factors(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * {3: 2.0, 5: 7.0}.get(x.shape[0], 1.0) * len({x.shape[0], 3})


@pytest.mark.parametrize("kind", [Positions, Factors])
def test_sizes_as_keys(kind: type[torch.nn.Module]) -> None:
    """PyTorch's sizes that vary have no hash; each length has a program of its own."""
    model, eager = kind(), kind()
    shapes = ({0: torch.export.Dim.AUTO},)
    compiled = torch2mlir.compile(model, torch.randn(6, 2), dynamic_shapes=shapes)
    for length in (6, 3, 5, 4, 1, 6):
        x = torch.randn(length, 2)
        assert torch.equal(compiled(x), eager(x))
    assert all(type(key) is int for key in getattr(model, "cache", {}))


class Seen(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.seen = set[int]()

    def forward(self, x: Tensor) -> Tensor:
        self.seen.add(x.shape[0])
        return x * len(self.seen)


class Noted(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.noted = dict[int, int]()

    def forward(self, x: Tensor) -> Tensor:
        self.noted[x.shape[0]] = 1
        return x * len(self.noted)


@pytest.mark.parametrize("kind", [Seen, Noted])
def test_how_many_there_have_been(kind: type[torch.nn.Module]) -> None:
    """Another call of the same size changes nothing, one of another size does."""
    shapes = ({0: torch.export.Dim.AUTO},)
    with pytest.raises(torch2mlir.CaptureError, match="changes what its next call computes"):
        torch2mlir.compile(kind(), torch.randn(6, 2), dynamic_shapes=shapes)
    optimized, eager = torch2mlir.optimize(kind()), kind()
    for length in (6, 5, 6, 3, 1):
        x = torch.randn(length, 2)
        assert torch.equal(optimized(x), eager(x))
