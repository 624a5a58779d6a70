"""Models that seed PyTorch's random numbers themselves, or have a generator of their own: a program draws others."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import torch2mlir
from torch2mlir.errors import CaptureError


class Seeded(nn.Module):
    """As transformers' Reformer with a ``hash_seed``."""

    def forward(self, x: Tensor) -> Tensor:
        torch.manual_seed(0)
        return x + torch.randn(3)


class SeededAsAnObject(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        torch.default_generator.manual_seed(0)  # type: ignore[attr-defined]
        return x + torch.randn(3)


class Forked(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            drawn = torch.randn(3)
        return x + drawn + torch.randn(3)


class DrawnTwice(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        state = torch.get_rng_state()
        drawn = torch.randn(3)
        torch.set_rng_state(state)
        return x + drawn - torch.randn(3)


class GeneratorOfEachCall(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x + torch.randn(3, generator=torch.Generator().manual_seed(0))


class GeneratorOfItsOwn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.generator = torch.Generator().manual_seed(0)

    def forward(self, x: Tensor) -> Tensor:
        return x + torch.randn(3, generator=self.generator)


MODELS: list[Callable[[], nn.Module]] = [
    *(Seeded, SeededAsAnObject, Forked, DrawnTwice, GeneratorOfEachCall, GeneratorOfItsOwn)
]


@pytest.mark.parametrize("make", MODELS)
@torch.no_grad()
def test_random_numbers_of_a_seed(make: Callable[[], nn.Module]) -> None:
    """``compile`` drew others at each call, and ``optimize`` went on with the generator of its capture."""
    x = torch.zeros(2, 3)
    with pytest.raises(CaptureError, match=r"seed or a state|torch.Generator of its own"):
        torch2mlir.compile(make(), x)
    optimized, eager = torch2mlir.optimize(make(), model_inputs=(x,)), make()
    for call in range(3):
        found = []
        for model in (optimized, eager):
            torch.manual_seed(call)
            found.append((model(x + call), torch.randn(2)))
        torch.testing.assert_close(*found)
    assert type(torch.default_generator) is type(torch.Generator())  # type: ignore[attr-defined]


@torch.no_grad()
def test_draws_of_no_seed_compile() -> None:
    compiled = torch2mlir.compile(nn.Dropout(0.5).train(), torch.ones(64))
    torch.manual_seed(1)
    first, second = compiled(torch.ones(64)), compiled(torch.ones(64))
    torch.manual_seed(1)
    torch.testing.assert_close(compiled(torch.ones(64)), first)
    assert not torch.equal(first, second)
