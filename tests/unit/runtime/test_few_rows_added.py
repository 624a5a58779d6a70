"""Rows added at positions that come again, through TOSA on IREE: as loops, and as a product with zeros and ones."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.export import Dim
from xdsl.context import Context
from xdsl.transforms.dead_code_elimination import DeadCodeElimination

import torch2mlir
from torch2mlir.engine_passes.tosa_few_sums_to_scatters import TosaFewSumsToScattersPass
from torch2mlir.engine_passes.tosa_hits_to_scatters import TosaHitsToScattersPass

PLACES, COUNT = 700, 160


class Added(torch.nn.Module):
    def forward(self, x: Tensor, i: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return x.index_add(0, i, y), x.index_put((i,), y, accumulate=True)


def _rows(dtype: torch.dtype, count: int) -> Tensor:
    if dtype.is_floating_point:
        return torch.randn(count, 5).to(dtype)
    return torch.randint(-(1 << 20), 1 << 20, (count, 5)).to(dtype)


@pytest.mark.share(4)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int32, torch.int64])
def test_rows_are_added_in_their_order(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    indices = [
        torch.randint(0, PLACES, (COUNT,)),
        torch.zeros(COUNT, dtype=torch.int64),
        torch.full((COUNT,), PLACES - 1),
        torch.arange(COUNT) % 3,
    ]
    run = torch2mlir.compile(
        Added(), _rows(dtype, PLACES), indices[0], _rows(dtype, COUNT), output_type="tosa"
    )
    for index in indices:
        x, y = _rows(dtype, PLACES), _rows(dtype, COUNT)
        kept = x.clone()
        # halves are added up in f32
        wide = [t.float() if dtype is torch.float16 else t for t in (x, y)]
        expected = Added()(wide[0], index, wide[1])
        for one, other in zip(run(x, index, y), expected, strict=True):
            torch.testing.assert_close(
                one, other.to(dtype), rtol=1e-3 if dtype is torch.float16 else 1e-5, atol=1e-4
            )
        assert torch.equal(x, kept)


@pytest.mark.parametrize("places, count", [(PLACES, COUNT), (COUNT, PLACES)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int32])
def test_sums_are_found_as_they_are_written(dtype: torch.dtype, places: int, count: int) -> None:
    index = torch.zeros(count, dtype=torch.int64)
    args = _rows(dtype, places), index, _rows(dtype, count)
    module = torch2mlir.export_and_import(Added(), *args, output_type="tosa").operation
    assert "tosa.matmul" in str(module)
    for each in (TosaFewSumsToScattersPass(), TosaHitsToScattersPass()):
        each.apply(Context(), module)
    DeadCodeElimination().apply(Context(), module)
    assert "tosa.matmul" not in str(module)


@pytest.mark.share(6)
@pytest.mark.parametrize(
    "places, count, varies",
    [(PLACES, COUNT, False), (PLACES, 2, False), (6, 9, False), (6, 9, True), (40, 9, True)],
)
def test_infinities_and_zeros_stay_where_they_are(places: int, count: int, varies: bool) -> None:
    torch.manual_seed(0)
    x, index = torch.full((places, 5), -0.0), torch.randint(0, places // 2, (count,))
    rows = {0: Dim("rows", max=16)}
    run = torch2mlir.compile(
        Added(),
        x,
        index,
        _rows(torch.float32, count),
        output_type="tosa",
        dynamic_shapes=(None, rows, rows) if varies else None,
    )
    for special in (torch.inf, -torch.inf, torch.nan, -0.0):
        y = _rows(torch.float32, count)
        y[1] = special
        y[0, 0] = torch.inf
        for one, other in zip(run(x, index, y), Added()(x, index, y), strict=True):
            torch.testing.assert_close(one, other, equal_nan=True)
            end = slice(places // 2, None)
            assert torch.equal(one.signbit()[end], other.signbit()[end])
