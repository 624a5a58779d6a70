"""What is the same for real numbers, and not for floats and integers that wrap around: engines simplify by such rules."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan

import pytest
import torch
from torch import Tensor

import torch2mlir

LARGEST = torch.finfo(torch.float32).max
LOWEST = -(2.0**31)

PROGRAMS: dict[str, tuple[Callable[[Tensor], Tensor], tuple[float, float, float]]] = {
    # an inverse that is subnormal
    "by_much": (lambda x: x / 3e38, (1e38, 3e38, -2e38)),
    "by_largest": (lambda x: x / LARGEST, (1e38, 3e38, -2e38)),
    "by_tensor": (lambda x: x / torch.full((3,), 3e38), (1e38, 3e38, -2e38)),
    # numbers that are joined
    "more_and_less": (lambda x: x * 1e30 * 1e-30, (1e38, 1.0, -2e38)),
    "twice_and_half": (lambda x: x * 2 * 0.5, (3e38, 1.0, -2e38)),
    "times_and_by": (lambda x: x * 1e10 / 1e10, (1e38, 1.0, -2e38)),
    "by_and_by": (lambda x: x / 1e-10 / 1e10, (1e38, 1.0, -2e38)),
    "less_and_more": (lambda x: x * 1e-30 * 1e30, (1e-20, 1.0, -2e38)),
    "infinite": (lambda x: torch.tanh(x) * 1e30 * 1e30, (0.0, 1.0, -1.0)),
    "single_tensors": (lambda x: x * x[:1] * x[1:2], (1e30, 1e-30, 1e30)),
    # quotients of quotients
    "of_quotient": (lambda x: (x / x.roll(1)) / x, (1e30, 1.0, 1e-20)),
    # powers and roots
    "root_of_square": (lambda x: torch.sqrt(x * x), (3e38, -1.0, 1e-30)),
    "half_power": (lambda x: (x**2) ** 0.5, (3e38, -1.0, 1e-30)),
    "exponentials": (lambda x: torch.exp(x) / torch.exp(x + 1), (100.0, -200.0, 1.0)),
    "power": (lambda x: torch.pow(torch.exp(x), x.roll(1)), (100.0, 0.5, 0.01)),
    # what is not negative, or no number
    "magnitude": (lambda x: x.abs() >= 0, (nan, 0.0, -1.0)),
    "from_left": (lambda x: torch.zeros(()) <= x.abs(), (nan, 0.0, -1.0)),
    "square": (lambda x: (x * x) >= 0, (nan, 0.0, -1.0)),
    "exponential": (lambda x: torch.exp(x) >= 0, (nan, 0.0, -1.0)),
    "rectified": (lambda x: torch.relu(x) >= 0, (nan, 0.0, -1.0)),
    "clamped": (lambda x: x.clamp(min=1) >= 0, (nan, 0.0, -1.0)),
    "norm": (lambda x: torch.linalg.vector_norm(x.view(3, 1), dim=1) >= 0, (nan, 0.0, inf)),
    "chosen": (lambda x: torch.where(x.abs() >= 0, 1.0, 2.0), (nan, 0.0, -1.0)),
    # integers that wrap around
    "lowest_integer": (lambda x: x.int().abs() >= 0, (LOWEST, 0.0, -1.0)),
    "below": (lambda x: x.int().abs() < 0, (LOWEST, 0.0, -1.0)),
    "square_of_integer": (lambda x: x.int() * x.int() >= 0, (49152.0, 46341.0, -1.0)),
}


@pytest.mark.parametrize("program, values", PROGRAMS.values(), ids=PROGRAMS)
@pytest.mark.parametrize("dialect", ["stablehlo", "linalg-on-tensors", "tosa", "onnx"])
@pytest.mark.share(96)
def test_as_in_eager_mode(
    dialect: str, program: Callable[[Tensor], Tensor], values: tuple[float, float, float]
) -> None:
    compiled = torch2mlir.compile(program, torch.ones(3), output_type=dialect)
    x = torch.tensor(values)
    torch.testing.assert_close(compiled(x), program(x), rtol=1e-4, atol=0, equal_nan=True)
