"""XLA sorts floats as the integers that their bits are, so that numbers which it computes with as zeros are none."""

from __future__ import annotations

import torch

import torch2mlir


def test_subnormal_numbers_are_in_order() -> None:
    x = torch.tensor([[0.0, -1e-45, -0.0, 1e-45, 0.0, -1.0, -0.0, torch.nan, -torch.inf]])

    def program(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (*x.sort(stable=True), *x.sort(stable=True, descending=True))

    compiled = torch2mlir.compile(program, x, output_type="stablehlo", engine="xla")
    for given in (x, x.flip(1), x.roll(4, 1)):
        for found, expected in zip(compiled(given), program(given), strict=True):
            torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)
            torch.testing.assert_close(found.signbit(), expected.signbit())
