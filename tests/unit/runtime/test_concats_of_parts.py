"""A part of a tensor behind another one that is negated: any two were the halves of a rotary embedding to IREE (see docs/engines.md)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from repeated_calls import Together, agrees_with_eager
from torch.export import Dim

PROGRAMS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "swapped_halves": lambda x: torch.cat([-x[:, 4:], x[:, :4]], -1) * 2,
    "halves_in_order": lambda x: torch.cat([-x[:, :4], x[:, 4:]], -1),
    "one_half_twice": lambda x: torch.cat([-x[:, 4:], x[:, 4:]], -1),
    "every_second": lambda x: torch.cat([-x[:, 1::2], x[:, ::2]], -1) * 2,
    "every_second_of_what_is_computed": lambda x: (
        lambda y: torch.cat([-y[:, 1::2], y[:, ::2]], -1)
    )(x.sin()),
    "middle": lambda x: torch.cat([-x[:, 2:6], x[:, :4]], -1),
    "of_other_rows": lambda x: torch.cat([-x[1:3, 4:], x[:2, :4]], -1),
    "stacked": lambda x: torch.stack([-x[..., 1::2], x[..., ::2]], 1),
    "rotary_of_pairs": lambda x: x * x.cos() + torch.cat([-x[:, 1::2], x[:, ::2]], -1) * x.sin(),
}


@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
def test_parts_that_are_no_swapped_halves(output_type: str) -> None:
    agrees_with_eager(
        Together(PROGRAMS),
        lambda: ({name: (torch.randn(3, 8),) for name in PROGRAMS},),
        output_type=output_type,
        engine="iree",
    )


def test_of_unknown_rows() -> None:
    names = ("swapped_halves", "halves_in_order", "every_second")
    agrees_with_eager(
        Together({name: PROGRAMS[name] for name in names}),
        lambda: ({name: (torch.randn(3, 8),) for name in names},),
        output_type="linalg-on-tensors",
        engine="iree",
        dynamic_shapes=({name: ({0: Dim.AUTO},) for name in names},),
    )
