"""A square weight and its transpose in one program, and kernels that two kinds of convolutions share: OpenVINO took one for the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import torch2mlir

SIZE = 6


class Weights(nn.Module):
    def __init__(self, function: Callable[..., Sequence[Tensor]]) -> None:
        super().__init__()
        self.function = function
        self.matrix = nn.Parameter(torch.randn(SIZE, SIZE))
        self.batch = nn.Parameter(torch.randn(SIZE, SIZE, SIZE))
        self.kernel = nn.Parameter(torch.randn(SIZE, SIZE, 3, 3))

    def forward(self, x: Tensor) -> Sequence[Tensor]:
        return self.function(x, self.matrix, self.batch, self.kernel)


def _tied_layers(x: Tensor, matrix: Tensor, *_: Tensor) -> Sequence[Tensor]:
    code = functional.linear(x.reshape(-1, SIZE), matrix).relu()
    return code, functional.linear(code, matrix.mT)


def _both_ways(x: Tensor, matrix: Tensor, *_: Tensor) -> Sequence[Tensor]:
    return x @ matrix + x @ matrix.mT + matrix @ x + matrix.mT @ x, (x @ matrix).mean(-1)


def _batches(x: Tensor, _: Tensor, batch: Tensor, __: Tensor) -> Sequence[Tensor]:
    line = x[:, 0]
    line = torch.cat([line, line, line])[:SIZE]
    return line @ batch + line @ batch.mT, line @ batch.transpose(0, 2)


def _tied_kernels(x: Tensor, _: Tensor, __: Tensor, kernel: Tensor) -> Sequence[Tensor]:
    code = functional.conv2d(x, kernel).relu()
    back = functional.conv_transpose2d(code, kernel)
    return back, functional.conv_transpose2d(x, kernel, padding=1) + functional.conv2d(
        x, kernel, padding=1
    )


FUNCTIONS = [_tied_layers, _both_ways, _batches, _tied_kernels]


@torch.no_grad()
@pytest.mark.parametrize("engine", ["openvino", "onnxruntime"])
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.share(2)
def test_of_weights_in_two_ways(function: Callable[..., Sequence[Tensor]], engine: str) -> None:
    model = Weights(function)
    compiled = torch2mlir.compile(
        model, torch.randn(SIZE, SIZE, SIZE, SIZE), output_type="onnx", engine=engine
    )
    for _ in range(3):
        x = torch.randn(SIZE, SIZE, SIZE, SIZE)
        torch.testing.assert_close(compiled(x), model(x), atol=2e-4, rtol=1e-4)
