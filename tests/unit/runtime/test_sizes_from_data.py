"""Results whose size depends on elements, through StableHLO on an engine that takes such sizes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import torch2mlir
from tests.e2e.agreement import assert_agrees
from torch2mlir.errors import InputError

PROGRAMS: dict[str, Callable[[torch.Tensor], object]] = {
    "nonzero": torch.nonzero,
    "masked_select": lambda x: torch.masked_select(x, x > 0),
    "unique": lambda x: torch.unique(x, return_inverse=True, return_counts=True),
    "bincount": lambda x: torch.bincount(x.abs()),
    "repeat_interleave": lambda x: torch.repeat_interleave(x, x.abs()),
}
INPUTS = ([3, 0, 1, 1, 0, 2], [0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0], [5, 4, 3, 2, 1, 6])
"""Among the results are empty ones, ones of one element and full ones."""


@pytest.mark.share(6)
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_call_has_its_own_size(name: str) -> None:
    function = PROGRAMS[name]
    compiled = torch2mlir.compile(function, torch.tensor(INPUTS[0]), engine="iree")
    for values in INPUTS:
        x = torch.tensor(values)
        torch.testing.assert_close(compiled(x), function(x))
        assert x.tolist() == values  # IREE sorts in place what is not a copy


SQUEEZES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "unnamed": lambda x: x.nonzero().squeeze() + 1,
    "named": lambda x: x[x > 0].squeeze(0) * 2,
    "several": lambda x: torch.squeeze(x.nonzero(), (0, 1)),
}


@pytest.mark.share(4)
@pytest.mark.parametrize("name", SQUEEZES)
def test_a_rank_that_elements_decide_is_refused(name: str) -> None:
    """PyTorch captures that the dimension stays; where there is one element, eager drops it."""
    function, x = SQUEEZES[name], torch.tensor([0.0, 1, 2, 0])
    run = torch2mlir.compile(function, x, output_type="linalg-on-tensors")
    for values in ([0.0, 1, 2, 0], [0.0, 0, 0, 0], [3.0, 1, 2, 5]):
        assert_agrees(run(torch.tensor(values)), function(torch.tensor(values)))
    with pytest.raises(InputError, match="squeeze of dimension 0, which is 1"):
        run(torch.tensor([0.0, 1, 0, 0]))


@pytest.mark.parametrize("name", SQUEEZES)
def test_optimize_gives_the_rank_that_elements_decide(name: str) -> None:
    function = SQUEEZES[name]
    optimized = torch2mlir.optimize(function, model_inputs=torch.tensor([0.0, 1, 2, 0]))
    for values in ([0.0, 1, 2, 0], [0.0, 1, 0, 0], [0.0, 0, 0, 0]):
        assert_agrees(optimized(torch.tensor(values)), function(torch.tensor(values)))
