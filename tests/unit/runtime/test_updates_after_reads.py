"""Updates in place of a tensor that others read: IREE ran some of them before the reads (see docs/engines.md)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from repeated_calls import agrees_with_eager
from torch.export import Dim

ON = ("linalg-on-tensors", "tosa", "stablehlo")

Update = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

_FIRST = torch.tensor([0])

UPDATES: dict[str, Update] = {
    "scatter": lambda v, x: v.scatter(-1, _FIRST.expand_as(x), x),
    "scatter_add": lambda v, x: v.scatter_add(-1, _FIRST.expand_as(x), x),
    "index_put": lambda v, x: v.index_put((_FIRST,), x),
    "index_copy": lambda v, x: v.index_copy(-1, _FIRST, x[..., :1]),
    "index_add": lambda v, x: v.index_add(-1, _FIRST, x[..., :1]),
    "slice_scatter": lambda v, x: v.slice_scatter(x[..., :1], -1, 0, 1),
    "sort": lambda v, x: v.sort(-1, descending=True).values + x,
    "cumsum": lambda v, x: v.cumsum(-1) + x,
}

OF_ANY_LENGTH = [
    (output_type, name)
    for output_type in ON
    for name in UPDATES
    if not (output_type == "stablehlo" and name.startswith("scatter"))  # IREE refuses it
]

on_every_dialect = pytest.mark.parametrize("output_type", ON)
of_every_kind = pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES)


@on_every_dialect
def test_a_read_in_another_group_of_dispatches(output_type: str) -> None:
    def with_empty_beside(
        y: torch.Tensor, x0: torch.Tensor, x1: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        a = x0 * x0
        v = a[None]
        total = y.clamp(-2, 2).prod(-3, keepdim=True).sum()
        updated = v.scatter(0, torch.tensor([0]), x1)
        return y.argmax(-1), total, a - a, F.logsigmoid(v.sum()), updated

    empty = torch.ones(1, 2, 0, 1, dtype=torch.int32)
    agrees_with_eager(
        with_empty_beside,
        lambda: (empty, torch.randn(()), torch.randn(1)),
        output_type=output_type,
    )


@on_every_dialect
def test_a_read_of_the_only_row(output_type: str) -> None:
    def rows_and_copy(
        x1: torch.Tensor, x2: torch.Tensor, x3: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        norm = torch.linalg.vector_norm(x1, 1, [-1], keepdim=True)
        least, place = x3.min(-2)
        return norm[x2], norm.index_copy(0, torch.tensor([0]), x3), place, torch.isnan(least)

    places = torch.tensor([0, -1, 0], dtype=torch.int32)
    agrees_with_eager(
        rows_and_copy,
        lambda: (torch.randn(1, 2), places, torch.randn(1, 1)),
        output_type=output_type,
    )


@on_every_dialect
@of_every_kind
def test_an_argument_is_a_result_and_updated(update: Update, output_type: str) -> None:
    """The extrema of a single line are the line: the result is the argument's memory."""

    def update_and_line(v: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return update(v, x), v.amin(0)

    agrees_with_eager(
        update_and_line, lambda: (torch.randn(1, 3), torch.randn(1, 3)), output_type=output_type
    )


@pytest.mark.parametrize(("output_type", "name"), OF_ANY_LENGTH)
def test_an_argument_of_any_length(name: str, output_type: str) -> None:
    update = UPDATES[name]

    def update_and_line(v: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return update(v, x), v.amin(0)

    agrees_with_eager(
        update_and_line,
        lambda: (torch.randn(1, 3), torch.randn(1, 3)),
        output_type=output_type,
        engine="iree",
        dynamic_shapes=({1: Dim("n", min=2, max=9)}, {1: Dim("n", min=2, max=9)}),
    )


@on_every_dialect
@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int64, torch.float16])
def test_arguments_of_other_types(dtype: torch.dtype, output_type: str) -> None:
    def put_and_line(v: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return v.index_put((_FIRST, _FIRST), x[0, 1]), v.squeeze(0)

    def drawn() -> torch.Tensor:
        return (3 * torch.rand(1, 3)).to(dtype)

    agrees_with_eager(
        put_and_line, lambda: (drawn(), drawn()), output_type=output_type, engine="iree"
    )
