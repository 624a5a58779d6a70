"""What a branch updates, and others read behind it: IREE updated it where it lies (see docs/engines.md)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle

import pytest
import torch
from repeated_calls import Together, agrees_with_eager
from torch import Tensor
from torch.export import Dim

FIRST = torch.tensor([0])
Update = Callable[[Tensor, Tensor], Tensor]
UPDATES: dict[str, Update] = {
    "index_copy": lambda p, q: q.index_copy(0, FIRST, p[-1:]),
    "index_add": lambda p, q: q.index_add(0, FIRST, p[-1:]),
    "index_put": lambda p, q: q.index_put((FIRST,), p[:1]),
    "scatter": lambda p, q: q.scatter(0, FIRST, p[:1]),
    "slice_scatter": lambda p, q: q.slice_scatter(p[:1], 0, 0, 1),
}


def two_results(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    b = (y > 0).all()
    q = x + 1
    first = lambda p, q: (q + 0, q.index_copy(0, FIRST, p[-1:]) * 1)  # noqa: E731
    second = lambda p, q: (p.index_add(0, FIRST, q[:1]), q - p)  # noqa: E731
    r, s = torch.cond(b, first, second, (y, q))
    return q.index_add(0, FIRST, r[:1]), s * 1


def branch_in_a_branch(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    q = x + 1
    update = lambda p, q: q.index_copy(0, FIRST, p[-1:])  # noqa: E731
    inner = lambda p, q: torch.cond((q > 0).any(), update, lambda p, q: q + p, (p, q))  # noqa: E731
    return q, torch.cond((y > 0).all(), lambda p, q: q * p, inner, (x, q)).index_add(
        0, FIRST, q[:1]
    )


def _program(update: Update) -> Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]:
    def program(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        is_zero = (y == 0).all()
        q = x + 1
        return q, torch.cond(is_zero, lambda p, q: q - p, update, (x, q)) * 2

    return program


@pytest.mark.share(16)
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
@pytest.mark.parametrize("size", [1, 3, None])
def test_it_is_as_it_was(output_type: str, size: int | None) -> None:
    if size is None and output_type == "stablehlo":
        pytest.skip("IREE takes no branches with StableHLO of unknown sizes")
    programs = {name: _program(update) for name, update in UPDATES.items()}
    programs |= {each.__name__: each for each in (two_results, branch_in_a_branch)}
    together = Together(programs)

    counts = cycle([size] if size else [3, 1, 4, 2])

    def arguments() -> tuple[dict[str, tuple[Tensor, Tensor]]]:
        count = next(counts)
        pair = lambda: (torch.randn(count), torch.full((count,), float(torch.randint(2, ()))))  # noqa: E731
        return ({name: pair() for name in programs},)

    sizes = ({name: ({0: Dim.AUTO}, {0: Dim.AUTO}) for name in programs},) if size is None else None
    agrees_with_eager(
        together, arguments, calls=6, output_type=output_type, engine="iree", dynamic_shapes=sizes
    )


@pytest.mark.share(6)
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
@pytest.mark.parametrize("shape", [(1,), (2, 2)], ids=str)
def test_two_results_alone(output_type: str, shape: tuple[int, ...]) -> None:
    """IREE gave away the memory of a copy that the first branch made and updated ("ref is null")."""
    values = cycle([-1, 1])

    def arguments() -> tuple[Tensor, Tensor]:
        return torch.randn(shape), torch.full(shape, float(next(values)))

    agrees_with_eager(two_results, arguments, calls=6, output_type=output_type, engine="iree")


class UpdatedBehind(torch.nn.Module):
    """What branches read is updated behind them: IREE updated it before they had read it."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        put = lambda p, q: (p.slice_scatter(q[:1], 0, 0, 1), q.index_put((FIRST,), p[:1]))  # noqa: E731
        twice = lambda p, q: p.clone().mul_(2)  # noqa: E731
        copied = x.clone()
        one, other = torch.cond(
            x.flatten()[0] > 0, put, lambda p, q: (p + q, p.clone()), (copied, x)
        )
        doubled = torch.cond((other == 0).all(), twice, twice, (other, copied))
        return x @ x.mT, one, doubled, x.index_put((torch.tensor([2]),), (x * 2)[:1])


@pytest.mark.share(4)
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
def test_it_is_updated_behind_the_branches(output_type: str) -> None:
    agrees_with_eager(
        UpdatedBehind(),
        lambda: (torch.randn(3, 4),),
        calls=4,
        output_type=output_type,
        engine="iree",
    )
