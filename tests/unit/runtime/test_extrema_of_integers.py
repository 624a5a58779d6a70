"""The larger and the smaller of integers beyond 32 bits: ONNX Runtime's vectors take the wrong one of some."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import torch2mlir

TARGETS = [
    ("linalg-on-tensors", "iree"),
    ("tosa", "iree"),
    ("stablehlo", "xla"),
    ("onnx", "onnxruntime"),
]


def _extrema(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    both = torch.stack([x, y])
    return (
        torch.maximum(x, y),
        torch.minimum(x, y[0]),
        x.clamp(-(2**40) - 1, 2**31 + 1),
        torch.relu(y),
        both.amax(0),
        both.amin(-1),
        both.argmax(1),
        both.cummax(0).values,
        both.max(1).values,
    )


@pytest.mark.share(8)
@pytest.mark.parametrize("length", [1, 7, 40])
@pytest.mark.parametrize(("dialect", "engine"), TARGETS)
def test_beyond_32_bits(dialect: str, engine: str, length: int) -> None:
    numbers = torch.arange(length)
    compiled = torch2mlir.compile(_extrema, numbers, numbers, output_type=dialect, engine=engine)
    for step, start in enumerate((2**31 + 1, -(2**33) - 5, 2**62 - 3)):
        x = (numbers - 3) * (-1) ** step
        y = torch.where(numbers % 3 == 0, numbers, start - numbers * (2**30 + 7))
        torch.testing.assert_close(compiled(x, y), _extrema(x, y))


def _extrema_of_lines(x: Tensor) -> tuple[Tensor, ...]:
    least, most = x.aminmax(dim=1)
    return x.amax(), x.min(), x.amax((0, 2)), x.amin(-1, keepdim=True), least, most


@pytest.mark.share(4)
@pytest.mark.parametrize(("dialect", "engine"), TARGETS)
def test_along_lines(dialect: str, engine: str) -> None:
    """Of times in nanoseconds, which differ in their lower bits."""
    example = torch.zeros(3, 40, 17, dtype=torch.int64)
    compiled = torch2mlir.compile(_extrema_of_lines, example, output_type=dialect, engine=engine)
    for start in (0, 1_700_000_000_000_000_000, -(2**62)):
        x = torch.randint(2**40, example.shape) + start
        torch.testing.assert_close(compiled(x), _extrema_of_lines(x))
