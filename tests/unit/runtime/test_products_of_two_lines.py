"""A row times a column that becomes a number: OpenVINO's compiler ended the process."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import torch2mlir


def _products(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    batch = torch.stack([x, y])
    return (
        x @ y + 1,
        torch.einsum("i,i->", x, y),
        (x[None] @ y[:, None]).squeeze(),
        torch.bmm(batch[:, None], batch[:, :, None]).squeeze(),
        batch @ y,
    )


@pytest.mark.parametrize("engine", ["openvino", "onnxruntime"])
def test_of_vectors(engine: str) -> None:
    compiled = torch2mlir.compile(
        _products, torch.randn(7), torch.randn(7), output_type="onnx", engine=engine
    )
    for _ in range(3):
        x, y = torch.randn(2, 7)
        torch.testing.assert_close(compiled(x, y), _products(x, y))
