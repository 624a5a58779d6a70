"""Loops and branches on IREE with several threads, call after call with other values, rounds and sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor, cond
from torch._higher_order_ops.while_loop import while_loop
from torch.export import Dim

import torch2mlir
from torch2mlir.runtime.iree import IreeEngine


def _factor(x: torch.Tensor) -> torch.Tensor:
    return torch.linalg.cholesky(x @ x.mT + 3 * torch.eye(x.shape[0]), upper=True)


@pytest.mark.share(4)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("output_type", ["tosa", "linalg-on-tensors"])
def test_a_factor_of_any_size(
    output_type: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    size = Dim("n", min=1, max=64)
    compiled = torch2mlir.compile(
        _factor,
        torch.randn(4, 4),
        output_type=output_type,
        engine=IreeEngine(),
        dynamic_shapes=({0: size, 1: size},),
    )
    for n in (4, 1, 9, 16, 3, 33, 2, 8) * 6:
        x = torch.randn(n, n)
        torch.testing.assert_close(compiled(x), _factor(x), atol=1e-4, rtol=1e-3)


ROWS = torch.tensor([0, 2])


def looped(step: Callable[..., tuple[Tensor, ...]], rounds: Tensor, *start: Tensor) -> Tensor:
    """The first tensor after some rounds."""
    first = (torch.tensor(0), *(each.clone() for each in start))
    return while_loop(lambda i, *_: i < rounds, lambda i, *now: (i + 1, *step(*now)), first)[1]


def updated_behind_a_branch(x: Tensor, y: Tensor, rounds: Tensor) -> Sequence[Tensor]:
    """Without waiting, what the branch copies has been written by the update already."""
    chosen = cond(y.sum() < 0, lambda x, y: y.clone(), lambda x, y: x.clone(), (x, y))
    return chosen, y.index_copy(0, ROWS, x[1:3])


def handed_back_and_forth(x: Tensor, y: Tensor, rounds: Tensor) -> Sequence[Tensor]:
    total = x + y
    return total, looped(lambda a, b: (b.clone(), a.clone()), rounds, x, total)


@pytest.mark.share(6)
@pytest.mark.parametrize(
    "output_type, program",
    [
        ("linalg-on-tensors", handed_back_and_forth),
        ("tosa", updated_behind_a_branch),
        ("tosa", handed_back_and_forth),
        ("stablehlo", updated_behind_a_branch),
    ],
)
def test_what_is_handed_on(
    output_type: str, program: Callable[..., Sequence[Tensor]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)

    def arguments(rounds: int) -> tuple[Tensor, ...]:
        numbers = [torch.randint(-9, 9, (4, 40_000)).float() for _ in range(2)]
        return *numbers, torch.tensor(rounds)

    compiled = torch2mlir.compile(
        program, *arguments(1), output_type=output_type, engine=IreeEngine()
    )
    for rounds in (0, 1, 2, 3, 0, 2):
        given = arguments(rounds)
        for found, expected in zip(compiled(*given), program(*given), strict=True):
            torch.testing.assert_close(found, expected)
