"""Remainders of floats are those of C's ``fmod``, bit by bit, whatever the quotient."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

import torch2mlir

COUNT = 1 << 14
SPECIAL = torch.tensor(
    [0.0, -0.0, 1.0, -1.0, torch.inf, -torch.inf, torch.nan, 1e-45, -1e-45, 2.0**-126, 3.4028235e38]
    + [-3.4028235e38, 0.1, 3.0, -2.5, 1e-30, 2.0**24, 2.0**24 + 2, 2.0**28, 2.0**29 - 32, 1e10]
)


def _any_bits() -> Tensor:
    return torch.randint(-(1 << 31), 1 << 31, (COUNT,)).to(torch.int32).view(torch.float32)


def _anything() -> tuple[Tensor, Tensor]:
    return _any_bits(), _any_bits()


def _beside_multiples() -> tuple[Tensor, Tensor]:
    """Numbers that are whole multiples up to the last places: the quotient is next to an integer."""
    y = (torch.rand(COUNT) + 0.5) * torch.exp2(torch.randint(-40, 40, (COUNT,)).float())
    x = y * torch.randint(0, 1 << 26, (COUNT,)).float()
    places = torch.randint(-2, 3, (COUNT,)).to(torch.int32)
    return (x.view(torch.int32) + places).view(torch.float32), y


def _next_to_zero() -> tuple[Tensor, Tensor]:
    x, y = (torch.randint(0, 1 << 24, (COUNT,)).to(torch.int32) for _ in range(2))
    return -x.view(torch.float32), y.view(torch.float32)


def _special() -> tuple[Tensor, Tensor]:
    x, y = torch.cartesian_prod(SPECIAL, SPECIAL).unbind(1)
    return x.repeat(COUNT)[:COUNT], y.repeat(COUNT)[:COUNT]


class Fmod(torch.nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return torch.fmod(x, y)


class Remainder(torch.nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return torch.remainder(x, y), x % 0.7


@pytest.mark.parametrize("output_type", ["stablehlo", "linalg-on-tensors"])
@pytest.mark.parametrize("is_dynamic", [False, True])
@pytest.mark.share(2)
def test_fmod_is_exact(output_type: str, is_dynamic: bool) -> None:
    torch.manual_seed(0)
    sizes = {0: torch.export.Dim("n", min=2)} if is_dynamic else None
    shapes = (sizes, sizes) if is_dynamic else None
    made: list[Callable[[], tuple[Tensor, Tensor]]]
    made = [_anything, _beside_multiples, _next_to_zero, _special]
    run = torch2mlir.compile(Fmod(), *_anything(), output_type=output_type, dynamic_shapes=shapes)
    for make in made:
        x, y = make()
        kept = x.clone(), y.clone()
        with np.errstate(invalid="ignore"):
            found, expected = run(x, y).numpy(), np.fmod(x.numpy(), y.numpy())
        same = found.view(np.int32) == expected.view(np.int32)
        assert (same | (np.isnan(found) & np.isnan(expected))).all(), make.__name__
        assert all(
            torch.equal(a.view(torch.int32), b.view(torch.int32))
            for a, b in zip(kept, (x, y), strict=True)
        )


@pytest.mark.parametrize("output_type", ["stablehlo", "linalg-on-tensors"])
@pytest.mark.share(2)
def test_remainder_has_the_sign_of_the_divisor(output_type: str) -> None:
    torch.manual_seed(0)
    run = torch2mlir.compile(Remainder(), *_special(), output_type=output_type)
    for _ in range(3):
        x, y = torch.randn(COUNT) * 9, torch.randn(COUNT)
        for one, other in zip(run(x, y), Remainder()(x, y), strict=True):
            assert torch.equal(one, other)
            assert torch.equal(one.signbit(), other.signbit())


@pytest.mark.parametrize("output_type", ["stablehlo", "linalg-on-tensors"])
@pytest.mark.share(2)
def test_remainders_of_halves_and_of_nothing(output_type: str) -> None:
    for dtype in (torch.float16, torch.bfloat16):
        x, y = (torch.randn(300).to(dtype) * 9 for _ in range(2))
        run = torch2mlir.compile(Fmod(), x, y, output_type=output_type)
        for _ in range(3):
            x, y = (torch.randn(300).to(dtype) * 9 for _ in range(2))
            assert torch.equal(run(x, y), torch.fmod(x, y))
    nothing = torch.empty(0)
    run = torch2mlir.compile(Fmod(), nothing, nothing, output_type=output_type)
    assert run(nothing, nothing).shape == (0,)
