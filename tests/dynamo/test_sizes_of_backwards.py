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


class Scored(nn.Module):
    """As language models are trained: the scores of all tokens of all rows."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(4, 6)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return nn.functional.cross_entropy(self.head(x).view(-1, 6), y.view(-1))


class Next(Scored):
    """The scores of all tokens but the last of each row, for the ones behind them."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        scores = self.head(x)[:, :-1].reshape(-1, 6)
        return nn.functional.cross_entropy(scores, y[:, 1:].reshape(-1))


class Attending(nn.Module):
    """With dropout, of which the backward pass takes the square of the length."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        q = self.layer(x).unflatten(-1, (2, 2)).transpose(1, 2)
        found = nn.functional.scaled_dot_product_attention(q, q, q, dropout_p=1e-9)
        return (found.sum((1, 3)) * y).sum()


@pytest.mark.share(10)
@pytest.mark.parametrize("engine", ["onnxruntime", "iree", "xla"])
@pytest.mark.parametrize("varies", [None, True])
@pytest.mark.parametrize("make", [Scored, Next, Attending])
def test_rows_and_lengths(make: Callable[[], nn.Module], varies: bool | None, engine: str) -> None:
    """A size that only an integer tells was a KeyError on engines for all sizes, as was a power of a size on all."""
    torch._dynamo.reset()
    eager = make()
    model = copy.deepcopy(eager)
    compiled = torch.compile(
        model, backend="torch2mlir", dynamic=varies, options={"engine": engine, "fallback": False}
    )
    for rows, length in ((2, 7), (3, 5), (2, 9), (4, 3)):
        x, y = torch.randn(rows, length, 4), torch.randint(0, 6, (rows, length))
        for each, step in ((eager, eager), (model, compiled)):
            each.zero_grad()
            step(x, y).backward()
        for one, other in zip(model.parameters(), eager.parameters(), strict=True):
            torch.testing.assert_close(one.grad, other.grad, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("engine", ["onnxruntime", "iree", "xla"])
@pytest.mark.share(3)
def test_integers_that_may_be_negative(engine: str) -> None:
    """Of the number that ends a slice from the end no tensor has the length."""
    torch._dynamo.reset()

    def first(x: Tensor, count: int) -> Tensor:
        return x[:count] * count

    compiled = torch.compile(first, backend="torch2mlir", options={"engine": engine})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dynamo.FallbackWarning)
        for count in (4, 3, 5, -2, 0):
            x = torch.randn(6)
            torch.testing.assert_close(compiled(x, count), first(x, count))
