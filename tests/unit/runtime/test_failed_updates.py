"""A call that fails while XLA updates a buffer: the buffer is a tensor like any other afterwards."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import torch2mlir
from torch2mlir.errors import EngineError

_TOO_MANY = 2**28
"""As many rows and columns are more bytes than a process can address."""


class _Counts(nn.Module):
    def __init__(self, count: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("count", count)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count.add_(x[0])
        return x.sum()


class _CountsAndFails(_Counts):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count.add_(x[0])
        line = x[:1].expand(_TOO_MANY)
        return torch.mm(line[:, None].cos(), line[None].sin()).sort(0).values[0, 0]


def test_a_buffer_survives_a_call_that_fails() -> None:
    count, x = torch.zeros(4096), torch.ones(3)
    counts = torch2mlir.compile(_Counts(count), x, output_type="stablehlo", engine="xla")
    fails = torch2mlir.compile(_CountsAndFails(count), x, output_type="stablehlo", engine="xla")
    view = count[:2]
    for call in range(1, 4):
        before = count.clone()
        with pytest.raises(EngineError, match="Out of memory"):
            fails(x)
        assert (count - before).unique().tolist() in ([0.0], [1.0])  # updated or not, but all of it
        before = count.clone()
        for times in range(1, 3):
            torch.testing.assert_close(counts(x), x.sum())
            torch.testing.assert_close(count, before + times)
        assert view.tolist() == count[:2].tolist(), f"a view after call {call}"
