"""More tensors than IREE's runtime takes in one dispatch (see docs/engines.md)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from repeated_calls import agrees_with_eager

MANY = 40


def tree(xs: list[torch.Tensor]) -> torch.Tensor:
    """Sums of products of two, of which each is read twice."""
    while len(xs) > 1:
        pairs = zip(xs[::2], xs[1::2])
        xs = [a * b + a for a, b in pairs] + xs[len(xs) // 2 * 2 :]
    return xs[0]


PROGRAMS: dict[str, Callable[[list[torch.Tensor]], torch.Tensor]] = {
    "sum": lambda xs: torch.stack(xs).sum(0) + sum(xs),
    "moved": lambda xs: sum(x.t() * number for number, x in enumerate(xs)).softmax(0),
    "losses": lambda xs: sum(x.square().mean() * 0.1 for x in xs),
    "masks": lambda xs: sum((x > 0.5).float() for x in xs),
    "tree": tree,
}


@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
@pytest.mark.share(3)
def test_many_tensors(output_type: str) -> None:
    def all_of_them(
        many: dict[str, list[torch.Tensor]],
    ) -> list[torch.Tensor]:
        return [program(many[name]) for name, program in PROGRAMS.items()]

    agrees_with_eager(
        all_of_them,
        lambda: ({name: [torch.rand(4, 4) for _ in range(MANY)] for name in PROGRAMS},),
        output_type=output_type,
        engine="iree",
    )
