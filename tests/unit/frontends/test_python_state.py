"""What a model's code reads of Python besides its arguments: changed by a call, or by the user between two of them.

Only modules' own attributes were looked at: a function that counted its calls was compiled, and counted no more.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import torch2mlir
from torch2mlir.errors import CaptureError
from torch2mlir.frontends.python_state import PythonState
from torch2mlir.frontends.reached_objects import Reached

TARGET = {"engine": "reference", "output_type": "linalg-on-tensors"}
TOTAL = 0
SCALES = [1.0]
OTHERS = {"k": 5}


def _list() -> Callable[[Tensor], Tensor]:
    calls = [0]

    def function(x: Tensor) -> Tensor:
        calls[0] += 1
        return x * calls[0]

    return function


def _variable() -> Callable[[Tensor], Tensor]:
    calls = 0

    def function(x: Tensor) -> Tensor:
        nonlocal calls
        calls += 1
        return x * calls

    return function


def _cache() -> Callable[[Tensor], Tensor]:
    kept = dict[str, Tensor]()

    def function(x: Tensor) -> Tensor:
        if "sum" not in kept:
            kept["sum"] = x.sum()
        return x * kept["sum"]

    return function


def _default() -> Callable[[Tensor], Tensor]:
    def function(x: Tensor, calls: list[int] = [0]) -> Tensor:  # noqa: B006 - that is what is tested
        calls[0] += 1
        return x * calls[0]

    return function


def _own_attribute() -> Callable[[Tensor], Tensor]:
    def function(x: Tensor) -> Tensor:
        function.calls += 1  # type: ignore[attr-defined]
        return x * function.calls  # type: ignore[attr-defined]

    function.calls = 0  # type: ignore[attr-defined]
    return function


def _array() -> Callable[[Tensor], Tensor]:
    calls = np.zeros(2, dtype=np.float32)

    def function(x: Tensor) -> Tensor:
        calls[1] += 1
        return x * float(calls[1])

    return function


def _slots() -> Callable[[Tensor], Tensor]:
    return Slotted().count


@dataclass(slots=True)
class Slotted:
    """An object without a dictionary."""

    calls: int = 0

    def count(self, x: Tensor) -> Tensor:
        """Multiplies by the number of calls."""
        self.calls += 1
        return x * self.calls


def _iterator() -> Callable[[Tensor], Tensor]:
    calls = itertools.count(1)
    return lambda x: x * next(calls)


def _global(x: Tensor) -> Tensor:
    global TOTAL
    TOTAL += 1
    return x * TOTAL


class Counter:
    """An object that is no module."""

    made = 0

    def __init__(self) -> None:
        self.calls = 0
        self.sum = torch.zeros(3)

    def __call__(self, x: Tensor) -> Tensor:
        self.calls += 1
        return x * self.calls

    def replaces(self, x: Tensor) -> Tensor:
        self.sum = self.sum + x
        return x * self.sum

    def of_class(self, x: Tensor) -> Tensor:
        Counter.made += 1
        return x * Counter.made


class Around(nn.Module):
    """A module whose part is no module."""

    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.parts = {"first": [function]}

    def forward(self, x: Tensor) -> Tensor:
        return self.parts["first"][0](x)


COUNTING: dict[str, Callable[[], Callable[[Tensor], Tensor]]] = {
    "list": _list,
    "variable": _variable,
    "cache": _cache,
    "default": _default,
    "own attribute": _own_attribute,
    "array": _array,
    "slots": _slots,
    "iterator": _iterator,
    "global": lambda: _global,
    "object": Counter,
    "method": lambda: Counter().replaces,
    "attribute of a class": lambda: Counter().of_class,
}


OWN = [name for name in COUNTING if name not in ("iterator", "global", "attribute of a class")]
"""Those that begin anew with every function; what an iterator has given is gone."""


@pytest.mark.parametrize("is_part", [False, True], ids=["alone", "part"])
@pytest.mark.parametrize("name", COUNTING)
def test_calls_that_change_what_they_read_are_refused(name: str, is_part: bool) -> None:
    function = COUNTING[name]()
    before = (TOTAL, Counter.made)
    with pytest.raises(CaptureError, match="changes what its next call computes"):
        torch2mlir.compile(Around(function) if is_part else function, torch.ones(3), **TARGET)
    assert (TOTAL, Counter.made) == before
    if name in OWN:
        assert torch.equal(function(torch.ones(3)), COUNTING[name]()(torch.ones(3)))


@pytest.mark.share(4)
@pytest.mark.parametrize("name", OWN)
def test_optimize_makes_the_changes(name: str) -> None:
    eager, ours = COUNTING[name](), Around(COUNTING[name]())
    ours = torch2mlir.optimize(ours, model_inputs=(torch.ones(3),))
    with torch.no_grad():
        for number in range(3):
            x = torch.arange(3.0) + number
            torch.testing.assert_close(ours(x), eager(x))


def test_tensors_of_objects_are_state() -> None:
    """The capture had written to them before the first call."""

    class Sum:
        def __init__(self) -> None:
            self.sum = torch.zeros(3)

        def add(self, x: Tensor) -> Tensor:
            self.sum.add_(x)
            return self.sum * 2

    one, other = Sum(), Sum()
    ours = torch2mlir.compile(one.add, torch.ones(3), **TARGET)
    for _ in range(3):
        x = torch.randn(3)
        torch.testing.assert_close(ours(x), other.add(x))
        torch.testing.assert_close(one.sum, other.sum)


class AsksWeights(nn.Module):
    """Reads flags and dtypes of its own tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        weight = self.linear.weight
        return self.linear(x.to(weight.dtype)) * (2 if weight.requires_grad else 3)


