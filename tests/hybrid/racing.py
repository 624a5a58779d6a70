"""A choice among ways to run a graph that comes out as a test wants it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from torch2mlir.hybrid import choice


def times(monkeypatch: pytest.MonkeyPatch, seconds: dict[str, float]) -> None:
    """Every way takes as long as said; others a second."""
    real = choice.race

    def race(candidates: Any, args: Any, rounds: int, deadline: float) -> None:
        real(candidates, args, 1, deadline)
        for candidate in candidates:
            candidate.best = seconds.get(candidate.name, 1.0)

    monkeypatch.setattr(choice, "race", race)


def network() -> nn.Sequential:
    """Small, and the same at every call."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 4))
