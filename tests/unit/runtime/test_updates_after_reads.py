"""Updates in place of a tensor that others read: IREE ran some of them before the reads (see docs/engines.md)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
import torch.nn.functional as F
from repeated_calls import agrees_with_eager
from torch.export import Dim

import torch2mlir

ON = ("linalg-on-tensors", "tosa", "stablehlo")

Update = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
Pairs = list[tuple[torch.Tensor, torch.Tensor]]

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

on_every_dialect = pytest.mark.parametrize("output_type", ON)


@pytest.mark.share(4)
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


@pytest.mark.share(4)
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


def updates_and_lines(
    updates: Iterable[Update],
) -> Callable[[Pairs], list[tuple[torch.Tensor, torch.Tensor]]]:
    """Updates of one argument each, which is a result as well: the extrema of a single line are the line."""

    def run(pairs: Pairs) -> list[tuple[torch.Tensor, torch.Tensor]]:
        both = zip(updates, pairs, strict=True)
        return [(update(v, x), v.amin(0)) for update, (v, x) in both]

    return run


@pytest.mark.share(3)
@on_every_dialect
def test_an_argument_is_a_result_and_updated(output_type: str) -> None:
    agrees_with_eager(
        updates_and_lines(UPDATES.values()),
        lambda: ([(torch.randn(1, 3), torch.randn(1, 3)) for _ in UPDATES],),
        output_type=output_type,
        engine="iree",
    )


@on_every_dialect
@pytest.mark.share(3)
def test_an_argument_of_any_length(output_type: str) -> None:
    scatters = output_type != "stablehlo"  # IREE refuses those of StableHLO
    updates = {k: v for k, v in UPDATES.items() if scatters or not k.startswith("scatter")}
    lengths = itertools.cycle([3, 4, 7, 2])
    any_length = Dim("n", min=2, max=9)

    def drawn() -> tuple[Pairs]:
        n = next(lengths)
        return ([(torch.randn(1, n), torch.randn(1, n)) for _ in updates],)

    agrees_with_eager(
        updates_and_lines(updates.values()),
        drawn,
        output_type=output_type,
        engine="iree",
        calls=4,
        dynamic_shapes=([({1: any_length}, {1: any_length}) for _ in updates],),
    )


@pytest.mark.share(4)
@on_every_dialect
def test_arguments_of_other_types(output_type: str) -> None:
    dtypes = [torch.bool, torch.uint8, torch.int64, torch.float16]

    def put_and_line(pairs: Pairs) -> list[tuple[torch.Tensor, torch.Tensor]]:
        return [(v.index_put((_FIRST, _FIRST), x[0, 1]), v.squeeze(0)) for v, x in pairs]

    def drawn(dtype: torch.dtype) -> torch.Tensor:
        return (3 * torch.rand(1, 3)).to(dtype)

    agrees_with_eager(
        put_and_line,
        lambda: ([(drawn(dtype), drawn(dtype)) for dtype in dtypes],),
        output_type=output_type,
        engine="iree",
    )


@pytest.mark.share(3)
@on_every_dialect
def test_in_branches_and_loops(output_type: str) -> None:
    """What one branch updates the other hands on, and so does the loop that makes no turn."""

    def updated(
        v: torch.Tensor, w: torch.Tensor, x: torch.Tensor, turns: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        chosen = torch.cond(
            x.sum() > 0,
            lambda v, x: v.index_copy(-1, _FIRST, x[..., :1]),
            lambda v, x: v.clone(),
            (v, x),
        )
        _, looped = torch.while_loop(
            lambda i, w: i < turns,
            lambda i, w: (i + 1, w.index_add(-1, _FIRST, w[..., 1:2])),
            (torch.zeros_like(turns), w),
        )
        return chosen, v.amin(0), looped, w.amax(0)

    lines = itertools.cycle([0, 2, 1, 0])
    signs = itertools.cycle([1.0, -1.0])

    def drawn() -> tuple[torch.Tensor, ...]:
        turns = torch.tensor(next(lines))
        return torch.randn(1, 3), torch.randn(1, 3), torch.rand(1, 3) * next(signs), turns

    agrees_with_eager(updated, drawn, output_type=output_type, engine="iree", calls=4)


@pytest.mark.share(4)
@on_every_dialect
def test_from_several_threads(output_type: str) -> None:
    def updated(v: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return v.index_copy(-1, _FIRST, x[..., :1]), v.amin(0)

    def drawn(_: int) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.randn(1, 3), torch.randn(1, 3)

    compiled = torch2mlir.compile(updated, *drawn(0), output_type=output_type, engine="iree")
    arguments = [drawn(number) for number in range(200)]
    kept = [(v.clone(), x.clone()) for v, x in arguments]
    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(lambda given: compiled(*given), arguments))
    for given, before, result in zip(arguments, kept, results, strict=True):
        torch.testing.assert_close(given, before, rtol=0, atol=0)
        torch.testing.assert_close(result, updated(*before), rtol=0, atol=0)
