"""How far results may be from PyTorch's, by what they were computed in."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import torch2mlir
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
