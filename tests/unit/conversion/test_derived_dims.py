"""Sizes of arguments that are expressions of a symbol: the symbol is found from them."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.export import Dim

import torch2mlir

HEIGHT, WIDTH = Dim("height", max=50), Dim("width", max=50)


@pytest.mark.parametrize("sizes", [{0: 2 * HEIGHT, 1: 2 * WIDTH}, {0: HEIGHT + 1, 1: WIDTH + 1}])
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "onnx", "stablehlo"])
@pytest.mark.share(4)
def test_two_of_one_form(output_type: str, sizes: dict[int, Dim]) -> None:
    """The second symbol was the first one's value."""

    def made(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return x.new_zeros(x.shape), torch.arange(x.shape[1]), x.sum() * 0 + x.shape[1]

    compiled = torch2mlir.compile(
        made, torch.randn(4, 6), output_type=output_type, dynamic_shapes=(sizes,)
    )
    for shape in ((4, 6), (8, 4), (10, 14)):
        x = torch.randn(shape)
        torch.testing.assert_close(compiled(x), made(x))
