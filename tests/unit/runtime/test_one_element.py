"""One element of a tensor that is read with more dimensions than the tensor has: IREE refused it (see docs/engines.md)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from repeated_calls import Together, agrees_with_eager

PROGRAMS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "concatenated": lambda x: torch.cat([x[:1][:, None], x[1:2][:, None]]),
    "multiplied": lambda x: x[:1].expand(1, 1) @ x[None, 1:2],
    "of_rank_0": lambda x: x[0].view(1, 1) @ x[1].view(1, 1),
    "multiplied_in_a_batch": lambda x: (x[:, None] * 2)[1:2][None] @ (x[:, None] * 3)[:1][None],
    "sorted": lambda x: x[:1][:, None].sort(0).values,
    "put": lambda x: (x * 2).index_put((torch.tensor([0]),), x[1:2]),
}


@pytest.mark.share(4)
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
def test_more_dimensions_for_one_element(output_type: str) -> None:
    agrees_with_eager(
        Together(PROGRAMS),
        lambda: ({name: (torch.randn(3),) for name in PROGRAMS},),
        output_type=output_type,
        engine="iree",
    )


def test_elements_that_many_results_need_are_looked_at_once() -> None:
    """Every value of the chain is read three times: there are more ways through it than can be followed."""

    def chain(x: torch.Tensor) -> torch.Tensor:
        value = x[:1, 0]
        for _ in range(40):
            value = 0.5 * (value + torch.sin(value) * value)
        return value

    agrees_with_eager(
        chain, lambda: (torch.randn(3, 4),), output_type="linalg-on-tensors", engine="iree"
    )
