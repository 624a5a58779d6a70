"""Pools whose window has one place and leaves some of the input out, which IREE refuses as it is."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from repeated_calls import agrees_with_eager
from torch import Tensor

WINDOWS = ((2, 2, 0), (2, 3, 1), (3, 2, 1))
"""Kernel, stride and padding."""


def pools(x: Tensor) -> list[Tensor]:
    found = list[Tensor]()
    for window in WINDOWS:
        found += [F.avg_pool1d(x, *window), *F.max_pool1d(x, *window, return_indices=True)]
        found += [F.max_pool2d(x[:, None], *window), F.avg_pool2d(x[:, None], *window)]
    return [*found, F.max_pool1d(x, 2, 4, 0, 2)]


@pytest.mark.share(3)
@pytest.mark.parametrize(
    "output_type, length", [("linalg-on-tensors", 3), ("linalg-on-tensors", 5), ("tosa", 3)]
)
def test_of_one_place(output_type: str, length: int) -> None:
    agrees_with_eager(
        pools, lambda: (torch.randn(2, 3, length),), output_type=output_type, engine="iree"
    )
