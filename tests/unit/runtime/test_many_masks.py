"""Masks that are computed from masks again and again: IREE computed each anew for every way that leads to it."""

from __future__ import annotations

import pytest
import torch
from repeated_calls import agrees_with_eager
from torch.export import Dim

STEPS = 20
"""Of which each has two ways or more to the one before: without a barrier, IREE does not end."""


def neighbours(v: torch.Tensor) -> torch.Tensor:
    """A cellular automaton."""
    left, right = torch.cat([v[:, 1:], v[:, :1]], 1), torch.cat([v[:, -1:], v[:, :-1]], 1)
    return (left & right) ^ (v | left.flip(0))


def reached(v: torch.Tensor) -> torch.Tensor:
    """Lines of a graph's matrix that lead on."""
    return v ^ (v & ~v.any(0, keepdim=True))


@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.share(6)
def test_many_steps(output_type: str, dynamic: bool) -> None:
    def steps(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        v = w = x > 0
        for _ in range(STEPS):
            v, w = neighbours(v), reached(w)
        return v, w

    rows = iter([4, 4, 3, 5] if dynamic else [4] * 4)
    agrees_with_eager(
        steps,
        lambda: (torch.randn(next(rows), 4),),
        output_type=output_type,
        engine="iree",
        dynamic_shapes=({0: Dim("rows", min=2, max=9)},) if dynamic else None,
    )
