"""Buffers that a call puts other tensors in the place of, where PyTorch's capture does not hear of it: refused."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

import torch2mlir
from torch2mlir.errors import CaptureError


class Smallest(nn.Module):
    """Takes the smallest of each column off, and keeps it."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("least", torch.zeros(3))

    def forward(self, x: Tensor) -> Tensor:
        self.least = x.amin(0)
        return x - self.least


class Once(nn.Module):
    """A part of the usual kind."""

    def __init__(self) -> None:
        super().__init__()
        self.part = Smallest()

    def forward(self, x: Tensor) -> Tensor:
        return self.part(x) * 2


class Twice(Once):
    """Has its part under two names: PyTorch's capture calls a copy of it."""

    def __init__(self) -> None:
        super().__init__()
        self.same = self.part

    def forward(self, x: Tensor) -> Tensor:
        return self.same(x) * 2


class OwnCall(Once):
    """Calls no hooks, as GPyTorch's modules do not."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)


class KeepsTheOld(Smallest):
    """Has the tensor by another name, by which it stays what it was."""

    def __init__(self) -> None:
        super().__init__()
        self.first = self.least

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) * (self.first + 2)


class SharesIt(Once):
    """Two parts with one buffer, of which one gets another."""

    def __init__(self) -> None:
        super().__init__()
        self.other = Smallest()
        self.other.least = self.part.least

    def forward(self, x: Tensor) -> Tensor:
        return self.part(x) + self.other.least


@pytest.mark.share(4)
@pytest.mark.parametrize("kind", [Twice, OwnCall, KeepsTheOld, SharesIt])
def test_what_would_be_lost_is_refused(kind: type[nn.Module]) -> None:
    with pytest.raises(CaptureError, match="in the place of its buffer"):
        torch2mlir.compile(kind(), torch.rand(4, 3), engine="reference")
    _agrees(torch2mlir.optimize, kind(), model_inputs=(torch.rand(4, 3),))


def test_parts_are_kept() -> None:
    _agrees(torch2mlir.compile, Once(), torch.rand(4, 3), engine="reference")


def _agrees(entrance: Any, model: nn.Module, *args: Any, **options: Any) -> None:
    eager = deepcopy(model)
    ours = entrance(model, *args, **options)
    for _ in range(3):
        x = torch.rand(4, 3)
        torch.testing.assert_close(ours(x), eager(x))
        torch.testing.assert_close(model.state_dict(), eager.state_dict())


class Counts(nn.Module):
    """Past ``__setattr__``, of which nobody is told."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        self._buffers["total"] = self.total + x.mean()
        return x * self.total


class OfCounts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.counts = Counts()

    def forward(self, x: Tensor) -> Tensor:
        return self.counts(x) + self.counts.total  # type: ignore[no-any-return]


@pytest.mark.parametrize("kind", [Counts, OfCounts])
def test_buffers_in_their_dictionary(kind: type[nn.Module]) -> None:
    model, eager = kind(), kind()
    compiled = torch2mlir.compile(model, torch.randn(3))
    for _ in range(3):
        x = torch.randn(3)
        assert_close(compiled(x), eager(x))
        assert_close([*model.buffers()], [*eager.buffers()])
