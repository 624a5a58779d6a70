"""``isin`` of sizes that vary: PyTorch's decomposition asks for their number, to choose a way."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import Dim

import torch2mlir


def both(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    return torch.isin(x, y), torch.isin(x, y, invert=True)


@pytest.mark.parametrize("output_type", ["stablehlo", "onnx"])
def test_isin(output_type: Any) -> None:
    torch.manual_seed(0)
    shapes: Any = ({0: Dim.AUTO}, {0: Dim.AUTO})
    example = torch.randint(0, 9, (6,)), torch.randint(0, 9, (4,))
    compiled = torch2mlir.compile(both, *example, dynamic_shapes=shapes, output_type=output_type)
    for one, other in ((6, 4), (3, 40), (70, 9), (1, 2), (0, 3), (4, 0)):
        x, y = torch.randint(0, 9, (one,)), torch.randint(0, 9, (other,))
        assert all(map(torch.equal, compiled(x, y), both(x, y)))
