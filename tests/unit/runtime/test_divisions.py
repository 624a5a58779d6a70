"""Divisions of integers do not end the process: not by zero, and not beyond the end of a tensor of any size."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import torch2mlir
from torch2mlir.errors import CaptureError, InputError


def _divided(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return x // y, torch.div(x, y, rounding_mode="trunc"), x % y, torch.fmod(x, y)


@pytest.mark.share(12)
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8])
def test_divisions_of_tensors_of_any_size(output_type: str, dtype: torch.dtype) -> None:
    any_size = {0: torch.export.Dim("n", min=2)}
    x = torch.arange(1, 8).to(dtype)
    compiled = torch2mlir.compile(
        _divided, x, x, output_type=output_type, engine="iree", dynamic_shapes=(any_size, any_size)
    )
    for size in (7, 2, 5, 9, 13):
        x = torch.arange(1, size + 1).to(dtype)
        y = x % 3 + 1
        torch.testing.assert_close(compiled(x, y), _divided(x, y))
    with pytest.raises(InputError, match="divides an integer by 0"):
        compiled(x, torch.zeros_like(x))


@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa"])
@pytest.mark.share(2)
def test_the_lowest_integer_by_minus_one(output_type: str) -> None:
    x, y = torch.tensor([-(2**31), 7], dtype=torch.int32), torch.tensor([-1, -1], dtype=torch.int32)
    compiled = torch2mlir.compile(_divided, x, y, output_type=output_type, engine="iree")
    quotient, _, remainder, _ = compiled(x, y)
    assert quotient[1] == -7 and remainder.tolist() == [0, 0]


@pytest.mark.parametrize(
    "divided",
    [
        lambda x, y: x.clone().floor_divide_(y),
        lambda x, y: x.clone()[1:].remainder_(y[1:]),
        lambda x, y: 7 // y,
        lambda x, y: x % y[0],
        lambda x, y: x // int(y[0]),
    ],
)
def test_by_zero_is_an_error(divided: Callable[..., torch.Tensor]) -> None:
    """Whatever an engine makes of it."""
    x, y = torch.arange(4) - 2, torch.tensor([3, 1, -1, 2])
    compiled = torch2mlir.compile(divided, x, y)
    for good in (y, -y, y * 5):
        torch.testing.assert_close(compiled(x, good), divided(x, good))
    bad = torch.tensor([0, 0, 1, 1])
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        divided(x, bad)
    with pytest.raises(InputError, match="by 0|!= 0|Ne"):
        compiled(x, bad)


def test_by_a_number_that_is_zero() -> None:
    with pytest.raises(CaptureError, match="divides an integer by 0"):
        torch2mlir.compile(lambda x: x // 0, torch.arange(4))


def test_unsigned_integers_of_any_size_on_iree() -> None:
    """IREE refused to say how large a tensor of them is."""
    any_size = {0: torch.export.Dim.AUTO}
    compiled = torch2mlir.compile(
        lambda x: (x != 0, x.to(torch.int32) + 1),
        torch.arange(4, dtype=torch.uint8),
        output_type="stablehlo",
        engine="iree",
        dynamic_shapes=(any_size,),
    )
    for size in (6, 3, 4):
        x = torch.arange(size, dtype=torch.uint8)
        different, more = compiled(x)
        assert torch.equal(different, x != 0) and torch.equal(more, x.to(torch.int32) + 1)
