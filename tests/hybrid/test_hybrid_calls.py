"""Calls that are known from before take a short way, and only those: what the capture assumes is still looked at."""

from __future__ import annotations

import warnings

import torch
from torch import nn

import torch2mlir


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.scale = 2.0
        self.steps = [1.0]

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"a": torch.tanh(self.linear(x)) * self.scale, "b": x - y * self.steps[0]}


def both(size: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(size, 4), torch.randn(size, 4)


def agree(optimized: nn.Module, model: nn.Module, size: int = 3) -> None:
    for _ in range(3):
        x, y = both(size)
        with torch.no_grad():
            expected = model(x, y)
            torch.testing.assert_close(optimized(x, y), expected)
            torch.testing.assert_close(optimized(x, y=y), expected)
            torch.testing.assert_close(optimized(y=y, x=x), expected)
            torch.testing.assert_close(optimized(x=x, y=y), expected)


def test_arguments_by_position_and_by_name_in_any_order() -> None:
    model = Model().eval()
    optimized = torch2mlir.optimize(model, model_inputs=both())
    agree(optimized, model)
    agree(optimized, model, 5)
    assert not optimized.report().pytorch_calls


def test_a_change_of_the_module_is_seen_by_a_call_that_is_known() -> None:
    model = Model().eval()
    optimized = torch2mlir.optimize(model, model_inputs=both())
    agree(optimized, model)
    model.scale = 3.0
    agree(optimized, model)
    model.steps[0] = 4.0
    agree(optimized, model)
    model.linear.weight = nn.Parameter(torch.randn(4, 4))
    agree(optimized, model)
    model.linear = nn.Linear(4, 4)
    agree(optimized, model)
    with torch.no_grad():
        model.linear.bias.add_(1)
    agree(optimized, model)


def test_other_dtypes_and_strides_are_other_calls() -> None:
    model = Model().eval()
    optimized = torch2mlir.optimize(model, model_inputs=both())
    agree(optimized, model)
    x, y = torch.randn(4, 3).t(), torch.randn(3, 4)
    with torch.no_grad():
        torch.testing.assert_close(optimized(x, y), model(x, y))
        optimized.double()
        for tensor in (torch.randn(3, 4, dtype=torch.float64) for _ in range(2)):
            torch.testing.assert_close(optimized(tensor, tensor), model(tensor, tensor))


def test_a_gradient_that_is_wanted_runs_in_pytorch_also_when_the_call_is_known() -> None:
    model = Model().eval()
    optimized = torch2mlir.optimize(model, model_inputs=both())
    agree(optimized, model)
    x, y = both()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert optimized(x.requires_grad_(), y)["a"].requires_grad
        model.train()
        assert optimized(x.detach(), y)["a"].requires_grad
    model.eval()
    assert not optimized(x.detach(), y)["a"].requires_grad


def test_modes_of_pytorch_are_seen_by_a_call_that_is_known() -> None:
    model = Model().eval()
    optimized = torch2mlir.optimize(model, model_inputs=both())
    agree(optimized, model)
    x, y = both()
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        assert optimized(x, y)["a"].dtype is model(x, y)["a"].dtype is torch.bfloat16
