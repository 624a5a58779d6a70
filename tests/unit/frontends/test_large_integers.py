"""Integers of 64 bits without a sign as operands, and beyond: the dialect's have a sign, and ``x + 2**63`` took it away."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
import torch
from torch import Tensor

import torch2mlir
from tests.e2e.configurations import TARGETS, require
from torch2mlir.errors import CaptureError

LARGE = 2**63 + 1
OF_FLOATS: dict[str, Callable[[Tensor], Tensor]] = {
    "added": lambda x: x + LARGE,
    "compared": lambda x: x <= LARGE,
    "bounded": lambda x: x.clamp(max=LARGE),
    "filled": lambda x: torch.full_like(x, LARGE) * x,
    "made": lambda x: torch.full((2,), LARGE, dtype=torch.float32),
    "where": lambda x: torch.where(x > 0, LARGE, x),
    "masked": lambda x: x.masked_fill(x > 0, LARGE),
    "written": lambda x: x.clone().fill_(LARGE),
    "an exponent": lambda x: x**LARGE,
}
OF_INTEGERS: dict[str, Callable[[Tensor], Tensor]] = {
    "added": lambda x: x + LARGE,
    "multiplied": lambda x: x * LARGE,
    "divided": lambda x: x / LARGE,
    "compared": lambda x: x <= LARGE,
    "bits": lambda x: x & LARGE,
}
REFUSED: dict[str, Callable[[Tensor], Tensor]] = {
    "bounded": lambda x: x.clamp(max=LARGE),
    "filled": lambda x: x.new_full((2,), LARGE),
    "made": lambda x: torch.full((2,), LARGE) * x,
    "a factor": lambda x: torch.add(x, x, alpha=LARGE),
}


@pytest.mark.share(6)
@pytest.mark.parametrize("target, name", product(TARGETS, OF_FLOATS))
def test_beside_floats(target: tuple[str, str], name: str) -> None:
    output_type, engine = target
    require(engine)
    function = OF_FLOATS[name]
    ours = torch2mlir.compile(function, torch.ones(2), output_type=output_type, engine=engine)
    for values in ([-1.0, 1.0], [0.0, 3.0], [1.0, 1.0]):
        x = torch.tensor(values)
        torch.testing.assert_close(ours(x), function(x))


@pytest.mark.parametrize("dtype", [torch.int8, torch.int32, torch.int64])
@pytest.mark.parametrize("name", OF_INTEGERS)
def test_beside_integers(dtype: torch.dtype, name: str) -> None:
    """PyTorch takes their lowest bits, of which capture decides: one dialect will do."""
    function = OF_INTEGERS[name]
    ours = torch2mlir.compile(function, torch.ones(2, dtype=dtype))
    for values in ([-1, 1], [0, 3], [1, 1]):
        x = torch.tensor(values, dtype=dtype)
        torch.testing.assert_close(ours(x), function(x))


@pytest.mark.parametrize("name", REFUSED)
def test_what_eager_mode_refuses(name: str) -> None:
    x = torch.ones(2, dtype=torch.int64)
    with pytest.raises(RuntimeError, match="without overflow"):
        REFUSED[name](x)
    with pytest.raises(CaptureError, match="does not fit into the 64 bits"):
        torch2mlir.compile(REFUSED[name], x)


@pytest.mark.parametrize(
    "asked",
    [
        lambda n: n <= LARGE,
        lambda n: n < 2**70,
        lambda n: n != LARGE,
        lambda n: n < LARGE,
    ],
)
def test_no_number_is_beyond(asked: Callable[[int], bool]) -> None:
    """Bounds of numbers that elements decide, as PyTorch computes them, need more than 64 bits."""

    def function(x: Tensor) -> Tensor:
        number = x.sum().item()
        torch._check(asked(number))  # type: ignore[arg-type]
        return x * number

    ours = torch2mlir.compile(function, torch.arange(3))
    for x in (torch.arange(3), -torch.arange(3), torch.arange(3) * 7):
        torch.testing.assert_close(ours(x), function(x))
