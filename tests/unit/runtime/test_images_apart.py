"""What is computed before a convolution and cannot be computed with its kernel, where OpenVINO tries to."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import torch2mlir

COLUMN, ROW, IMAGE = (
    torch.tensor([1.0, 2.0, 3.0]),
    torch.tensor([[1.0], [0.0], [2.0]]),
    torch.rand(2, 3, 3),
)
KERNEL = torch.randn(4, 2, 3, 3)
WIDER = torch.randn(4, 4, 3, 3)
ORDER = torch.tensor([1, 2, 3, 0])


def _widened(x: Tensor) -> Tensor:
    return functional.conv2d(x, KERNEL, padding=1)


class Pooled(nn.Module):
    """Divides by the number of elements in a window, which is another one in the middle."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.AdaptiveAvgPool2d(3), nn.Conv2d(2, 4, 3, padding=1))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(functional.pad(x, (0, 2, 0, 2)))


class Learned(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.rand(1, 2, 3, 3))
        self.layer = nn.Conv2d(2, 4, 3, padding=1, groups=2)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x * self.scale)


MODELS: dict[str, Callable[[], Callable[[Tensor], Tensor]]] = {
    "columns": lambda: lambda x: functional.conv2d(x * COLUMN, KERNEL, padding=1),
    "masked rows": lambda: lambda x: functional.conv2d(-(x * ROW), KERNEL, padding=1),
    "divided": lambda: lambda x: functional.conv2d(x / (IMAGE + 1), KERNEL, padding=1),
    "padded": lambda: lambda x: functional.conv2d(functional.pad(x * COLUMN, (1, 1)), KERNEL),
    "lines": lambda: lambda x: functional.conv1d(x[:, 0] * COLUMN, KERNEL[:, 0], padding=1),
    "adaptive pooling": Pooled,
    "learned": Learned,
    "padded kernel": lambda: (
        lambda x: functional.conv2d(x, functional.pad(KERNEL, (1, 1, 1, 1)), padding=2)
    ),
    "channels rolled": lambda: lambda x: functional.conv2d(_widened(x).roll(1, 1), WIDER),
    "channels chosen": lambda: (
        lambda x: functional.conv2d(_widened(x)[:, ORDER].relu(), WIDER, padding=1)
    ),
    "strides of one place": lambda: (
        lambda x: functional.conv2d(_widened(x).relu(), WIDER[..., :1, :1], stride=2, padding=1)
    ),
    "strides of padded places": lambda: (
        lambda x: functional.conv2d(
            functional.pad(_widened(x), (1, 1, 1, 1)), WIDER[..., :1, :1], stride=2
        ).mean((2, 3))
    ),
}


@torch.no_grad()
@pytest.mark.parametrize("engine", ["openvino", "onnxruntime"])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.share(2)
def test_of_the_image_alone(name: str, engine: str) -> None:
    model = MODELS[name]()
    compiled = torch2mlir.compile(
        model,
        torch.randn(2, 2, 3, 3),
        dynamic_shapes=({0: torch.export.Dim.DYNAMIC},),
        output_type="onnx",
        engine=engine,
    )
    for batch in (2, 3, 4):
        x = torch.randn(batch, 2, 3, 3)
        torch.testing.assert_close(compiled(x), model(x), atol=1e-5, rtol=1e-5)
