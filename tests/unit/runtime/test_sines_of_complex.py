"""Exponentials and sines of complex numbers: IREE has no code for those of doubles, and infinities, NaN and zeros differed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
import torch
from torch import Tensor

import torch2mlir

_INF, _NAN = torch.inf, torch.nan
SPECIAL = [-_INF, -800.0, -1.0, -0.0, 0.0, 1.0, 800.0, _INF, _NAN]
FUNCTIONS = [torch.exp, torch.sin, torch.cos]


@pytest.mark.share(2)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize(
    "output_type, dtype",
    [(name, torch.float32) for name in ("stablehlo", "linalg-on-tensors", "tosa", "onnx")]
    + [(name, torch.float64) for name in ("stablehlo", "linalg-on-tensors")],
)
def test_every_kind_of_number(
    function: Callable[[Tensor], Tensor], output_type: str, dtype: torch.dtype
) -> None:
    def of_parts(x: Tensor, y: Tensor) -> Tensor:
        return torch.view_as_real(function(torch.complex(x, y)))

    x, y = torch.tensor(list(product(SPECIAL, SPECIAL)), dtype=dtype).T.contiguous()
    compiled = torch2mlir.compile(of_parts, x, y, output_type=output_type)
    for given in ((x, y), (y, x), (torch.randn_like(x), torch.randn_like(y) * 3)):
        result, wanted = compiled(*given), of_parts(*given)
        torch.testing.assert_close(result, wanted, equal_nan=True)
        is_zero = wanted == 0
        assert torch.equal(result[is_zero].signbit(), wanted[is_zero].signbit())
