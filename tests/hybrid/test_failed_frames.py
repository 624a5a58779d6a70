"""``optimize`` runs what PyTorch's analysis fails at, and raises what the model raises."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import torch2mlir


class WithoutPlaces(nn.Module):
    """A convolution whose result has no place; on fake tensors PyTorch refuses it."""

    def __init__(self) -> None:
        super().__init__()
        self.transposed = nn.ConvTranspose1d(1, 1, kernel_size=2, padding=1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.erf(self.transposed(x)), x.sin() + x.cos()


def test_what_cannot_be_analysed_runs_in_python(capfd: pytest.CaptureFixture[str]) -> None:
    model = WithoutPlaces().eval()
    optimized = torch2mlir.optimize(model, model_inputs=torch.randn(3, 1, 1))
    for _ in range(3):
        x = torch.randn(3, 1, 1)
        with torch.no_grad():
            torch.testing.assert_close(optimized(x), model(x))
    assert "fake tensor call" in str(optimized.report())
    assert capfd.readouterr().err == ""
    assert not torch._dynamo.config.suppress_errors


def test_errors_are_the_models_own() -> None:
    def model(x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            x = x + 1
        return x @ x

    optimized = torch2mlir.optimize(model)
    square = torch.ones(2, 2)
    torch.testing.assert_close(optimized(square), model(square))
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        optimized(torch.ones(2, 3))
    torch.testing.assert_close(optimized(-square), model(-square))
