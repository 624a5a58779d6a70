"""-0.0 + 0.0 is 0.0, however the zero is made of constants: engines fold those, and then take the sum for its other term."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import torch2mlir
from tests.e2e.agreement import assert_agrees
from tests.e2e.configurations import TARGETS, require

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


OF_INTEGERS: dict[str, Callable[[Tensor], Tensor]] = {
    "difference": lambda n: -n.float().abs() + (n - n) * 2,
    "exclusive": lambda n: -n.float().abs() + (n ^ n),
    "product": lambda n: -n.float().abs() + n * 0,
    "both": lambda n: -n.float().abs() + (n & 0) * 3,
}


@pytest.mark.share(12)
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.int64])
@pytest.mark.parametrize("name", OF_INTEGERS)
@pytest.mark.parametrize("target", [each for each in TARGETS if each[1] != "openvino"])
def test_zeros_of_integers(target: tuple[str, str], name: str, dtype: torch.dtype) -> None:
    """XLA, and IREE on TOSA, took -0.0 and such a zero for -0.0."""
    output_type, engine = target
    require(engine)
    function, n = OF_INTEGERS[name], torch.tensor([0, 3], dtype=dtype)
    compiled = torch2mlir.compile(function, n, output_type=output_type, engine=engine)
    for _ in range(3):
        n = n.roll(1)
        assert_agrees(compiled(n), function(n))
