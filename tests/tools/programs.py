"""Factories the command-line tests name."""

from __future__ import annotations

from typing import Any

import torch


class TwoInputs(torch.nn.Module):
    """Two matrices that share a dimension, one of them by keyword."""

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.weight = torch.nn.Parameter(torch.randn(4, 8, generator=generator))

    def forward(self, x: torch.Tensor, scale: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"y": torch.relu(x @ self.weight), "z": x * scale}


def two_inputs() -> Any:
    return TwoInputs().eval(), (torch.ones(2, 4),), {"scale": torch.full((2, 1), 2.0)}


def linear_of(size: int) -> Any:
    return torch.nn.Linear(size, size), torch.ones(2, size)


def a_function() -> Any:
    return lambda x: x.exp() + 1, torch.ones(3)


def failing() -> Any:
    raise ValueError("no luck today")


def two_arguments() -> Any:
    return torch.nn.Tanh(), torch.ones(3), 3


def data_dependent() -> Any:
    class Branch(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(x) if x.sum() > 0 else x[:1]

    return Branch(), (torch.ones(3),)


NOT_CALLABLE = 3
