"""What each turn of a loop updates, carries on and leaves alone.

IREE copies what the turns of a loop begin an update with in the first turn only (see docs/engines.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from repeated_calls import Together, agrees_with_eager
from torch import Tensor, cond
from torch._higher_order_ops.while_loop import while_loop
from torch.export import Dim

ROWS = torch.tensor([0, 2])
Tensors = Sequence[Tensor]


def turns(step: Callable[..., Tensors], *start: Tensor) -> Tensors:
    """What three turns make of some tensors."""
    first = (torch.tensor(0), *(each.clone() for each in start))
    return tuple(while_loop(lambda i, *_: i < 3, lambda i, *now: (i + 1, *step(*now)), first)[1:])


def added(h: Tensor, p: Tensor) -> Tensor:
    return h.index_add(0, ROWS, p[:2])


def an_argument_updated(x: Tensor, y: Tensor) -> Tensors:
    return turns(lambda p: (p + added(x, p),), y)


def computed_before_and_updated(x: Tensor, y: Tensor) -> Tensors:
    h = x * y
    return *turns(lambda p: (p + added(h, p),), y), h


def computed_in_each_turn(x: Tensor, y: Tensor) -> Tensors:
    """What the compiler may compute before the loop, where the very same is."""
    h = x * 2
    return *turns(lambda p: (p + added(x * 2, p) + added(h + 0, p),), y), h


def numbers_updated(x: Tensor, y: Tensor) -> Tensors:
    return turns(lambda p: (p + added(torch.ones_like(p), p) + added(torch.zeros_like(p), p),), y)


def put(x: Tensor, y: Tensor) -> Tensors:
    return turns(lambda p: (p + x.index_put((ROWS,), p[:2], accumulate=True),), y)


def another_row_each_turn(x: Tensor, y: Tensor) -> Tensors:
    first = (torch.tensor(0), y.clone())
    step = lambda i, p: (i + 1, p + x.index_copy(0, i.reshape(1), p[:1] * 2))  # noqa: E731
    return tuple(while_loop(lambda i, p: i < 3, step, first)[1:])


def carried_on_as_it_is(x: Tensor, y: Tensor) -> Tensors:
    return turns(lambda p, q: (p + added(q, p), q.clone()), y, x * y)


def in_a_loop_in_a_loop(x: Tensor, y: Tensor) -> Tensors:
    return turns(lambda p: (turns(lambda q: (q + added(p, q),), p * 2)[0],), y)


def in_a_branch(x: Tensor, y: Tensor) -> Tensors:
    def step(p: Tensor) -> Tensors:
        return (cond(p.sum() > -1e6, lambda p: p + added(x, p), lambda p: p * 2, (p,)),)

    return turns(step, y)


def handed_on_and_updated(x: Tensor, y: Tensor) -> Tensors:
    h = x * y
    return *turns(lambda p, q: (h.clone(), added(h, p) + q), x, y), h


def handed_on_twice(x: Tensor, y: Tensor) -> Tensors:
    return turns(lambda p, q, r: (q.clone(), q.clone(), added(q, r)), x, y, x + y)


def not_read(x: Tensor, y: Tensor) -> Tensors:
    """The compiler died of what a loop carries and does not read."""
    return turns(lambda p, q, r: (q.clone(), q.clone(), added(q * 2, r)), x, y, x * y)


def the_last_and_the_one_before(x: Tensor, y: Tensor) -> Tensors:
    return turns(lambda p, q: (q.clone(), q.roll(1, 0)), x, y)


def sorted_while_not_read(x: Tensor, y: Tensor) -> Tensors:
    """One of two branches; calls failed on Linalg."""
    loop = lambda a: turns(lambda p, q: (added(p, q), q.sort(0)[0]), a, a)[0]  # noqa: E731
    return (cond(x.sum() > 0, loop, lambda a: a.roll(1, 0), (x,)),)


UPDATES = (
    an_argument_updated,
    computed_before_and_updated,
    computed_in_each_turn,
    numbers_updated,
    put,
    another_row_each_turn,
    carried_on_as_it_is,
    in_a_branch,
    handed_on_and_updated,
)
OTHERS = (
    in_a_loop_in_a_loop,
    handed_on_twice,
    not_read,
    the_last_and_the_one_before,
    sorted_while_not_read,
)


def _agree(programs: Sequence[Callable[..., Any]], rows: int, **options: Any) -> None:
    named = {program.__name__: program for program in programs}

    def new() -> Any:
        pair = lambda: tuple(torch.randint(-3, 4, (rows, 3)).float() for _ in range(2))  # noqa: E731
        return ({name: pair() for name in named},)

    agrees_with_eager(Together(named), new, engine="iree", **options)


@pytest.mark.parametrize("programs", [UPDATES, OTHERS], ids=["updates", "others"])
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
@pytest.mark.share(12)
def test_turns_begin_anew(output_type: str, programs: Sequence[Callable[..., Any]]) -> None:
    _agree(programs, 4, output_type=output_type)


@pytest.mark.share(2)
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "stablehlo"])
def test_turns_begin_anew_with_any_number_of_rows(output_type: str) -> None:
    rows = Dim("rows", min=3)
    programs = (an_argument_updated, computed_in_each_turn, in_a_branch)
    each = ({0: rows}, {0: rows})
    shapes = ({program.__name__: each for program in programs},)
    _agree(programs, 4, output_type=output_type, dynamic_shapes=shapes)
