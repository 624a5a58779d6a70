"""Numbers that only the running program has, beside float16 and bfloat16: rounded where PyTorch's kernels round them."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import torch2mlir

NUMBERS = (70000.0, -1e10, 1e-9, 0.1, 3.3333, -2.0)
"""Some are infinite in float16, one is 0 there, some are inexact."""


def _rounded(x: Tensor, number: float) -> tuple[Tensor, ...]:
    return (
        x + number,
        number - x,
        torch.add(x, number, alpha=3),
        torch.fmod(x, number),
        torch.remainder(x, number),
        torch.where(x > 0, x, number),
    )


def _in_float32(x: Tensor, number: float) -> tuple[Tensor, ...]:
    return x * number, x / number, number / x, torch.div(x, number, rounding_mode="floor")


def _of_an_element(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    number = y.item()
    return _rounded(x, number) + _in_float32(x, number)


def _scaled(x: Tensor, y: Tensor) -> Tensor:
    return torch.add(x, x, alpha=y.item())


def _weighted(x: Tensor, y: Tensor) -> Tensor:
    return torch.lerp(x, x + 0.5, y)


def _of_a_size(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    return x + y.shape[0], x * y.shape[0], x - 3 * y.shape[0], torch.fmod(x, y.shape[0])


def _elements(dtype: torch.dtype) -> Tensor:
    return torch.tensor([torch.inf, -torch.inf, 1.0, -2.0, 3.3, 1e-3, 6e4, -6e4], dtype=dtype)


@pytest.mark.share(6)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("dialect", ["linalg-on-tensors", "tosa", "stablehlo"])
def test_numbers_of_elements(dialect: str, dtype: torch.dtype) -> None:
    x = _elements(dtype)
    example = torch.tensor(1.0, dtype=torch.float64)
    compiled = torch2mlir.compile(_of_an_element, x, example, output_type=dialect)
    small = x[
        :6
    ]  # of products that overflow, PyTorch's kernels have one value for 31 elements and another for 32
    scaled = torch2mlir.compile(_scaled, small, example, output_type=dialect)
    for number in NUMBERS:
        y = torch.tensor(number, dtype=torch.float64)
        actual, expected = compiled(x, y), _of_an_element(x, y)
        torch.testing.assert_close(actual, expected, equal_nan=True)
        if abs(number) < 6e4:  # PyTorch refuses others in float16
            torch.testing.assert_close(scaled(small, y), _scaled(small, y), equal_nan=True)


@pytest.mark.parametrize("dialect", ["linalg-on-tensors", "tosa"])
@pytest.mark.share(2)
def test_sizes(dialect: str) -> None:
    """70000 is infinite in float16 where it is added, and itself where it is a factor."""
    x, rows = _elements(torch.float16), torch.export.Dim("rows", max=100000)
    compiled = torch2mlir.compile(
        _of_a_size, x, torch.ones(5), output_type=dialect, dynamic_shapes=(None, {0: rows})
    )
    for size in (70000, 3, 2049):
        y = torch.ones(size)
        torch.testing.assert_close(compiled(x, y), _of_a_size(x, y), equal_nan=True)


@pytest.mark.share(4)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("dialect", ["linalg-on-tensors", "tosa", "stablehlo"])
def test_weights_in_tensors(dialect: str, dtype: torch.dtype) -> None:
    """A weight of rank 0 has the tensors' type before anything is computed with it."""
    x = _elements(dtype)[2:6]
    compiled = torch2mlir.compile(_weighted, x, torch.tensor(0.5), output_type=dialect)
    for number in (*NUMBERS, 1 / 3):
        y = torch.tensor(number)
        torch.testing.assert_close(compiled(x, y), _weighted(x, y), equal_nan=True)


def _divided(x: Tensor) -> tuple[Tensor, ...]:
    return x / 1e39, x / -1e40, x / 3e38, x / 1e400


@pytest.mark.share(4)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
@pytest.mark.parametrize("dialect", ["linalg-on-tensors", "tosa", "stablehlo"])
def test_divided_by_what_is_infinite_in_float32(dialect: str, dtype: torch.dtype) -> None:
    compiled = torch2mlir.compile(_divided, torch.ones(8, dtype=dtype), output_type=dialect)
    for x in (_elements(dtype), _elements(dtype).flip(0), -_elements(dtype)):
        torch.testing.assert_close(compiled(x), _divided(x), equal_nan=True, rtol=0, atol=2e-38)


def _of_a_tensor(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    return x * y, y * x, x / y, x + y, y - x, x[2] * y, torch.div(x, y, rounding_mode="floor")


@pytest.mark.share(4)
@pytest.mark.parametrize("dialect", ["linalg-on-tensors", "tosa", "stablehlo"])
def test_numbers_in_tensors(dialect: str) -> None:
    """Of integers too: PyTorch's kernels read a factor that is one number as it is."""
    x = _elements(torch.float16)
    compiled = torch2mlir.compile(_of_a_tensor, x, torch.tensor(1), output_type=dialect)
    for number in (70000, 3, 2049):
        y = torch.tensor(number)
        torch.testing.assert_close(compiled(x, y), _of_a_tensor(x, y), equal_nan=True)
