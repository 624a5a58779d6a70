"""Reductions that one loop reads at two places: IREE had one tile for both (see docs/engines.md)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from repeated_calls import agrees_with_eager
from torch.export import Dim

Program = Callable[[torch.Tensor], torch.Tensor]


def _with_transpose(v: torch.Tensor) -> torch.Tensor:
    return v + v.mT


def _pairs(v: torch.Tensor) -> torch.Tensor:
    return v[..., :, None] - v[..., None, :]


def _distances(x: torch.Tensor) -> torch.Tensor:
    squares = (x * x).sum(1)
    return squares[:, None] + squares[None] - 2 * x @ x.T


PROGRAMS: dict[str, Program] = {
    "outer": lambda x: torch.outer(x.sum(0), x.sum(0)),
    "sum_and_mean": lambda x: x.sum(0)[:, None] * x.mean(0)[None],
    "softmax_and_its_transpose": lambda x: _with_transpose(x.softmax(-1)),
    "layer_norm_and_its_transpose": lambda x: _with_transpose(F.layer_norm(x, (6,))),
    "pairs_of_maxima": lambda x: _pairs(x.amax(1)),
    "distances": _distances,
    "spread_over_rows_and_columns": lambda x: _with_transpose(x.sum(0).expand(6, 6)),
    "sum_of_pairs": lambda x: _pairs(x.amax(1)).abs().sum(0),
    "counts": lambda x: _pairs((x.long().unsqueeze(-1) == torch.arange(4)).sum((0, 1))),
}


@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_both_are_read(name: str, output_type: str) -> None:
    agrees_with_eager(
        PROGRAMS[name], lambda: (torch.randn(6, 6) * 3,), output_type=output_type, engine="iree"
    )


def test_both_are_read_of_batches() -> None:
    agrees_with_eager(
        lambda x: (_with_transpose(x.softmax(-1)), _pairs(x.amax(1))),
        lambda: (torch.randn(3, 6, 6),),
        output_type="linalg-on-tensors",
        engine="iree",
        dynamic_shapes=({0: Dim("batch")},),
    )
