"""A sum over a dimension of size 1 of a reduction, beside the reduction: IREE had only the diagonal of their product."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import torch2mlir
from tests.e2e.agreement import assert_agrees


def of_maximum(x: Tensor) -> Tensor:
    column = x.amax(1)
    return (column + column) * column.sum(1)


def of_sum(x: Tensor) -> Tensor:
    column = x.sum(1)
    return column * column.sum(1) + column.amax(1)


@pytest.mark.parametrize("function", [of_maximum, of_sum])
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
@pytest.mark.share(3)
def test_a_product_is_whole(function: Callable[[Tensor], Tensor], output_type: Any) -> None:
    torch.manual_seed(0)
    compiled = torch2mlir.compile(
        function, torch.randn(3, 4, 1), output_type=output_type, engine="iree"
    )
    for _ in range(3):
        x = torch.randn(3, 4, 1)
        assert_agrees(compiled(x), function(x))