@torch.no_grad()
def test_flags_of_weights() -> None:
    """Both went on with the flag that there was at capture, in silence."""
    model, x = AsksWeights(), torch.randn(3)
    compiled = torch2mlir.compile(model, x, **TARGET)
    optimized = torch2mlir.optimize(model, model_inputs=(x,))
    for ours in (compiled, optimized):
        torch.testing.assert_close(ours(x), model(x))
    model.requires_grad_(False)
    torch.testing.assert_close(optimized(x), model(x))
    with pytest.warns(UserWarning, match="'linear.weight.requires_grad' is False and was True"):
        compiled(x)


@torch.no_grad()
def test_optimize_follows_dtypes_of_weights() -> None:
    """A cast to what the weights had been ran beside others, which was an error of PyTorch's."""
    model = AsksWeights()
    optimized = torch2mlir.optimize(model, model_inputs=(torch.randn(3),))
    for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float32):
        model.to(dtype)
        x = torch.randn(3)
        torch.testing.assert_close(optimized(x), model(x))


class Irrep(tuple[int, ...]):
    """As e3nn has it."""

    def __len__(self) -> int:
        raise NotImplementedError


class Unlisted(list[float]):
    def __iter__(self) -> Any:
        raise NotImplementedError


class Unnamed(dict[str, float]):
    def items(self) -> Any:
        raise NotImplementedError

    __len__ = Irrep.__len__


class OfContainers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.irrep, self.rest, self.named = Irrep((1, 2)), Unlisted([3.0]), Unnamed(a=5.0)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.irrep[1] * self.rest[0] * self.named["a"]


@torch.no_grad()
def test_containers_whose_classes_refuse_to_be_looked_at() -> None:
    model, x = OfContainers(), torch.randn(3)
    optimized = torch2mlir.optimize(model, model_inputs=(x,))
    compiled = torch2mlir.compile(model, x, **TARGET)
    torch.testing.assert_close(compiled(x), model(x))
    torch.testing.assert_close(optimized(x), model(x))
    model.rest[0], model.named["a"] = 7.0, 11.0
    torch.testing.assert_close(optimized(x), model(x))
    with pytest.warns(UserWarning, match="is another than when it was compiled|was"):
        compiled(x)


