"""Networks of convolutions on XLA, which gets them with the channels last."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import torch2mlir


class Squeezed(nn.Module):
    """Convolutions around everything that follows their layout, and much that does not."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.gate = nn.Conv2d(8, 8, 1)
        self.depthwise = nn.Conv2d(8, 8, 3, padding=2, dilation=2, groups=8)
        self.per_position = nn.LayerNorm(8)
        self.up = nn.ConvTranspose2d(16, 4, 2, stride=2)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = F.relu(self.norm(self.stem(x)))
        y = y * self.gate(y.mean((2, 3), keepdim=True)).sigmoid()
        z = F.gelu(self.depthwise(y)) + y
        z = self.per_position(z.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        pooled = F.max_pool2d(torch.cat([y, z], 1), 3, 1, 1)
        up = F.pad(self.up(pooled), (1, 0, 2, -1), value=3.0)
        return (
            up.flatten(1),
            pooled.softmax(1),
            y.sum(0),
            up[:, 1:, ::2].amax((1, 2)),
            z.clamp(-1, 1),
        )


NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "squeezed": (Squeezed, (2, 3, 10, 8)),
    "1d": (
        lambda: nn.Sequential(nn.Conv1d(2, 6, 3, groups=2), nn.ELU(), nn.AvgPool1d(2)),
        (2, 2, 9),
    ),
    "3d": (
        lambda: nn.Sequential(nn.Conv3d(2, 3, 2), nn.Hardswish(), nn.MaxPool3d(2)),
        (1, 2, 5, 5, 7),
    ),
    "transposed": (lambda: nn.ConvTranspose2d(4, 6, 3, 2, 1, 1, groups=2), (1, 4, 5, 5)),
}


@pytest.mark.share(4)
@pytest.mark.parametrize("name", NETWORKS)
def test_against_eager(name: str) -> None:
    make, shape = NETWORKS[name]
    model, x = make().eval(), torch.rand(shape)
    run = torch2mlir.compile(model, x)
    with torch.no_grad():
        torch.testing.assert_close(run(x), model(x), rtol=1e-4, atol=1e-5)


def test_transposes_of_weights_are_prepared() -> None:
    network = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 4, 3))
    run = torch2mlir.compile(network.eval(), torch.rand(1, 3, 9, 9))
    main, prepare = run.text().split("@main_prepare")
    assert main.count("stablehlo.transpose") == 2
    assert "tensor<3x3x3x8xf32>, tensor<" in prepare.split("->")[1]
    assert "[o, i, 0, 1]" in str(
        torch2mlir.export_and_import(network, torch.rand(1, 3, 9, 9), output_type="stablehlo")
    )
