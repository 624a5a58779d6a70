"""Sizes that may vary of queries, keys and values: the capture of attention does not compare them."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.export import Dim
from torch.nn import functional as F

import torch2mlir
from torch2mlir.errors import Torch2MLIRError


def _attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, mask)


def _arguments(batch: int, queries: int, keys: int) -> tuple[Tensor, ...]:
    lengths = queries, keys, keys
    mask = torch.randn(batch, 1, queries, keys)
    return *(torch.randn(batch, 4, length, 8) for length in lengths), mask


@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "onnx", "stablehlo"])
@pytest.mark.share(2)
def test_attention(output_type: str) -> None:
    sizes = (*[{0: Dim.AUTO, 2: Dim.AUTO}] * 3, {0: Dim.AUTO, 2: Dim.AUTO, 3: Dim.AUTO})
    compiled = torch2mlir.compile(
        _attention, *_arguments(2, 3, 5), output_type=output_type, dynamic_shapes=sizes
    )
    for batch, queries, keys in ((2, 3, 5), (3, 7, 4), (1, 2, 9)):
        given = _arguments(batch, queries, keys)
        torch.testing.assert_close(compiled(*given), _attention(*given))
    with pytest.raises(Torch2MLIRError):
        q, k, v, mask = _arguments(2, 3, 5)
        compiled(q, k, v[:, :, :4], mask)
