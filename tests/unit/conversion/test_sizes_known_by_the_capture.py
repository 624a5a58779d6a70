"""Sizes that PyTorch's capture knows for numbers, where the expressions of the operands' sizes do not say so."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import torch2mlir

AUTO = torch.export.Dim.AUTO


TOSA = pytest.param("tosa", marks=pytest.mark.full("slow to compile"))


@pytest.mark.share(2)
@torch.no_grad()
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "onnx", TOSA])
def test_one_place_is_left_of_pictures_of_any_size_up_to_8(output_type: str) -> None:
    """Results of lowerings had one more dimension of unknown size than their types, and were refused."""
    torch.manual_seed(0)  # two elements a group: some are as near to each other as rounding
    halvings = [nn.Conv2d(4, 4, 3, stride=2, padding=1) for _ in range(3)]
    model = nn.Sequential(*halvings, nn.GroupNorm(2, 4), nn.Conv2d(4, 4, 1), nn.GroupNorm(2, 4))
    varying = ({0: AUTO, 2: AUTO, 3: AUTO},)
    compiled = torch2mlir.compile(
        model.eval(), torch.randn(2, 4, 8, 8), output_type=output_type, dynamic_shapes=varying
    )
    for rows, size in ((2, 8), (3, 7), (5, 6), (2, 9)):
        x = torch.randn(rows, 4, size, size)
        torch.testing.assert_close(compiled(x), model(x), rtol=1e-4, atol=1e-5)
