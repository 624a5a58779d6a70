"""Numbers that only the running program has, beside narrow integers: they wrap around before anything else."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import torch2mlir


def _of_an_element(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    number = y.item()
    return (
        x + number,
        x * number,
        torch.fmod(x, number),
        torch.remainder(x, number),
        torch.div(x, number, rounding_mode="floor"),
        torch.div(x, number, rounding_mode="trunc"),
    )


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int16], ids=str)
@pytest.mark.parametrize("dialect", ["linalg-on-tensors", "tosa", "stablehlo"])
@pytest.mark.share(4)
def test_numbers_of_elements(dialect: str, dtype: torch.dtype) -> None:
    x = torch.tensor([1, 2, 3, 7, 0, 100, 120, 99], dtype=dtype)
    compiled = torch2mlir.compile(_of_an_element, x, torch.tensor(1), output_type=dialect)
    for number in (300, 40001, 2**31 + 1, -5):
        y = torch.tensor(number)
        torch.testing.assert_close(compiled(x, y), _of_an_element(x, y))
