"""Sorting of a length known at run time, of many lengths, against ``torch.sort(stable=True)``."""

from __future__ import annotations

import pytest
import torch
from torch.export import Dim

import torch2mlir

LENGTHS = [*range(1, 20), 31, 32, 33, 127, 128, 129, 255, 257, 1000, 4097]


class Sorts(torch.nn.Module):
    """Both directions, values and positions."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return *x.sort(stable=True), *x.sort(stable=True, descending=True)


def _with_ties(length: int, dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
    x = torch.randint(-1 - length // 3, 2 + length // 3, (2, length), generator=generator).to(dtype)
    if dtype.is_floating_point:
        for special, every in ((float("inf"), 5), (-float("inf"), 7), (float("nan"), 4)):
            x[torch.randint(0, every, x.shape, generator=generator) == 0] = special
    return x


@pytest.mark.share(8)
@pytest.mark.parametrize("dtype", [torch.float32, torch.int16], ids=str)
@pytest.mark.parametrize(
    ("output_type", "engine"),
    [("linalg-on-tensors", "reference"), ("linalg-on-tensors", "iree"), ("tosa", "iree")],
)
def test_every_length_is_sorted_stably(output_type: str, engine: str, dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(0)
    sort = torch2mlir.compile(
        Sorts(),
        _with_ties(6, dtype, generator),
        output_type=output_type,
        engine=engine,
        dynamic_shapes=({1: Dim("n", min=1)},),
    )
    for length in LENGTHS:
        x = _with_ties(length, dtype, generator)
        for found, expected in zip(sort(x), Sorts()(x), strict=True):
            torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)
