"""A model at its full size: what engines compile differently where tensors are large is not seen in small ones."""

from __future__ import annotations

import torch

import torch2mlir
from torch2mlir.runtime import iree
from zoo import MODELS


def test_resnet_of_one_picture_through_tosa() -> None:
    """Its convolutions as products without data tiling were wrong by five times; the only other product has one row."""
    entry = MODELS["resnet50"](size="full")
    compiled = torch2mlir.compile(entry.model, *entry.args, output_type="tosa")
    with torch.no_grad():
        for _ in range(3):
            x = torch.randn_like(entry.args[0])
            torch.testing.assert_close(compiled(x), entry.model(x), rtol=1e-3, atol=1e-4)


def test_data_tiling_is_left_out_for_rows_without_convolutions_alone() -> None:
    row, picture = torch.randn(1, 64), torch.randn(1, 3, 8, 8)
    linear = torch.nn.Linear(64, 8)
    convolution = torch.nn.Sequential(torch.nn.Conv2d(3, 1, 1), torch.nn.Flatten(), linear)
    for model, x, alone in ((linear, row, True), (convolution, picture, False)):
        module = torch2mlir.export_and_import(model, x, output_type="linalg-on-tensors")
        assert iree._multiplies_rows_alone(module.operation) is alone
