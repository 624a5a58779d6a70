"""What branches and loops of scripted programs hand on: tuples, lists, dicts, optionals, and what nobody has put in.

Programs that return early, or set an optional in one branch, were refused on every dialect.
"""

# TorchScript reads annotations as they are written
from collections.abc import Callable
from typing import NamedTuple, Optional

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

import torch2mlir
from tests.e2e.configurations import TARGETS, require


class Pair(NamedTuple):
    one: Tensor
    other: Tensor


def early_tuple(x: Tensor) -> tuple[Tensor, Tensor]:
    if bool(x.sum() > 0):
        return x + 1, x * 2
    y = x.relu()
    return y, y - 1


def early_tuples_in_tuples(x: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    if bool(x.sum() > 0):
        if bool(x.max() > 1):
            return x, (x + 1, x.sum())
        return x * 2, (x, x.mean())
    return x * 3, (x - 1, x.max())


def early_named_tuple(x: Tensor):
    if bool(x.sum() > 0):
        return Pair(x, x + 1)
    return Pair(x * 2, x)


def early_list(x: Tensor) -> list[Tensor]:
    if bool(x.sum() > 0):
        return [x, x + 1]
    return [x * 2, x.relu()]


def list_of_a_branch(x: Tensor) -> Tensor:
    if bool(x.sum() > 0):
        parts = [x, x + 1]
    else:
        parts = [x * 2, x.relu()]
    return parts[0] + parts[1]


def early_dict(x: Tensor) -> dict[str, Tensor]:
    if bool(x.sum() > 0):
        return {"a": x, "b": x + 1}
    return {"a": x * 2, "b": x}


def optional_of_a_branch(x: Tensor) -> Tensor:
    y: Optional[Tensor] = None  # noqa: UP045
    if bool(x.sum() > 0):
        y = x * 2
    if y is not None:
        return y + 1
    return x


def optionals_of_branches(x: Tensor) -> Tensor:
    y: Optional[Tensor] = None  # noqa: UP045
    n: Optional[int] = None  # noqa: UP045
    if bool(x.sum() > 2):
        y, n = x, 1
    elif bool(x.max() > 1):
        y = x - 5
    else:
        n = 3
    result = x * 0
    if y is not None:
        result = result + y
    if n is None:
        result = result * 2
    else:
        result = result + n
    return result


def optional_of_a_loop(x: Tensor) -> Tensor:
    most: Optional[Tensor] = None  # noqa: UP045
    for i in range(x.size(0)):
        if most is None:
            most = x[i]
        else:
            most = torch.max(most, x[i])
    assert most is not None
    return most


def return_from_a_loop(x: Tensor) -> Tensor:
    for i in range(x.size(0)):
        if bool(x[i].sum() > 1):
            return x[i] * 2
    return x[0]


def numbers_from_a_loop(x: Tensor) -> tuple[int, float]:
    for i in range(x.size(0)):
        if bool(x[i].sum() > 1):
            return i, float(x[i].max())
    return -1, 0.0


def tuple_from_a_loop(x: Tensor) -> tuple[Tensor, int]:
    i = 0
    while i < 10:
        x = x * 0.5
        if bool(x.abs().max() < 0.3):
            return x, i
        i += 1
    return x, -1


def continue_and_break(x: Tensor) -> Tensor:
    total = torch.zeros(())
    for i in range(x.size(0)):
        if bool(x[i].sum() < 0):
            continue
        total = total + x[i].sum()
        if bool(total > 2):
            break
    return total


def tensor_of_numbers_read(x: Tensor) -> Tensor:
    table = torch.tensor([[float(x.max()), 2.0], [1.0, float(x.min())]])
    return table @ table + torch.tensor([int(x.sum()), 3])


_TARGETS = [each for each in TARGETS if each[1] != "openvino"]
"""OpenVINO refuses integers that loops carry: how large they get is not known."""

PROGRAMS = [
    early_tuple,
    early_tuples_in_tuples,
    early_named_tuple,
    early_list,
    list_of_a_branch,
    early_dict,
    optional_of_a_branch,
    optionals_of_branches,
    optional_of_a_loop,
    return_from_a_loop,
    numbers_from_a_loop,
    tuple_from_a_loop,
    continue_and_break,
    tensor_of_numbers_read,
]


def _inputs() -> list[Tensor]:
    """Every way through every program."""
    x = torch.tensor([[0.25, -0.5, 0.125], [1.5, 0.75, 2.0]])
    return [x, -x, x.flip(0), x - 1.5, x / 4, x * 3]


@pytest.mark.share(12)
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("output_type, engine", _TARGETS)
def test_hands_on_what_eager_mode_does(
    function: Callable[..., object], output_type: str, engine: str
) -> None:
    require(engine)
    script = torch.jit.script(function)
    compiled = torch2mlir.compile(script, _inputs()[0], output_type=output_type, engine=engine)
    for x in _inputs():
        given, wanted = compiled(x), script(x)
        assert_close(given, wanted, msg=lambda text, x=x: f"{x}: {text}")
        assert not isinstance(wanted, dict) or list(given) == list(wanted)


def shifted_sizes(x: Tensor) -> tuple[Tensor, Tensor]:
    n = x.size(0)
    return x[: n >> 1], x.new_zeros((n << 1) + 1)


def tuple_of_varying_sizes(x: Tensor) -> tuple[Tensor, Tensor]:
    if bool(x.sum() > 0):
        return x + 1, x.sum(0)
    return x * 2, x.mean(0)


@pytest.mark.share(2)
@pytest.mark.parametrize(
    "function",
    [shifted_sizes, tuple_of_varying_sizes, optional_of_a_branch, return_from_a_loop],
    ids=lambda function: function.__name__,
)
@pytest.mark.parametrize("output_type, engine", _TARGETS)
def test_hands_on_sizes_that_vary(
    function: Callable[..., object], output_type: str, engine: str
) -> None:
    require(engine)
    script, rows = torch.jit.script(function), torch.export.Dim("rows", min=2, max=9)
    compiled = torch2mlir.compile(
        script,
        torch.ones(4, 3),
        dynamic_shapes={"x": {0: rows}},
        output_type=output_type,
        engine=engine,
    )
    for count in (4, 2, 9, 5):
        for sign in (1, -1):
            x = sign * (torch.arange(3.0 * count).reshape(count, 3) / 8 - 0.5)
            assert_close(compiled(x), script(x))
