"""Standard deviations whose squares are beyond f32: PyTorch's kernels take the root in f64."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

import torch2mlir


def _deviations(x: Tensor) -> tuple[Tensor, ...]:
    deviation, mean = torch.std_mean(x, 0, keepdim=True)
    return x.std(), x.std(1, correction=0), deviation, mean


@pytest.mark.share(32)
@pytest.mark.parametrize("varies", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("dialect", ["linalg-on-tensors", "tosa", "stablehlo"])
def test_of_any_scale(dialect: str, dtype: torch.dtype, varies: bool) -> None:
    rows = {0: torch.export.Dim("rows", max=99)} if varies else {}
    x = torch.rand(6, 5).to(dtype)
    compiled = torch2mlir.compile(
        _deviations, x, output_type=dialect, dynamic_shapes=(rows,) if rows else None
    )
    for scale in (1.0, 1e20, 1e35, 1e12, 1e-3, 1e-12, 1e-20, 1e-28, 0.0, math.inf, math.nan):
        x = (torch.linspace(-1, 2, 30).view(6, 5) * scale).to(dtype)
        torch.testing.assert_close(compiled(x), _deviations(x), equal_nan=True)
    for size in (1, 9, 0) if varies else ():
        x = (
            torch.linspace(-1, 2, size * 5).view(size, 5) * (1e25 if dtype.itemsize > 2 else 1e3)
        ).to(dtype)
        torch.testing.assert_close(compiled(x), _deviations(x), equal_nan=True)


def test_one_far_out() -> None:
    """Deviations are scaled by what they are on average, and one is a million times that."""
    compiled = torch2mlir.compile(torch.std, torch.rand(2**20))
    for far in (1e30, 1e4, 1e-20):
        x = torch.zeros(2**20)
        x[77] = far
        torch.testing.assert_close(compiled(x), x.std())
