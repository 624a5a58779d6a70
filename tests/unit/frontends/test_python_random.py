"""Random numbers that are not PyTorch's, and gradients: a compiled program repeated the first, and had none, in silence."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import torch2mlir
from torch2mlir.errors import CaptureError


def _one_of_two(x: Tensor) -> Tensor:
    return x * 2 if random.random() < 0.5 else x * 3


def _factor(x: Tensor) -> Tensor:
    return x * random.uniform(1, 2)


def _of_numpy(x: Tensor) -> Tensor:
    return x * float(np.random.rand())


def _noise(x: Tensor) -> Tensor:
    return x + torch.from_numpy(np.random.rand(3).astype("float32"))


class Layers(nn.Module):
    """Leaves layers out, in training."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(4)).requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            chance = random.uniform(0, 1)
            if not self.training or chance > 0.5:
                x = layer(x)
        return x


@pytest.mark.parametrize("model", [_one_of_two, _factor, _of_numpy, _noise, Layers().train()])
def test_numbers_drawn_outside_of_pytorch_are_refused(model: Callable[[Tensor], Tensor]) -> None:
    random.seed(3)
    before = random.getstate()
    with pytest.raises(CaptureError, match="random numbers of Python's or NumPy's"):
        torch2mlir.compile(model, torch.ones(3), engine="reference")
    assert random.getstate() == before


@pytest.mark.parametrize(
    "asked", [time.perf_counter, lambda: datetime.now().microsecond, lambda: os.urandom(1)[0]]
)
def test_the_time_is_refused(asked: Callable[[], float]) -> None:
    def model(x: Tensor) -> Tensor:
        time.sleep(0.001)
        return x * float(asked())

    with pytest.raises(CaptureError, match="asks for the time"):
        torch2mlir.compile(model, torch.ones(3, dtype=torch.float64), engine="reference")


class Draws(nn.Module):
    """Has a generator of its own."""

    def __init__(self, generator: Any) -> None:
        super().__init__()
        self.generator = generator

    def forward(self, x: Tensor) -> Tensor:
        return x * self.generator.random()


@torch.no_grad()
@pytest.mark.parametrize("made", [random.Random, np.random.default_rng, np.random.RandomState])
def test_generators_of_a_model(made: Callable[[int], Any]) -> None:
    x = torch.ones(3)
    with pytest.raises(CaptureError, match="changes what its next call computes: 'generator'"):
        torch2mlir.compile(Draws(made(3)), x, engine="reference")
    ours, eager = torch2mlir.optimize(Draws(made(3)), model_inputs=(x,)), Draws(made(3))
    for _ in range(3):
        torch.testing.assert_close(ours(x), eager(x))


def test_what_is_drawn_and_not_used_is_nothing() -> None:
    model = Layers().eval()
    ours = torch2mlir.compile(model, torch.ones(3), engine="reference")
    for _ in range(3):
        x = torch.randn(3)
        torch.testing.assert_close(ours(x), model(x))


class Cached(nn.Module):
    """Fills a buffer in the first call, which it knows by a number of Python's, and draws what it does not use."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("cache", torch.zeros(3), persistent=False)
        self.length = 0

    def forward(self, x: Tensor) -> Tensor:
        random.random()
        if not self.length:
            self.cache.copy_(torch.arange(3.0))
            self.length = 3
        return x + self.cache


def test_a_cache_of_the_first_call_is_not_drawn() -> None:
    """The calls on trial had the buffer of the first and the number of the last."""
    x = torch.randn(3)
    ours = torch2mlir.compile(Cached().eval(), x, engine="reference")
    for _ in range(3):
        torch.testing.assert_close(ours(x), x + torch.arange(3.0))


@torch.no_grad()
def test_optimize_draws_them_anew() -> None:
    model = Layers().train()
    optimized = torch2mlir.optimize(model, model_inputs=(torch.ones(3),))
    assert len({optimized(torch.ones(3)).sum().item() for _ in range(40)}) > 2


def test_gradients_are_values_or_refused() -> None:
    model = nn.Linear(3, 1)

    def accumulated(x: Tensor) -> Tensor:
        loss = model(x).pow(2).mean()
        loss.backward()
        return loss.detach()

    def returned(x: Tensor) -> tuple[Tensor, ...]:
        return torch.autograd.grad(model(x).pow(2).mean(), list(model.parameters()))

    with pytest.raises(CaptureError, match=r"calls backward\(\)"):
        torch2mlir.compile(accumulated, torch.randn(4, 3))
    ours = torch2mlir.compile(returned, torch.randn(4, 3))
    for _ in range(3):
        x = torch.randn(4, 3)
        torch.testing.assert_close(ours(x), returned(x))


def _scaled(x: Tensor) -> Tensor:
    return x * random.random() + float(np.random.rand())


def test_optimize_draws_what_eager_mode_draws() -> None:
    """In a process of its own: what is imported at the first call may draw as well."""
    program = """
import random, numpy, torch, torch2mlir
from tests.unit.frontends.test_python_random import _scaled
results = []
for wrap in (lambda f: f, lambda f: torch2mlir.optimize(f, model_inputs=(torch.ones(2),)), torch2mlir.optimize):
    random.seed(1), numpy.random.seed(1)
    run = wrap(_scaled)
    results.append([run(torch.ones(2))[0].item() for _ in range(3)])
assert results[0] == results[1] == results[2], results
"""
    subprocess.run([sys.executable, "-c", program], check=True)


class Flips(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.flip(-1) if random.random() < 0.5 else x


class Branches(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2 if np.random.uniform(0, 1) < 0.5 else x + 1


class Noise(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.from_numpy(np.random.uniform(size=4)).float()


class Masks(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.from_numpy(np.random.rand(4) < 0.5)


@torch.no_grad()
@pytest.mark.share(3)
@pytest.mark.parametrize("kind", [Flips, Branches, Noise, Masks])
@pytest.mark.parametrize("fill", [0.0, 1.0])
def test_draws_that_do_not_show_on_the_example(kind: type[torch.nn.Module], fill: float) -> None:
    """A constant turned round is what it was; NumPy's arrays came from PyTorch's generator."""
    example = torch.full((4,), fill)
    with pytest.raises(
        torch2mlir.CaptureError, match="draws random numbers of Python's or NumPy's"
    ):
        torch2mlir.compile(kind(), example)

    def calls(model: Any) -> tuple[Any, ...]:
        random.seed(1)
        np.random.seed(1)
        torch.manual_seed(1)
        results = [model(torch.arange(4.0)).tolist() for _ in range(6)]
        return results, random.random(), np.random.rand(), torch.rand(()).item()

    wanted = calls(kind())
    for optimized in (
        torch2mlir.optimize(kind()),
        torch2mlir.optimize(kind(), allow_tracing=True, model_inputs=(example,)),
    ):
        optimized(example)
        assert calls(optimized) == wanted


def test_loading_an_engine_draws_nothing() -> None:
    """JAX draws from NumPy's generator when it is imported."""
    code = (
        "import numpy, torch, torch2mlir; numpy.random.seed(0); "
        "torch2mlir.compile(torch.relu, torch.ones(2), output_type='stablehlo', engine='xla')(torch.ones(2)); "
        "print(numpy.random.rand())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    np.random.seed(0)
    assert float(done.stdout) == np.random.rand()
