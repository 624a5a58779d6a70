"""Results whose size depends on elements, through StableHLO on an engine that takes such sizes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import torch2mlir

PROGRAMS: dict[str, Callable[[torch.Tensor], object]] = {
    "nonzero": torch.nonzero,
    "masked_select": lambda x: torch.masked_select(x, x > 0),
    "unique": lambda x: torch.unique(x, return_inverse=True, return_counts=True),
    "bincount": lambda x: torch.bincount(x.abs()),
    "repeat_interleave": lambda x: torch.repeat_interleave(x, x.abs()),
}
INPUTS = ([3, 0, 1, 1, 0, 2], [0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0], [5, 4, 3, 2, 1, 6])
"""Among the results are empty ones, ones of one element and full ones."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_call_has_its_own_size(name: str) -> None:
    function = PROGRAMS[name]
    compiled = torch2mlir.compile(function, torch.tensor(INPUTS[0]), engine="iree")
    for values in INPUTS:
        x = torch.tensor(values)
        torch.testing.assert_close(compiled(x), function(x))
        assert x.tolist() == values  # IREE sorts in place what is not a copy
