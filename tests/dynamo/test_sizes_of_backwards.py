"""Backward passes get products of sizes as integers, of which they make the shapes of gradients."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from torch2mlir import dynamo


class WithToken(nn.Module):
    """A class token before the others, as vision transformers have it."""

    def __init__(self) -> None:
        super().__init__()
        self.token = nn.Parameter(torch.randn(4))
        self.layer = nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(torch.cat([self.token.expand(x.shape[0], 1, 4), x], 1))


class OfPatches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(1, 4, 2, stride=2)
        self.layers = nn.Sequential(nn.LayerNorm(4), nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 3))

    def forward(self, x: Tensor) -> Tensor:
        x = x.reshape(x.shape[0], 1, 4, 5)[..., :4]
        return self.layers(self.patches(x).flatten(2).transpose(1, 2)).mean(1)


@pytest.mark.share(8)
@pytest.mark.parametrize("engine", ["xla", "iree"])
@pytest.mark.parametrize("varies", [None, True])
@pytest.mark.parametrize("make", [WithToken, OfPatches])
def test_all_is_compiled(make: Callable[[], nn.Module], varies: bool | None, engine: str) -> None:
    """From the second batch size on the whole backward pass was left to PyTorch."""
    torch._dynamo.reset()
    eager = make()
    model = copy.deepcopy(eager)
    compiled = torch.compile(
        model, backend="torch2mlir", dynamic=varies, options={"engine": engine}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", dynamo.FallbackWarning)
        for batch in (2, 3, 5, 4):
            x = torch.randn(batch, 5, 4)
            for each, step in ((eager, eager), (model, compiled)):
                each.zero_grad()
                step(x).square().sum().backward()
            for one, other in zip(model.parameters(), eager.parameters(), strict=True):
                torch.testing.assert_close(one.grad, other.grad, atol=1e-4, rtol=1e-4)
