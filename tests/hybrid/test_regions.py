"""Models that ``optimize`` captures region by region, because a call changes what they read."""

from __future__ import annotations

import copy

import torch
from torch import nn

import torch2mlir


class TakesGradients(nn.Module):
    """A gradient inside of a call: its backward pass is compiled while TorchDynamo looks on, which never ended."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        with torch.enable_grad():
            z = x.detach().clone().requires_grad_()
            [gradient] = torch.autograd.grad((z * z).sum(), z)
        return x + gradient * self.calls


class CountsCalls(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0
        self.part = nn.Tanh()
        self.sum = torch.zeros(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        self.sum.add_(x)
        return self.part(x) * self.calls + self.sum


def _agree(model: nn.Module, *changes: str) -> None:
    eager = copy.deepcopy(model)
    ours = torch2mlir.optimize(model, model_inputs=(torch.ones(3),))
    with torch.no_grad():
        for change in ("pass", *changes, "pass"):
            for each in (model, eager):
                exec(change, {"model": each})
            x = torch.randn(3)
            torch.testing.assert_close(ours(x), eager(x))
    assert "region by region" in str(ours.report())


def test_gradients_inside_of_a_call() -> None:
    _agree(TakesGradients())


def test_the_trial_leaves_plain_tensors_alone() -> None:
    """They had the sum of one call too many."""
    _agree(CountsCalls())


def test_methods_that_are_put_in_the_place_of_others() -> None:
    """Nor at the functions of a class."""

    class Part(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.inner(x)

        def inner(self, x: torch.Tensor) -> torch.Tensor:
            return x + 1

    class Inherits(nn.Linear):
        pass

    model = CountsCalls()
    model.part = nn.Sequential(Part(), Inherits(3, 3))
    _agree(
        model,
        "type(model.part[0]).inner = lambda self, x: x * 5",
        "type(model.part[0]).forward = lambda self, x: x * 7",
        "type(model.part[1]).forward = lambda self, x: x * 9",
        "model.part = model.part[0]",
        "type(model.part).forward = lambda self, x: x * 11",
    )


def test_hooks_that_come_later() -> None:
    """TorchDynamo does not look for them."""
    _agree(
        CountsCalls(),
        "model.part.register_forward_hook(lambda module, given, result: result + 2)",
        "model.register_forward_pre_hook(lambda module, given: (given[0] * 2,))",
    )


class Force(nn.Module):
    """What a potential's gradient says, in the caller's grad mode."""

    def __init__(self) -> None:
        super().__init__()
        self.energy = nn.Linear(6, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.detach().requires_grad_()
        return torch.autograd.grad(torch.tanh(self.energy(x)).sum(), x)[0]


def test_examples_of_a_model_that_differentiates() -> None:
    model = Force().eval()
    optimized = torch2mlir.optimize(model, True, model_inputs=(torch.randn(4, 6),))
    for _ in range(3):
        x = torch.randn(4, 6)
        torch.testing.assert_close(optimized(x), model(x))
