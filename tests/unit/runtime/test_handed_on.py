"""What a loop that does not run, or a branch, hands on as it came, while it or the result is updated in place.

IREE takes the result for a tensor of its own (see docs/engines.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from repeated_calls import Together, agrees_with_eager
from torch import Tensor, cond
from torch._higher_order_ops.while_loop import while_loop

BOTH = torch.tensor([0, 1])
Tensors = Sequence[Tensor]


def never(step: Callable[[Tensor], Tensor], start: Tensor) -> Tensor:
    """A loop that elements keep from running."""
    body = lambda i, a: (i + 1, step(a))  # noqa: E731
    return while_loop(lambda i, a: a.sum() < -1e6, body, (torch.tensor(0), start.clone()))[1]


def chosen(first: Callable[..., Any], second: Callable[..., Any], *args: Tensor) -> Any:
    """A branch, of which the second is taken."""
    return cond(args[0].sum() < -1e6, first, second, args)


def loop_of_no_round(x: Tensor, y: Tensor) -> Tensors:
    start = (torch.tensor(0), x.clone())
    _, looped = while_loop(lambda i, a: i < 0, lambda i, a: (i + 1, a.roll(1, 0)), start)
    return looped, x.index_copy(0, BOTH, y)


def argument_behind_a_loop(x: Tensor, y: Tensor) -> Tensors:
    return never(lambda a: a * 2, x), x.index_copy(0, BOTH, y)


def computed_behind_a_loop(x: Tensor, y: Tensor) -> Tensors:
    x = x * 3
    return never(lambda a: a * 2, x), x.index_copy(0, BOTH, y)


def before_a_loop(x: Tensor, y: Tensor) -> Tensors:
    updated = x.index_copy(0, BOTH, y)
    return never(lambda a: a * 2, x), updated


def two_loops(x: Tensor, y: Tensor) -> Tensors:
    first, second = never(lambda a: a * 2, x), never(lambda a: a * 2, y)
    return first, x.index_copy(0, BOTH, y), second, y.index_add(0, BOTH, x)


def behind_a_branch(x: Tensor, y: Tensor) -> Tensors:
    return chosen(lambda a: a * 2, torch.clone, x), x.index_copy(0, BOTH, y)


def result_updated(x: Tensor, y: Tensor) -> Tensors:
    x = x * 3
    v = chosen(lambda a: a * 2, torch.clone, x)
    return x, v.index_copy(0, BOTH, y), x + v


def twice_into_a_loop(x: Tensor, y: Tensor) -> Tensors:
    x = x * 3
    start = (torch.tensor(0), x.clone(), x.clone())
    body = lambda i, a, b: (i + 1, a * 2, b * 3)  # noqa: E731
    _, a, b = while_loop(lambda i, a, b: i < 0, body, start)
    return a.index_copy(0, BOTH, y), b


def twice_from_a_branch(x: Tensor, y: Tensor) -> Tensors:
    a, b = chosen(lambda a: (a * 2, a * 3), lambda a: (a.clone(), a.clone()), x)
    return a.index_copy(0, BOTH, y), b, x


def views(x: Tensor, y: Tensor) -> Tensors:
    x = x * 3
    v = chosen(lambda a: a * 2, lambda a: a.reshape(-1, 1)[:, 0].clone(), x)
    return v, x.reshape(1, -1).index_copy(1, BOTH, y[None]), x


def branch_in_a_branch(x: Tensor, y: Tensor) -> Tensors:
    x = x * 3
    inner = lambda a, b: chosen(lambda b, a: a * 3, lambda b, a: a.clone(), b, a)  # noqa: E731
    v = chosen(lambda a, b: a * 2, inner, x, y)
    w = x.clone()
    w[0] = 5
    return v, w, x.sort().values


def equal_before_a_branch(x: Tensor, y: Tensor) -> Tensors:
    """What the branch computes there is already, and both are updated."""
    x = x + 1
    v = x * 3
    w = cond(x.sum() > -1e6, lambda x: x * 3, lambda x: x + 2, (x,))
    return w.index_copy(0, BOTH, (w * 2).flip(0)), v.index_put((BOTH[:1],), y[:1]), x


def updated_in_a_branch(x: Tensor, y: Tensor) -> Tensors:
    other, x = y + 1, x * 3  # of one allocation
    v = cond(y.sum() < 0, lambda x, y: x.index_copy(0, BOTH, y), lambda x, y: x + 1, (x, y))
    return other, v


def updated_in_a_loop(x: Tensor, y: Tensor) -> Tensors:
    start = (torch.tensor(0), x.clone())
    body = lambda i, a: (i + 1, a.index_add(0, BOTH, y))  # noqa: E731
    looped = while_loop(lambda i, a: i < 3, body, start)[1]
    return looped, x, x.index_fill(0, BOTH[:1], 1)


EVERY = (
    *(loop_of_no_round, argument_behind_a_loop, computed_behind_a_loop, before_a_loop, two_loops),
    *(behind_a_branch, result_updated, twice_into_a_loop, twice_from_a_branch, views),
    *(branch_in_a_branch, equal_before_a_branch, updated_in_a_branch, updated_in_a_loop),
)
SOME: dict[str, tuple[Callable[..., Any], ...]] = {
    "linalg-on-tensors": (two_loops, result_updated, branch_in_a_branch, updated_in_a_loop),
    "tosa": (computed_behind_a_loop, equal_before_a_branch, twice_into_a_loop, updated_in_a_branch),
    "stablehlo": (two_loops, equal_before_a_branch, behind_a_branch, updated_in_a_branch, views),
}
"""Those of every run."""


@pytest.mark.parametrize(
    "output_type, dtype",
    [("linalg-on-tensors", torch.float32), ("tosa", torch.int64), ("stablehlo", torch.float32)],
)
@pytest.mark.share(3)
def test_it_is_a_tensor_of_its_own(
    output_type: str, dtype: torch.dtype, request: pytest.FixtureRequest
) -> None:
    chosen = EVERY if request.config.getoption("--full") else SOME[output_type]
    programs = {each.__name__: each for each in chosen}

    def arguments() -> tuple[Any, ...]:
        numbers = (torch.randint(-9, 9, (2,)).to(dtype) for _ in range(2 * len(programs)))
        return (dict(zip(programs, zip(numbers, numbers, strict=True), strict=True)),)

    agrees_with_eager(Together(programs), arguments, output_type=output_type, engine="iree")


@pytest.mark.share(2)
@pytest.mark.parametrize(
    "output_type, program",
    [("linalg-on-tensors", computed_behind_a_loop), ("stablehlo", behind_a_branch)],
)
def test_of_any_size(output_type: str, program: Callable[..., Any]) -> None:
    sizes = iter([2, 5, 2, 17])
    agrees_with_eager(
        program,
        lambda: (torch.randn(next(sizes)), torch.randn(2)),
        output_type=output_type,
        engine="iree",
        dynamic_shapes=({0: torch.export.Dim("n", min=2, max=64)}, {}),
    )
