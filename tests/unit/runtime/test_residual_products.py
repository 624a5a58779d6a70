"""Two products of matrices whose argument is read again behind them: compiling such ended the process on OpenVINO."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import torch2mlir


class Residual(nn.Module):
    def __init__(self, width: int, norm: Callable[[], nn.Module] = nn.Identity) -> None:
        super().__init__()
        self.norm = norm()
        self.layers = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        return x + self.layers(self.norm(x))


class Errors(Residual):
    """How far an autoencoder is off."""

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x) - x


MODELS: dict[str, Callable[[], nn.Module]] = {
    "errors": lambda: Errors(16),
    "blocks": lambda: nn.Sequential(Residual(8), Residual(8)),
    "normalized": lambda: nn.Sequential(*[Residual(16, lambda: nn.LayerNorm(16)) for _ in "ab"]),
    "activated": lambda: nn.Sequential(nn.ReLU(), Residual(4)),
}


WIDTHS = {"errors": 16, "blocks": 8, "normalized": 16, "activated": 4}


@pytest.mark.share(4)
@pytest.mark.parametrize("rows", [1, 2, 8, 33])
@pytest.mark.parametrize("name", MODELS)
@torch.no_grad()
def test_agrees_with_eager(name: str, rows: int) -> None:
    model, width = MODELS[name]().eval(), WIDTHS[name]
    x = torch.randn(rows, width)
    compiled = torch2mlir.compile(model, x, output_type="onnx", engine="openvino")
    for _ in range(3):
        x = torch.randn_like(x)
        torch.testing.assert_close(compiled(x), model(x), atol=1e-5, rtol=1e-5)
