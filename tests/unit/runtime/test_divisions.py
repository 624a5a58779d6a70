"""Divisions of integers do not end the process: not by zero, and not beyond the end of a tensor of any size."""

from __future__ import annotations

import pytest
import torch

import torch2mlir


def _divided(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return x // y, torch.div(x, y, rounding_mode="trunc"), x % y, torch.fmod(x, y)


@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8])
def test_divisions_of_tensors_of_any_size(output_type: str, dtype: torch.dtype) -> None:
    any_size = {0: torch.export.Dim("n", min=2)}
    x = torch.arange(1, 8).to(dtype)
    compiled = torch2mlir.compile(
        _divided, x, x, output_type=output_type, engine="iree", dynamic_shapes=(any_size, any_size)
    )
    for size in (7, 2, 5, 9, 13):
        x = torch.arange(1, size + 1).to(dtype)
        y = x % 3 + 1
        torch.testing.assert_close(compiled(x, y), _divided(x, y))
    remainder = compiled(x, torch.zeros_like(x))[3]  # eager mode raises
    torch.testing.assert_close(remainder, x)


@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa"])
def test_the_lowest_integer_by_minus_one(output_type: str) -> None:
    x, y = torch.tensor([-(2**31), 7], dtype=torch.int32), torch.tensor([-1, -1], dtype=torch.int32)
    compiled = torch2mlir.compile(_divided, x, y, output_type=output_type, engine="iree")
    quotient, _, remainder, _ = compiled(x, y)
    assert quotient[1] == -7 and remainder.tolist() == [0, 0]
