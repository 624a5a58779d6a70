"""Images resized: ``Resize`` where ONNX finds the same places between the old elements, a product otherwise."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as f
from torch import Tensor

import torch2mlir

OPTIONS: list[tuple[dict[str, Any], bool]] = [
    ({"scale_factor": 2}, True),
    ({"scale_factor": (0.5, 1.75)}, True),
    ({"scale_factor": 2, "align_corners": True}, True),
    ({"size": (9, 4)}, True),
    ({"size": (1, 1)}, True),
    ({"size": (1, 13), "align_corners": True}, True),
    ({"scale_factor": 1.3}, False),
    ({"scale_factor": 1.3, "recompute_scale_factor": True}, True),
]


class Resized(torch.nn.Module):
    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__()
        self.options = options

    def forward(self, x: Tensor) -> Tensor:
        return f.interpolate(x, mode="bilinear", **self.options)


@pytest.mark.share(2)
@pytest.mark.parametrize("options, is_kept", OPTIONS, ids=str)
@pytest.mark.parametrize("is_dynamic", [False, True])
def test_resized(options: dict[str, Any], is_kept: bool, is_dynamic: bool) -> None:
    torch.manual_seed(0)
    model, sizes = Resized(options).eval(), (2, 3, 6, 8)
    batch = [{0: torch.export.Dim("batch", min=1, max=64)}] if is_dynamic else None
    x = torch.randn(sizes)
    text = str(torch2mlir.export_and_import(model, x, output_type="onnx", dynamic_shapes=batch))
    assert ("onnx.Resize" in text) == is_kept
    run = torch2mlir.compile(model, x, output_type="onnx", dynamic_shapes=batch)
    for count in (2, 5, 1) if is_dynamic else (2, 2, 2):
        x = torch.randn(count, *sizes[1:])
        torch.testing.assert_close(run(x), model(x), rtol=1e-5, atol=1e-5)


def test_resized_halves_and_doubles_are_products() -> None:
    for dtype in (torch.float64, torch.bfloat16):
        x = torch.randn(1, 2, 4, 4).to(dtype)
        run = torch2mlir.compile(Resized({"scale_factor": 2}), x, output_type="onnx")
        for _ in range(3):
            x = torch.randn(1, 2, 4, 4).to(dtype)
            torch.testing.assert_close(run(x), f.interpolate(x, scale_factor=2, mode="bilinear"))
