"""Functions that ONNX Runtime has for one element at a time, said with others: as right, and with the signs of zeros."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import torch2mlir

FUNCTIONS = (torch.sinh, torch.cosh, torch.atanh, torch.tan)
SPECIAL = torch.tensor(
    [
        0.0,
        -0.0,
        1e-30,
        -1e-30,
        1e-8,
        -1e-4,
        0.5,
        0.99999994,
        -0.99999994,
        1.0,
        -1.0,
        1.5,
        88.8,
        -89.0,
    ]
    + [100.0, torch.inf, -torch.inf, torch.nan, 1e7, 1.5707964, 3.1415927]
)


class Functions(torch.nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        return tuple(function(x) for function in FUNCTIONS)


@pytest.mark.parametrize("is_dynamic", [False, True])
def test_functions_of_one_element_at_a_time(is_dynamic: bool) -> None:
    torch.manual_seed(0)
    shapes = [{0: torch.export.Dim("n", min=2)}] if is_dynamic else None
    x = torch.randn(SPECIAL.shape)
    run = torch2mlir.compile(Functions(), x, output_type="onnx", dynamic_shapes=shapes)
    for values in (SPECIAL, x.tanh(), x * 20):
        # in f64: on some processors PyTorch's own sinh of 88.8 is infinite
        exact = [result.float() for result in Functions()(values.double())]
        for one, other in zip(run(values), exact, strict=True):
            torch.testing.assert_close(one, other, rtol=2e-6, atol=0, equal_nan=True)
            assert torch.equal(one.signbit() & ~one.isnan(), other.signbit() & ~other.isnan())


def test_the_extremum_beside_a_nan_is_nan() -> None:
    class Extrema(torch.nn.Module):
        def forward(self, x: Tensor) -> tuple[Tensor, ...]:
            return x.amax(-1), x.amin(0), x.amax(), x.amin((0, 1), keepdim=True)

    run = torch2mlir.compile(Extrema(), torch.randn(4, 5), output_type="onnx")
    for special in (torch.nan, torch.inf, -torch.inf):
        x = torch.randn(4, 5)
        x[2, 1] = special
        x[3] = special
        for one, other in zip(run(x), Extrema()(x), strict=True):
            torch.testing.assert_close(one, other, rtol=0, atol=0, equal_nan=True)