class Configured(nn.Module):
    """Reads its numbers from objects, as most models do."""

    def __init__(self) -> None:
        super().__init__()
        self.config = SimpleNamespace(scale=2.0, more=SimpleNamespace(k=1.0), sizes=[1.0])
        self.table = {"first": {"second": 1.0}}
        self.act: Callable[[Tensor], Tensor] = torch.relu
        self.parts = nn.ModuleList([nn.Tanh()])

    def forward(self, x: Tensor) -> Tensor:
        number = self.config.more.k * self.config.sizes[0] * self.table["first"]["second"]
        return self.parts[0](self.act(x)) * self.config.scale + number * SCALES[0]


def _set(model: Any, what: str) -> None:
    exec(what, {"model": model, "torch": torch, "nn": nn, "SCALES": SCALES})


CHANGES = {
    "model.config.scale = 3.0": "config.scale' is 3.0 and was 2.0",
    "model.config.more.k = 3.0": "config.more.k' is 3.0",
    "model.config.more = type(model.config)(k=4.0)": "config.more' is another",
    "model.config.sizes[0] = 3.0": r"config.sizes\[0\]' is 3.0",
    "model.table['first']['second'] = 3.0": r"table\['first'\]\['second'\]' is 3.0",
    "model.act = torch.abs": "act' is another",
    "model.parts[0] = nn.Sigmoid()": "parts.0' is another",
    "SCALES[0] = SCALES[0] + 1": "SCALES",
}


@pytest.mark.parametrize("what", CHANGES)
def test_changes_between_calls_are_told(what: str) -> None:
    model = Configured()
    ours = torch2mlir.compile(model, torch.ones(3), **TARGET)
    ours(torch.ones(3))
    _set(model, what)
    with pytest.warns(UserWarning, match=CHANGES[what]):
        ours(torch.ones(3))


@pytest.mark.parametrize("what", CHANGES)
def test_optimize_follows_changes_between_calls(what: str) -> None:
    model = Configured()
    ours = torch2mlir.optimize(model, model_inputs=(torch.ones(3),))
    with torch.no_grad():
        for change in ("pass", what, "pass"):
            _set(model, change)
            x = torch.randn(3)
            torch.testing.assert_close(ours(x), model(x))


def test_what_nobody_reads_is_not_told() -> None:
    model = Configured()
    ours = torch2mlir.compile(model, torch.ones(3), **TARGET)
    model.config.unread = 1
    model.other = 2
    OTHERS["k"] = 6  # k is an attribute here, and no global variable
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours(torch.ones(3))


def test_objects_of_libraries_keep_their_globals() -> None:
    """Nobody's variables are looked at in installed packages: there are thousands."""
    reached = Reached(torch.nn.TransformerEncoderLayer(8, 2, 16))
    assert len(reached.tables) < 80


@torch.no_grad()
def test_variables_of_a_context_are_told_of() -> None:
    x, scale = torch.ones(3), ContextVar("scale", default=2.0)
    compiled = torch2mlir.compile(lambda x: x * scale.get(), x, engine="reference")
    torch.testing.assert_close(compiled(x), x * 2)
    token = scale.set(3.0)
    with pytest.warns(UserWarning, match="'scale' is 3.0 and was 2.0"):
        compiled(x)
    scale.reset(token)


@torch.no_grad()
def test_new_tensors_are_told_of_where_code_lists_them() -> None:
    class Sums(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + sum(each.sum() for each in self.buffers())

    x, model = torch.ones(3), Sums().eval()
    model.register_buffer("one", torch.ones(2))
    compiled = torch2mlir.compile(model, x, engine="reference")
    compiled(x)
    model.register_buffer("other", torch.ones(2))
    with pytest.warns(UserWarning, match="'other'"):
        compiled(x)


@torch.no_grad()
def test_elements_of_numpy_arrays_do_not_change_by_themselves() -> None:
    """Bytes were never equal to others, so models with an array were refused as soon as anything was looked at."""
    model = nn.Identity()
    model.table = np.ones(3)
    state = PythonState(model)
    assert state.is_current() and not state.changed()
    model.table[0] = 2
    assert not state.is_current() and state.changed() == ["table"]
