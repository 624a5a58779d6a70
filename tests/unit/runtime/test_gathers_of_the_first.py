"""Rows that are computed, and the first of them gathered: IREE computed only that one (see docs/engines.md)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from repeated_calls import agrees_with_eager
from torch import Tensor

FIRST = torch.zeros(5, dtype=torch.int64)
EVERYWHERE = torch.zeros(5, 3, dtype=torch.int64)


def _selected(x: Tensor, rows: Tensor) -> Any:
    y = x * 2
    return y.index_select(0, FIRST), y


def _found_to_be_first(x: Tensor, rows: Tensor) -> Any:
    y = x * 2
    return y.gather(0, x.long() - x.long()), y


def _updated(x: Tensor, rows: Tensor) -> Any:
    return x.gather(0, EVERYWHERE), x.index_copy(0, torch.tensor([2, 4]), rows)


def _added(x: Tensor, rows: Tensor) -> Any:
    return x.gather(0, EVERYWHERE) + 1, x.index_add(0, torch.tensor([2, 4]), rows)


@pytest.mark.parametrize("output_type", ["stablehlo", "linalg-on-tensors", "tosa"])
@pytest.mark.parametrize("program", [_selected, _found_to_be_first, _updated, _added])
@pytest.mark.share(12)
def test_the_other_rows_are_computed(program: Callable[..., Any], output_type: str) -> None:
    agrees_with_eager(
        program,
        lambda: (torch.randn(5, 3), torch.randn(2, 3)),
        output_type=output_type,
        engine="iree",
    )
