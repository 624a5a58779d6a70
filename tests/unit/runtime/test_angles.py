"""Sines, cosines and tangents of angles far from zero, and near their zeros, on IREE: its own are off there."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch.export import Dim

import torch2mlir

DIALECTS = ["linalg-on-tensors", "tosa", "stablehlo"]
FUNCTIONS = [torch.sin, torch.cos, torch.tan]


def _angles(seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    far = [scale * torch.randn(64, generator=generator) for scale in (1, 30, 500, 1e5, 1e7, 1e12)]
    zeros = torch.arange(-8, 9)[:, None] * (math.pi / 2) + torch.tensor([0.0, 1e-4, -3e-4, 2e-3])
    numbers = torch.tensor([0.0, -0.0, 1e-20, -1e-30, 2.5e-4, math.inf, -math.inf, math.nan])
    return torch.cat([*far, zeros.flatten(), numbers])


@pytest.mark.share(12)
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("output_type", DIALECTS)
@pytest.mark.parametrize("is_dynamic", [False, True])
def test_every_angle_is_as_good_as_in_eager_mode(
    function: Callable[[torch.Tensor], torch.Tensor], output_type: str, is_dynamic: bool
) -> None:
    shapes = ({0: Dim("n")},) if is_dynamic else None
    example, to = _angles(0), {"output_type": output_type, "engine": "iree"}
    compiled = torch2mlir.compile(lambda x: function(x), example, dynamic_shapes=shapes, **to)
    for seed in range(3):
        x = _angles(seed)
        expected = function(x)
        torch.testing.assert_close(compiled(x), expected, rtol=4e-7, atol=0.0, equal_nan=True)
        assert torch.equal(torch.signbit(compiled(x)[-8:-3]), torch.signbit(expected[-8:-3]))


@pytest.mark.share(4)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("output_type", DIALECTS[:2])
def test_half_floats(dtype: torch.dtype, output_type: str) -> None:
    x = (100 * torch.randn(64, generator=torch.Generator().manual_seed(0))).to(dtype)
    compiled = torch2mlir.compile(torch.sin, x, output_type=output_type, engine="iree")
    torch.testing.assert_close(compiled(x), x.sin())


def test_positions_are_encoded_as_in_eager_mode() -> None:
    rates = torch.exp(torch.arange(0, 64, 2) * (-math.log(10000.0) / 64))

    def encoded(positions: torch.Tensor) -> torch.Tensor:
        angles = positions[:, None] * rates
        return torch.cat([angles.sin(), angles.cos()], dim=1)

    positions = torch.arange(4096, dtype=torch.float32)
    compiled = torch2mlir.compile(encoded, positions, output_type="linalg-on-tensors")
    for step in range(3):
        x = positions + 4096 * step
        torch.testing.assert_close(compiled(x), encoded(x), rtol=0.0, atol=2e-6)


@pytest.mark.parametrize("output_type", DIALECTS[:2])
@pytest.mark.share(2)
def test_an_angle_too_far_for_it_is_not_a_number(output_type: str) -> None:
    x = torch.tensor([1e17, -1e30])
    compiled = torch2mlir.compile(torch.sin, x, output_type=output_type, engine="iree")
    assert compiled(x).isnan().all()
