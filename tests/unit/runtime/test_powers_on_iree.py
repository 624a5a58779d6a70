"""Powers and other functions that IREE gets wrong by itself, on the dialects that have an op for them and on the others."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch.export import Dim

import torch2mlir

DIALECTS = ["linalg-on-tensors", "tosa", "stablehlo"]
EDGES = (-3.0, -1.5, -1.0, -0.5, -0.0, 0.0, 1e-3, 0.5, 1.0, 2.0, math.inf, -math.inf, math.nan)
EXPONENTS = (2.0, 3.0, -1.0, 0.0, 0.5, -2.0, math.inf, -math.inf, math.nan)

Function = Callable[..., torch.Tensor]


def agrees(function: Function, *given: torch.Tensor, output_type: str, dynamic: bool) -> None:
    """Three calls with values in other places give what eager mode gives, the signs of zeros too."""
    shapes = tuple({0: Dim("n")} if x.dim() else None for x in given) if dynamic else None
    compiled = torch2mlir.compile(
        function, *given, output_type=output_type, engine="iree", dynamic_shapes=shapes
    )
    for step in range(3):
        args = [x.roll(step) if x.dim() else x for x in given]
        found, expected = compiled(*args), function(*args)
        torch.testing.assert_close(found, expected, rtol=2e-5, atol=1e-7, equal_nan=True)
        is_zero = expected == 0
        assert torch.equal(found[is_zero].signbit(), expected[is_zero].signbit())


@pytest.mark.share(4)
@pytest.mark.parametrize("output_type", DIALECTS)
@pytest.mark.parametrize("dynamic", [False, True])
def test_powers_of_negative_numbers_and_edges(output_type: str, dynamic: bool) -> None:
    pairs = [(x, y) for x in EDGES for y in EXPONENTS]
    x, y = (torch.tensor(part) for part in zip(*pairs, strict=True))
    agrees(lambda x, y: x**y, x, y, output_type=output_type, dynamic=dynamic)


@pytest.mark.parametrize("output_type", DIALECTS)
@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.share(24)
def test_powers_by_numbers(output_type: str, exponent: float) -> None:
    agrees(lambda x: x**exponent, torch.tensor(EDGES), output_type=output_type, dynamic=False)


@pytest.mark.parametrize("dynamic", [False, True])
def test_angles_of_zeros_and_infinities(dynamic: bool) -> None:
    pairs = [(x, y) for x in EDGES for y in EDGES]
    x, y = (torch.tensor(part) for part in zip(*pairs, strict=True))
    agrees(lambda x, y: torch.atan2(x, y), x, y, output_type="stablehlo", dynamic=dynamic)


@pytest.mark.share(4)
@pytest.mark.parametrize(
    "function", [torch.asinh, torch.atanh, torch.sinh, torch.log1p, torch.expm1]
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_functions_next_to_zero(function: Function, dtype: torch.dtype) -> None:
    x = torch.tensor([1e-12, -3e-9, 1e-5, -0.3, 0.5, -0.0, 0.0], dtype=dtype)
    compiled = torch2mlir.compile(function, x, output_type="stablehlo", engine="iree")
    for step in range(3):
        found, expected = compiled(x.roll(step)), function(x.roll(step))
        torch.testing.assert_close(found, expected, rtol=2e-6, atol=0.0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_powers_of_half_floats(dtype: torch.dtype) -> None:
    x = torch.tensor([-3.0, -1.5, 0.0, 0.5, 2.0]).to(dtype)
    compiled = torch2mlir.compile(lambda x: x**x, x, output_type="stablehlo", engine="iree")
    torch.testing.assert_close(compiled(x), x**x, equal_nan=True)
