"""Equal elements in the order in which they were, on every dialect that IREE sorts."""

from __future__ import annotations

import pytest
import torch

import torch2mlir

TIES = (3, 1, 2, 1, 3, 0, 2, 1, 1, 3, 0, 0, 2)


@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.float32, torch.bool])
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.share(32)
def test_positions_of_equal_elements(
    output_type: str, dtype: torch.dtype, descending: bool
) -> None:
    def ordered(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (*x.sort(dim=0, descending=descending, stable=True),)

    x = torch.tensor(TIES).to(dtype)
    compiled = torch2mlir.compile(ordered, x, output_type=output_type, engine="iree")
    for step in range(3):
        for found, expected in zip(compiled(x.roll(step)), ordered(x.roll(step)), strict=True):
            assert torch.equal(found, expected)


def test_positions_of_equal_doubles() -> None:
    def ordered(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (*x.sort(dim=1, stable=True), x.sort(dim=0, stable=True)[0])

    x = torch.tensor(TIES + (0.0, -0.0, -0.0)).double().reshape(4, 4)
    x[0, 1] = -0.0
    compiled = torch2mlir.compile(ordered, x, output_type="stablehlo", engine="iree")
    for step in range(3):
        for found, expected in zip(compiled(x.roll(step)), ordered(x.roll(step)), strict=True):
            assert torch.equal(found, expected)
            assert torch.equal(found.signbit(), expected.signbit())
