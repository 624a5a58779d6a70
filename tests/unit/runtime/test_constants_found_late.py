"""Several constants that IREE finds out and computes together: each of them was the first (see docs/engines.md)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from repeated_calls import agrees_with_eager
from torch import Tensor

TARGETS = ("linalg-on-tensors", "tosa", "stablehlo")


def _always(x: Tensor) -> Tensor:
    """True for every integer, which the compiler finds where it fuses both operations."""
    return x.to(torch.float32) != -0.25


def _masked(x: Tensor) -> Any:
    v = _always(x)
    small = x <= v
    return torch.where(v, v, small), small <= small, x.masked_fill(small, 1)


def _counted(x: Tensor) -> Any:
    v, w = _always(x), _always(x).int()
    return v | (x > w), torch.where(x > w, x, 1)


def _halves(x: Tensor) -> Any:
    v = _always(x)
    w = v.half()
    return v & v, w.cumsum(0) * 2, x + w


PROGRAMS: dict[str, Callable[[Tensor], Any]] = {
    "masked": _masked,
    "counted": _counted,
    "halves": _halves,
}


@pytest.mark.share(6)
@pytest.mark.parametrize("output_type", TARGETS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_is_itself(name: str, output_type: str) -> None:
    agrees_with_eager(
        PROGRAMS[name],
        lambda: (torch.randint(-3, 4, (5, 5), dtype=torch.int32),),
        output_type=output_type,
        engine="iree",
    )
