"""Sizes that vary of arguments that a model takes by any name: PyTorch refused them whichever way they were said."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.testing import assert_close

import torch2mlir


class Weighted(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x: Tensor, **further: Any) -> Tensor:
        y = self.layer(x) * further.get("weight", 1)
        return y + further["offset"] if further.get("adds") else y


BATCH = Dim("batch", max=9)
SAID: dict[str, Any] = {
    "beside": {"x": {0: BATCH}, "weight": {0: BATCH}, "offset": None, "adds": None},
    "by themselves": {
        "x": {0: BATCH},
        "further": {"weight": {0: BATCH}, "offset": None, "adds": None},
    },
}


@torch.no_grad()
@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("output_type", ["stablehlo", "onnx"])
def test_sizes_vary(said: str, output_type: str) -> None:
    torch.manual_seed(0)
    model = Weighted()

    def arguments(batch: int) -> dict[str, Any]:
        sizes = {"x": (batch, 3), "weight": (batch, 1), "offset": (3,)}
        return {name: torch.randn(size) for name, size in sizes.items()} | {"adds": True}

    compiled = torch2mlir.compile(
        model, **arguments(2), dynamic_shapes=SAID[said], output_type=output_type
    )
    optimized = torch2mlir.optimize(model, engine="onnxruntime", min_cluster_size=1)
    for batch in (2, 1, 9, 5):
        given = arguments(batch)
        assert_close(compiled(**given), model(**given))
        assert_close(optimized(**given), model(**given))
    assert "0 of them all in PyTorch" in str(optimized.report())
