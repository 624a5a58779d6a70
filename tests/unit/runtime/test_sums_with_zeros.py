"""-0.0 + 0.0 is 0.0, however the zero is made of constants: engines fold those, and then take the sum for its other term."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import torch2mlir

PROGRAMS: dict[str, Callable[[Tensor], Tensor]] = {
    "cut_out": lambda x: x + torch.zeros(3, dtype=torch.int32)[:1],
    "converted": lambda x: x + x.new_zeros(1).long(),
    "negated_twice": lambda x: x + torch.zeros(1).neg().neg(),
    "absolute": lambda x: x + torch.zeros(1).abs(),
    "joined": lambda x: x + torch.cat([torch.zeros(1), torch.zeros(2)]),
    "chosen": lambda x: x + torch.where(torch.zeros(3) > 1, 1.0, 0.0),
    "less_nothing": lambda x: x - torch.full((3,), -0.0),
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
@pytest.mark.parametrize("dialect", ["stablehlo", "linalg-on-tensors", "tosa", "onnx"])
@pytest.mark.share(12)
def test_the_zero_is_not_lost(dialect: str, program: Callable[[Tensor], Tensor]) -> None:
    compiled = torch2mlir.compile(program, torch.ones(3), output_type=dialect)
    x = torch.tensor([-0.0, 0.0, -0.0])
    assert torch.equal(compiled(x).signbit(), program(x).signbit())
