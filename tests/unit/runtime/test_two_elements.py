"""Two elements of a tensor that is computed from parts of a wider copy: IREE's compiler did not end (see docs/engines.md)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from repeated_calls import Together, agrees_with_eager


def _of_halves(x: torch.Tensor, read: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    wide = x.long()
    half = len(x) // 2
    return x + read(wide[:half] * wide[half:])


PROGRAMS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "product_of_4": lambda x: x[:4] + x[:4].prod(),
    "product_of_5": lambda x: x[:5] + x[:5].prod(),
    "numbers": lambda x: _of_halves(x, lambda y: y[0] * y[1]),
    "of_a_matrix": lambda x: _of_halves(x.view(4, 2), lambda y: y[0, 0] * y[1, 1]),
    "of_joined_parts": lambda x: _of_halves(
        x, lambda y: (lambda z: z[0] * z[2])(torch.cat([y[:1], y[1:3] + 1]))
    ),
}


def _arguments() -> tuple[dict[str, tuple[torch.Tensor, ...]]]:
    return ({name: (torch.randint(-3, 4, (8,), dtype=torch.int32),) for name in PROGRAMS},)


@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
def test_two_elements_of_what_parts_are_combined_to(output_type: str) -> None:
    agrees_with_eager(Together(PROGRAMS), _arguments, output_type=output_type, engine="iree")
