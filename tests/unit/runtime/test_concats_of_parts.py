"""A part of a tensor behind another one that is negated: any two were the halves of a rotary embedding to IREE (see docs/engines.md)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from repeated_calls import Together, agrees_with_eager
from torch.export import Dim


def written_in_place(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[..., :2], y[..., 2:4] = -x[..., 2:4], x[..., :2]
    return y


def written_to_some_rows(x: torch.Tensor) -> torch.Tensor:
    y = x.exp()
    y[:2, :4], y[:2, 4:] = -x[:2, 4:], x[:2, :4]
    return y


def partial_rotary(x: torch.Tensor) -> torch.Tensor:
    rotated, passed = x[:, :4], x[:, 4:]
    swapped = torch.cat([-rotated[:, 2:], rotated[:, :2]], -1)
    return torch.cat([rotated * 2 + swapped * 3, passed], -1)


def in_the_first_columns(x: torch.Tensor) -> torch.Tensor:
    return torch.cat([torch.cat([-x[:, 2:4], x[:, :2]], 1), x[:, 4:]], 1)


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
    "before_a_third": lambda x: torch.cat([-x[:, 3:6], x[:, :3], x[:, 6:]], 1),
    "before_a_third_of_elsewhere": lambda x: torch.cat([-x[:, 2:4], x[:, :2], x[:, 4:].exp()], 1),
    "pairs": lambda x: (
        lambda a, b, c, d: torch.cat([-b, a, -d, c], 1)  # a quaternion times i
    )(*(x * 2).chunk(4, 1)),
    "twice_its_negative": lambda x: torch.cat([x[:, 2:4] * -1, x[:, :2], x[:, 4:]], 1),
    "written_in_place": written_in_place,
    "written_to_some_rows": written_to_some_rows,
    "partial_rotary": partial_rotary,
    "in_the_first_columns": in_the_first_columns,
    "stacked_columns": lambda x: (lambda y: torch.stack([-y[:, 1], y[:, 0], -y[:, 3], y[:, 2]], 1))(
        x[:, :4]
    ),
    "an_odd_number": lambda x: (lambda y: torch.stack([-y[:, 1], y[:, 0], y[:, 2]], -1))(x[:, :3]),
}


@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
@pytest.mark.share(3)
def test_parts_that_are_no_swapped_halves(output_type: str) -> None:
    agrees_with_eager(
        Together(PROGRAMS),
        lambda: ({name: (torch.randn(3, 8),) for name in PROGRAMS},),
        output_type=output_type,
        engine="iree",
    )


def test_of_unknown_rows() -> None:
    names = (
        "swapped_halves",
        "halves_in_order",
        "every_second",
        "before_a_third",
        "pairs",
        "written_to_some_rows",
    )
    agrees_with_eager(
        Together({name: PROGRAMS[name] for name in names}),
        lambda: ({name: (torch.randn(3, 8),) for name in names},),
        output_type="linalg-on-tensors",
        engine="iree",
        dynamic_shapes=({name: ({0: Dim.AUTO},) for name in names},),
    )
