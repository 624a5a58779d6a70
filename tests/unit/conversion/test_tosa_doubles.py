"""Tensors of one double through TOSA, which has no 64-bit floats: ``arith`` and ``math`` compute with them."""

from __future__ import annotations

from collections.abc import Callable

import torch

import torch2mlir

PAIRS = [
    (-7.5, 2.0),
    (-3.0, 3.0),
    (3.0, -2.0),
    (-0.0, 3.0),
    (0.0, -1.0),
    (2.5, 2.5),
    (float("-inf"), 3.0),
]
FUNCTIONS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "pow": torch.pow,
    "pow_of_number": lambda x, y: (-3) ** y,
    "remainder": torch.remainder,
    "floor_divide": torch.floor_divide,
    "fmod": torch.fmod,
    "where": lambda x, y: torch.where(x > y, x, -y),
    "copysign": torch.copysign,
    "comparisons": lambda x, y: (x == y) | (x < y) & (x != 3),
}


def test_agrees_with_eager() -> None:
    def all_of_them(x: torch.Tensor, y: torch.Tensor) -> dict[str, torch.Tensor]:
        return {name: function(x, y) for name, function in FUNCTIONS.items()}

    pairs = [tuple(torch.tensor(each, dtype=torch.float64) for each in pair) for pair in PAIRS]
    compiled = torch2mlir.compile(all_of_them, *pairs[0], output_type="tosa")
    for x, y in pairs:
        torch.testing.assert_close(compiled(x, y), all_of_them(x, y), equal_nan=True)
