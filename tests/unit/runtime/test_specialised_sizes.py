"""Sizes that the user lets vary and the model makes numbers of: a program for each, captured at its first call."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.export import Dim

import torch2mlir
from tests.e2e.agreement import assert_agrees
from torch2mlir.errors import InputError


def first_half(x: Tensor) -> Tensor:
    return x[: int(x.shape[0] * 0.5)] * 2


def square(x: Tensor) -> Tensor:
    return x.view(int(math.sqrt(x.shape[0])), -1) * 2


def steps(x: Tensor) -> Tensor:
    return torch.linspace(0, 1, x.shape[0]) * x


def pairs(x: Tensor) -> Tensor:
    return x.split(2)[0] * 3


def asks_of_a_float(x: Tensor) -> Tensor:
    return x * 2 if math.sqrt(x.shape[0] * 0.5) > 2.2 else x * 3


@pytest.mark.share(4)
@pytest.mark.parametrize("function", [first_half, square, steps, pairs, asks_of_a_float])
def test_each_size_gets_a_program(function: Callable[[Tensor], Tensor]) -> None:
    ours = torch2mlir.compile(function, torch.randn(16), dynamic_shapes=({0: Dim.AUTO},))
    for size in (16, 9, 4, 9, 16):
        x = torch.randn(size)
        assert_agrees(ours(x), function(x))
    assert 0 < len(ours.others) <= 2


def rounded_up(x: Tensor) -> Tensor:
    return x[: math.ceil(x.shape[0] / 2)] + 1


def rounded_down(x: Tensor) -> Tensor:
    return x[math.floor(x.shape[0] * 0.3) :] + 1


def rounded(x: Tensor) -> Tensor:
    return x[: round(x.shape[0] / 4)] + 1


@pytest.mark.share(4)
@pytest.mark.parametrize("dialect", ["stablehlo", "linalg-on-tensors", "tosa", "onnx"])
@pytest.mark.parametrize("function", [rounded_up, rounded_down, rounded])
def test_sizes_that_are_rounded_have_one_program(
    function: Callable[[Tensor], Tensor], dialect: str
) -> None:
    ours = torch2mlir.compile(
        function, torch.randn(16), output_type=dialect, dynamic_shapes=({0: Dim.AUTO},)
    )
    for size in (16, 10, 14, 11, 90, 7):
        x = torch.randn(size)
        assert_agrees(ours(x), function(x))
    assert len(ours.others) == 0


def test_bounds_of_the_users_own_are_kept() -> None:
    bounded = {0: Dim("n", min=4, max=20)}
    ours = torch2mlir.compile(lambda x: x * 2, torch.randn(16), dynamic_shapes=(bounded,))
    with pytest.raises(InputError, match="'n'.* outside the range 4 to 20"):
        ours(torch.randn(21))


def test_a_size_that_was_not_to_vary_stays() -> None:
    ours = torch2mlir.compile(steps, torch.randn(16))
    with pytest.raises(InputError, match="should have size 16"):
        ours(torch.randn(9))
