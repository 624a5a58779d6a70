"""Conversions of a module and of its tensors in ``forward`` that change nothing, and those that would."""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch
from torch import Tensor, nn

import torch2mlir
from torch2mlir.errors import CaptureError

TARGET = {"output_type": "linalg-on-tensors", "engine": "reference"}


class Converted(nn.Module):
    """Moves its parts to where the argument is."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.norm = nn.Linear(3, 3), nn.BatchNorm1d(3)

    def forward(self, x: Tensor) -> Tensor:
        self.linear.to(x.device)
        self.norm.float().to(x.dtype)
        return self.norm(self.linear(x))


class OwnData(nn.Module):
    """As metric learning's losses have it."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(3, 3))
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x: Tensor) -> Tensor:
        self.weight.data = self.weight.data.to(x.device, x.dtype)
        self.total.add_(x.sum(0))
        self.total.data = self.total.to(x.device)
        self.total.mul_(0.5)
        return x @ self.weight + self.total


@pytest.mark.parametrize("kind", [Converted, OwnData])
def test_nothing_is_changed(kind: type[nn.Module]) -> None:
    model, convert = kind(), nn.Module._apply
    eager = deepcopy(model)
    compiled = torch2mlir.compile(model, torch.rand(4, 3), **TARGET)
    for _ in range(3):
        x = torch.rand(4, 3)
        torch.testing.assert_close(compiled(x), eager(x))
        torch.testing.assert_close(model.state_dict(), eager.state_dict())
    assert nn.Module._apply is convert


class Widened(nn.Module):
    """Makes another module of itself."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear.double()(x.double())


class PartOfData(OwnData):
    """Loses a row in every call."""

    def forward(self, x: Tensor) -> Tensor:
        self.weight.data = self.weight.data[1:]
        return x[:, 1:] @ self.weight


class OtherMemory(OwnData):
    """Equal in everything but where it lies."""

    def forward(self, x: Tensor) -> Tensor:
        self.weight.data = self.weight.data.t()
        return x @ self.weight


@pytest.mark.parametrize("kind", [Widened, PartOfData, OtherMemory])
def test_what_would_be_changed_is_refused(kind: type[nn.Module]) -> None:
    with pytest.raises(CaptureError):
        torch2mlir.compile(kind(), torch.rand(4, 3), **TARGET)
