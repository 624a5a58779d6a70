"""Sums of many elements are as near to the real ones as eager mode's, on IREE too, which adds up one after the other."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor
from torch.export import Dim

import torch2mlir


def sums(line: Tensor, table: Tensor, images: Tensor) -> Sequence[Tensor]:
    """Of squares, so that nothing cancels: of everything, of lines, of columns, and of channels."""
    return (
        *((line * line).sum(), line.square().mean(), line.norm()),
        *((table * table).sum(1), (table * table).sum(0), (table.mT * table.mT).mean(1)),
        *((images * images).sum([0, 2, 3], keepdim=True), images.var([0, 2, 3])),
    )


@pytest.mark.parametrize("is_dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
@pytest.mark.share(6)
def test_they_are_near_the_real_ones(output_type: str, is_dynamic: bool) -> None:
    numbers = torch.randn(300_000), torch.randn(20_000, 3), torch.randn(20, 3, 40, 40)
    n = Dim("n", min=2, max=1 << 20)
    compiled = torch2mlir.compile(
        sums,
        *numbers,
        output_type=output_type,
        engine="iree",
        dynamic_shapes=({0: n}, {0: Dim.AUTO}, {0: Dim.AUTO}) if is_dynamic else None,
    )
    exact = sums(*(each.double() for each in numbers))
    for found, expected in zip(compiled(*numbers), exact, strict=True):
        torch.testing.assert_close(found.double(), expected, rtol=1e-6, atol=0)
