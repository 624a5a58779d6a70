"""State that models seldom have: the order of keys, files in memory, memory of others, iterators that turn."""

from __future__ import annotations

import ctypes
import io
import itertools
from collections import OrderedDict
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import torch2mlir

TARGET = {"engine": "reference", "output_type": "linalg-on-tensors"}


class Reads(nn.Module):
    """Multiplies with a number that it finds in what it holds."""

    def __init__(self, held: Any, number: Callable[[Any], float]) -> None:
        super().__init__()
        self.held = held
        self.number = number

    def forward(self, x: Tensor) -> Tensor:
        return x * self.number(self.held)


def _first(held: Any) -> float:
    return float(next(iter(held.values())))


def _turned(held: Any) -> float:
    first = next(iter(held))
    held.move_to_end(first)
    return float(held[first])


def _popped(held: Any) -> float:
    first = next(iter(held))
    held[first] = held.pop(first)
    return float(held[first])


def _counted(held: Any) -> float:
    held.value += 1
    return float(held.value)


def _pop_and_insert(held: dict[str, float]) -> None:
    held["a"] = held.pop("a")


def _increase(held: Any) -> None:
    held[0] += 1


NUMBERS = {"a": 2.0, "b": 3.0}
CHANGED_FROM_OUTSIDE: dict[str, tuple[Any, Any, Any]] = {
    "ordered dictionary": (
        lambda: OrderedDict(NUMBERS),
        _first,
        lambda held: held.move_to_end("a"),
    ),
    "dictionary": (lambda: dict(NUMBERS), _first, _pop_and_insert),
    "memoryview": (lambda: memoryview(bytearray(b"\2")), lambda held: held[0], _increase),
    "number of C": (
        lambda: ctypes.c_int(2),
        lambda held: held.value,
        lambda held: setattr(held, "value", 3),
    ),
    "array of C": (lambda: (ctypes.c_float * 2)(2, 4), lambda held: held[0], _increase),
    "file in memory": (
        lambda: io.StringIO("2"),
        lambda held: int(held.getvalue()),
        lambda held: held.write("3"),
    ),
}


@torch.no_grad()
@pytest.mark.parametrize("name", CHANGED_FROM_OUTSIDE)
def test_a_change_from_outside_is_seen(name: str) -> None:
    make, number, change = CHANGED_FROM_OUTSIDE[name]
    model, x = Reads(make(), number).eval(), torch.ones(3)
    compiled = torch2mlir.compile(model, x, **TARGET)
    optimized = torch2mlir.optimize(model, model_inputs=(x,))
    assert torch.equal(compiled(x), model(x))
    assert torch.equal(optimized(x), model(x))
    change(model.held)
    with pytest.warns(UserWarning, match="held.* and the compiled function goes on"):
        compiled(x)
    assert torch.equal(optimized(x), model(x))


CHANGED_BY_A_CALL: dict[str, tuple[Any, Any]] = {
    "moved to the end": (lambda: OrderedDict(NUMBERS), _turned),
    "popped and inserted": (lambda: dict(NUMBERS), _popped),
    "number of C": (lambda: ctypes.c_int(2), _counted),
    "file in memory": (lambda: io.StringIO("12345678"), lambda held: int(held.read(1))),
    "bytes in memory": (lambda: io.BytesIO(bytes(range(8))), lambda held: held.read(1)[0]),
    "cycle of two": (lambda: itertools.cycle([2, 3]), next),
    "cycle of three": (lambda: itertools.cycle([2, 3, 4]), next),
    "cycle of seven": (lambda: itertools.cycle(range(7)), next),
}


@torch.no_grad()
@pytest.mark.parametrize("name", CHANGED_BY_A_CALL)
def test_a_change_by_a_call_is_refused_or_made(name: str) -> None:
    make, number = CHANGED_BY_A_CALL[name]
    x = torch.ones(3)
    with pytest.raises(torch2mlir.CaptureError, match="a call of the model changes"):
        torch2mlir.compile(Reads(make(), number).eval(), x, **TARGET)
    model = Reads(make(), number).eval()
    optimized = torch2mlir.optimize(Reads(make(), number).eval(), model_inputs=(x,))
    for _ in range(4):
        assert torch.equal(optimized(x), model(x))


class Rebuilt(nn.Module):
    """Puts another buffer in the place of its own, and counts: no reason to leave its regions to PyTorch."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))
        self.calls = 0
        self.layers = nn.Sequential(*[nn.Linear(3, 3) for _ in range(4)])

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        self.mean = self.mean * 0.9 + x.mean(0)
        return self.layers(x) * self.calls + self.mean


@torch.no_grad()
def test_changes_that_are_made_are_compiled() -> None:
    model, x = Rebuilt().eval(), torch.ones(2, 3)
    eager = deepcopy(model)
    optimized = torch2mlir.optimize(model, model_inputs=(x,))
    for _ in range(3):
        torch.testing.assert_close(optimized(x), eager(x))
    torch.testing.assert_close(model.mean, eager.mean)
    assert model.calls == eager.calls
    assert optimized.report().pytorch_calls.total() == 0
