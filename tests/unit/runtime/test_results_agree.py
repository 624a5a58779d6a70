"""How far results may be from PyTorch's, by what they were computed in."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import torch2mlir
from torch2mlir.hybrid.difference import narrowest_floats
from torch2mlir.runtime.agreement import difference

COMPUTED = torch.randn(64)


@pytest.mark.parametrize(
    ("expected", "error", "agrees"),
    [
        (COMPUTED.double(), 1e-6, True),  # in 32 bits, and converted
        (COMPUTED.double(), 1e-1, False),
        (torch.randn(64, dtype=torch.float64), 1e-6, False),
        (torch.arange(64.0, dtype=torch.float64), 1e-6, False),  # counted
        (COMPUTED, 1e-6, True),
    ],
    ids=["converted", "converted_far", "double", "counted", "float"],
)
def test_errors_of_doubles(expected: torch.Tensor, error: float, agrees: bool) -> None:
    actual = (expected + error).float().to(expected.dtype)
    assert (difference(actual, expected) is None) == agrees


class Scores(nn.Module):
    """Probabilities by doubles of what is computed in floats, as detectors have them."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64), nn.GELU())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x).double()


@torch.no_grad()
def test_what_is_converted_to_doubles_is_compiled() -> None:
    model, x = Scores().eval(), torch.randn(8, 64)
    report = torch2mlir.optimize(model, model_inputs=(x,)).report()
    assert "differs" not in str(report)


class Mixed(nn.Module):
    """Results in doubles: of halves, of floats, of numbers that floats have chosen, of doubles, of nothing computed."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        hidden = x @ x
        return (
            (hidden.half() * 2).double().log_softmax(-1),
            hidden.double().log_softmax(-1),
            hidden.argmax(-1).double() / 3,
            y.exp(),
            x.double(),
            y,
        )


def test_the_narrowest_floats_on_the_way_to_a_result() -> None:
    arguments = (torch.randn(4, 4), torch.randn(4, dtype=torch.float64))
    graph = torch.export.export(Mixed(), arguments).graph
    double = torch.float64
    assert narrowest_floats(graph) == [torch.float16, torch.float32, double, double, double, None]


class Likelihoods(nn.Module):
    """Doubles computed of floats, whose bits they all have."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64), nn.GELU())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x).double().log_softmax(-1)


@torch.no_grad()
def test_doubles_of_floats_are_compiled() -> None:
    model, x = Likelihoods().eval(), torch.randn(8, 64)
    report = torch2mlir.optimize(model, model_inputs=(x,)).report()
    assert "differs" not in str(report)
