"""Updates of computed tensors of unknown sizes beside others: through TOSA, IREE began them with what lay beside these."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor
from torch.export import Dim

import torch2mlir

FIRST = torch.tensor([0, 1])


def _filled(x: Tensor, y: Tensor) -> Sequence[Tensor]:
    beside, line = x * 3, y + 1
    return line.index_fill(0, FIRST, 5), beside, line


def _assigned(x: Tensor, y: Tensor) -> Sequence[Tensor]:
    beside, line = x * 3, y.clamp(-1, 1)
    line[FIRST] = 5
    return line, beside


def _scattered(x: Tensor, y: Tensor) -> Sequence[Tensor]:
    beside, line, rows = x * 3, y + 1, x.cos()
    updated = rows.index_copy(0, FIRST.flip(0), x[2:4])
    return line.scatter(0, FIRST, y), beside, updated, rows.sum()


@pytest.mark.share(4)
@pytest.mark.parametrize("function", [_filled, _assigned, _scattered])
@pytest.mark.parametrize("dialect", ["tosa", "linalg-on-tensors"])
def test_what_is_not_written_stays(
    dialect: str, function: Callable[[Tensor, Tensor], Sequence[Tensor]]
) -> None:
    compiled = torch2mlir.compile(
        function,
        torch.randn(5, 4),
        torch.randn(3),
        dynamic_shapes=({0: Dim.AUTO, 1: Dim.AUTO}, {0: Dim.AUTO}),
        output_type=dialect,
        engine="iree",
    )
    for rows, columns, length in ((5, 4, 3), (7, 3, 9), (500, 30, 20_001)):
        x, y = torch.randn(rows, columns), torch.randn(length)
        torch.testing.assert_close(compiled(x, y), function(x, y))
