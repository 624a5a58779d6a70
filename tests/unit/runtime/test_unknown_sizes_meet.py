"""What IREE did not schedule: elementwise ops on tensors of one unknown size through TOSA, and reads around loops."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from repeated_calls import Together, agrees_with_eager
from torch import Tensor

PROGRAMS: dict[str, Callable[[Tensor, Tensor], object]] = {
    "gather": lambda x, i: x.gather(1, i),
    "gather_of_a_remainder": lambda x, i: x.gather(1, (i % 3)[:, :1]),
    "sorted_by_a_column": lambda x, i: x[x[:, 0].argsort()],
    "column_sorted_by_another": lambda x, i: x[:, 1][x[:, 0].argsort()],
    "in_its_own_order": lambda x, i: x[:, 0][x[:, 0].argsort()],
    "chosen_among_three": lambda x, i: torch.where(x > 0, x.gather(1, i), x * x.roll(1, 0)),
    "computed_before_and_read_behind_a_sort": lambda x, i: (lambda p: p.gather(1, p.argsort(1)))(
        x.softmax(1)
    ),
    "ranked": lambda x, i: (lambda p: (p + p.cumsum(1)) * p.argsort(1))(x.softmax(1)),
    "first_row_in_order": lambda x, i: (lambda p: p[p.argsort()])(x[0] * 2),
    "scattered": lambda x, i: torch.zeros_like(x).scatter_add(1, i, x * x) + x,
}


@pytest.mark.parametrize("output_type", ["tosa", "linalg-on-tensors"])
@pytest.mark.share(8)
def test_sizes_that_meet_are_equal(output_type: str) -> None:
    sizes = {0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO}
    shapes = iter([(6, 4), (6, 4), (3, 9), (17, 3), (2, 33)])

    def arguments() -> tuple[dict[str, tuple[Tensor, Tensor]]]:
        shape = next(shapes)
        return (
            {name: (torch.randn(shape), torch.randint(0, min(shape), shape)) for name in PROGRAMS},
        )

    agrees_with_eager(
        Together(PROGRAMS),
        arguments,
        calls=4,
        tolerance=None,
        output_type=output_type,
        dynamic_shapes=({name: (sizes, sizes) for name in PROGRAMS},),
    )
