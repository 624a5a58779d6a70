"""Functions that PyTorch's capture stops at, or takes other sizes for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

import torch2mlir

PROGRAMS: dict[str, tuple[Callable[..., Any], Callable[[], tuple[Tensor, ...]]]] = {
    "a mask that repeats elements": (
        lambda x, mask: x.masked_select(mask) * 2,
        lambda: (torch.randn(2, 1, 3), torch.rand(4, 3) > 0.2),
    ),
    "a dimension from the end": (
        lambda x: torch.unique_consecutive(x, dim=-1),
        lambda: (torch.randint(0, 2, (3, 4)),),
    ),
    "counts of rows": (
        lambda x: x.unique_consecutive(return_inverse=True, return_counts=True, dim=-2),
        lambda: (torch.randint(0, 2, (5, 1)),),
    ),
    "pairs": (lambda x: torch.combinations(x) * 2, lambda: (torch.randn(5),)),
    "triples": (
        lambda x: torch.combinations(x, 3, with_replacement=True),
        lambda: (torch.randn(4),),
    ),
    "no pair": (lambda x: torch.combinations(x), lambda: (torch.randn(1),)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_eager_mode(name: str) -> None:
    program, arguments = PROGRAMS[name]
    ours = torch2mlir.compile(program, *arguments(), output_type="onnx")
    for _ in range(4):
        given = arguments()
        assert_close(ours(*given), program(*given))


def test_an_encoder_whose_mask_is_an_argument() -> None:
    """It looks whether the mask is the causal one, which no capture knows."""
    layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
    causal = torch.triu(torch.full((4, 4), -torch.inf), 1)

    def encoded(x: Tensor, mask: Tensor) -> Tensor:
        return encoder(x, mask=mask)  # type: ignore[no-any-return]

    with torch.no_grad():
        ours = torch2mlir.compile(encoded, torch.randn(2, 4, 8), causal, output_type="onnx")
        for mask in (causal, torch.randn(4, 4), torch.zeros(4, 4), causal.mT.contiguous()):
            x = torch.randn(2, 4, 8)
            assert_close(ours(x, mask), encoded(x, mask))
