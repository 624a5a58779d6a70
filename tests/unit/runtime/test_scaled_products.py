"""Products of matrices of doubles that are multiplied with a number: ONNX Runtime had the number in 32 bits."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

import torch2mlir


def _scaled(x: Tensor) -> Sequence[Tensor]:
    return (
        x @ x * 0.1,
        (x * 0.1) @ x / 3,
        x @ x * 1e-50,
        x @ x * 1e60,
        torch.addmm(x, x, x, alpha=0.3, beta=1 / 6),
    )


@pytest.mark.parametrize("engine", ["onnxruntime", "xla", "iree"])
@pytest.mark.share(2)
def test_numbers_keep_their_bits(engine: str) -> None:
    def drawn() -> Tensor:
        return torch.randn(6, 6, dtype=torch.float64)

    compiled = torch2mlir.compile(_scaled, drawn(), engine=engine)
    for _ in range(3):
        x = drawn()
        for found, expected in zip(compiled(x), _scaled(x), strict=True):
            torch.testing.assert_close(
                found, expected, rtol=1e-12, atol=1e-12 * float(expected.abs().max())
            )
