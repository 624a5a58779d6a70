"""Powers of integers wrap around for every exponent: XLA, and IREE through StableHLO, read six bits of it."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import torch2mlir

TARGETS = [
    ("linalg-on-tensors", "iree"),
    ("tosa", "iree"),
    ("stablehlo", "xla"),
    ("stablehlo", "iree"),
    ("onnx", "onnxruntime"),
]


def _powers(x: Tensor, y: Tensor, number: Tensor) -> tuple[Tensor, ...]:
    return x**y, x**100, 3**y, x ** number.item()


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int16], ids=str)
@pytest.mark.parametrize(("dialect", "engine"), TARGETS)
@pytest.mark.share(24)
def test_large_exponents(dialect: str, engine: str, dtype: torch.dtype) -> None:
    x = torch.tensor([2, 3, 7, -3, -1, 1, 0, 5], dtype=dtype)
    y = torch.tensor([64, 100, 127, 129, 255, 1000, 70, 4], dtype=dtype)
    example = torch.tensor(2)
    compiled = torch2mlir.compile(_powers, x, y, example, output_type=dialect, engine=engine)
    for step in range(3):
        given = x.roll(step), y, torch.tensor(64 * step + 36)
        torch.testing.assert_close(compiled(*given), _powers(*given))


@pytest.mark.share(4)
@pytest.mark.parametrize("base", [2, -3, 1, 0])
def test_powers_of_a_number_are_few_constants(base: int) -> None:
    """63 squares of a number were more constants in a dispatch than IREE binds."""
    x = torch.tensor([[0, 1, 6], [3, 2, 5]])
    compiled = torch2mlir.compile(lambda x: base**x, x, output_type="stablehlo", engine="iree")
    for exponents in (x, x + 60, x * 100):
        torch.testing.assert_close(compiled(exponents), base**exponents)
