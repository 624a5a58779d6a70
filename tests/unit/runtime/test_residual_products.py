"""Two products of matrices and elementwise operators of several tensors: compiling such ended the process on OpenVINO."""

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


class Gated(Residual):
    """Each product is computed with its argument, and with one number of each row."""

    def forward(self, x: Tensor) -> Tensor:
        first, gelu, second = self.layers
        hidden = gelu(first(x) * x[:, :1]) + x[:, 1:2].sigmoid()
        return torch.where(x > 0, second(hidden * 2), x.neg())


MODELS: dict[str, Callable[[], nn.Module]] = {
    "errors": lambda: Errors(16),
    "blocks": lambda: nn.Sequential(Residual(8), Residual(8)),
    "normalized": lambda: nn.Sequential(*[Residual(16, lambda: nn.LayerNorm(16)) for _ in "ab"]),
    "gated": lambda: Gated(16),
    "activated": lambda: nn.Sequential(nn.ReLU(), Residual(4)),
}


WIDTHS = {"errors": 16, "blocks": 8, "normalized": 16, "gated": 16, "activated": 4}


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


BESIDE: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "difference": lambda y, target: y - target,
    "scaled": lambda y, target: y * nn.functional.gelu(target),
    "chosen": lambda y, target: torch.where(target > 0, y, 0.5),
    "error": lambda y, target: (y.tanh() - target).square().mean(),
}


class Beside(nn.Module):
    """What two linear layers give, with a tensor that they do not read."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(32, 24), nn.Linear(24, 8))
        self.together = BESIDE[name]

    def forward(self, x: Tensor, target: Tensor) -> Tensor:
        return self.together(self.layers(x), target)


@pytest.mark.share(2)
@pytest.mark.parametrize("columns", [1, 8])
@pytest.mark.parametrize("rows", [1, 4, 33])
@pytest.mark.parametrize("name", BESIDE)
@torch.no_grad()
def test_products_beside_another_tensor(name: str, rows: int, columns: int) -> None:
    model, arguments = Beside(name).eval(), (torch.randn(rows, 32), torch.randn(rows, columns))
    compiled = torch2mlir.compile(model, *arguments, output_type="onnx", engine="openvino")
    for _ in range(3):
        arguments = (torch.randn(rows, 32), torch.randn(rows, columns))
        torch.testing.assert_close(compiled(*arguments), model(*arguments), atol=1e-5, rtol=1e-5)
