"""What a model's code reads of classes, other Python files and the environment, changed between two calls."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn

import torch2mlir

TARGET = {"engine": "reference", "output_type": "linalg-on-tensors"}
settings = ModuleType("settings_of_a_user")
inner = settings.inner = ModuleType("settings_of_a_user.inner")  # type: ignore[attr-defined]
inner.SCALE = 2  # type: ignore[attr-defined]
exec("SCALE = 2\nOTHER = 5\ndef scaled(x): return x * SCALE", vars(settings))
STORE = {"scale": 2}
SPACE = SimpleNamespace(act=torch.relu)


class Config:
    """Never made an object of."""

    scale = 2

    class Inner:
        """Within another one."""

        scale = 2


class Calling:
    """Has a call and an attribute of the class."""

    scale = 2

    def __call__(self, x: Tensor) -> Tensor:
        return x * 2


class Calls(nn.Module):
    """Has an object that is called."""

    def __init__(self) -> None:
        super().__init__()
        self.calling = Calling()

    def forward(self, x: Tensor) -> Tensor:
        return self.calling(x)


MADE = Calling()
HERE = sys.modules[__name__]


def _imports(x: Tensor) -> Tensor:
    from settings_of_a_user.inner import SCALE  # type: ignore[import-not-found]

    return x * SCALE  # type: ignore[no-any-return]


def _doubled(x: Tensor) -> Tensor:
    return x * 2


class Stored:
    """A descriptor."""

    def __get__(self, owner: Any, kind: type) -> int:
        return STORE["scale"]


class Described(nn.Module):
    """Reads an attribute that is computed elsewhere."""

    scale = Stored()

    def forward(self, x: Tensor) -> Tensor:
        return x * self.scale


class Patched(nn.Module):
    """Gets another method."""

    def scaled(self, x: Tensor) -> Tensor:
        return x * 2

    def forward(self, x: Tensor) -> Tensor:
        return self.scaled(x)


@functools.lru_cache
def _kept(number: int) -> int:
    return Config.scale * number


PARTS = ["IN_PARTS_OF_A_TEST"]


class Program(NamedTuple):
    """A program, where it reads something, under which name, and what is there later."""

    make: Callable[[], Callable[[Tensor], Tensor]]
    place: Any
    name: str
    later: Any


PROGRAMS = {
    "class": Program(lambda: lambda x: x * Config.scale, Config, "scale", 3),
    "class in a class": Program(lambda: lambda x: x * Config.Inner.scale, Config.Inner, "scale", 3),
    "module in a package": Program(lambda: lambda x: x * settings.inner.SCALE, inner, "SCALE", 3),
    "module": Program(lambda: lambda x: x * settings.SCALE, settings, "SCALE", 3),
    "function of a module": Program(lambda: lambda x: settings.scaled(x), settings, "SCALE", 3),
    "descriptor": Program(Described, STORE, "scale", 3),
    "method": Program(Patched, Patched, "scaled", lambda self, x: x * 3),
    "imported when called": Program(lambda: _imports, inner, "SCALE", 3),
    "global function": Program(lambda: lambda x: _doubled(x), HERE, "_doubled", torch.tanh),
    "function of another file": Program(
        lambda: lambda x: settings.scaled(x), settings, "scaled", torch.tanh
    ),
    "function of PyTorch": Program(
        lambda: lambda x: nn.functional.relu(x), nn.functional, "relu", torch.tanh
    ),
    "forward of PyTorch": Program(
        lambda: nn.Sequential(nn.ReLU()), nn.ReLU, "forward", lambda self, x: x * 3
    ),
    "call of an object": Program(lambda: Calls(), Calling, "__call__", lambda self, x: x * 3),
    "attribute before a class's": Program(lambda: lambda x: x * MADE.scale, MADE, "scale", 3),
    "function in an object": Program(lambda: lambda x: SPACE.act(x), SPACE, "act", torch.tanh),
    "environment": Program(
        lambda: lambda x: x * float(os.environ.get("SCALE_OF_A_TEST", "2")),
        os.environ,
        "SCALE_OF_A_TEST",
        "3",
    ),
    "environment, by parts of a name": Program(
        lambda: lambda x: x * float(os.environ.get(f"SCALE_{PARTS[0]}", "2")),
        os.environ,
        "SCALE_IN_PARTS_OF_A_TEST",
        "3",
    ),
    "environment, a short name": Program(
        lambda: lambda x: x * float(os.environ.get("K", "2")), os.environ, "K", "3"
    ),
    "environment, a short name in parts": Program(
        lambda: lambda x: x * float(os.environ.get("k".upper() + "2", "2")), os.environ, "K2", "3"
    ),
}


@pytest.fixture
def change(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Program], None]]:
    monkeypatch.setitem(sys.modules, settings.__name__, settings)
    monkeypatch.setitem(sys.modules, inner.__name__, inner)

    def change(program: Program) -> None:
        is_mapping = program.place is STORE or program.place is os.environ
        setter: Callable[..., None] = monkeypatch.setitem if is_mapping else monkeypatch.setattr
        setter(program.place, program.name, program.later)

    yield change


@torch.no_grad()
@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_functions_tell(name: str, change: Callable[[Program], None]) -> None:
    program, x = PROGRAMS[name], torch.randn(3)
    model = program.make()
    compiled = torch2mlir.compile(model, x, **TARGET)
    expected = model(x)
    torch.testing.assert_close(compiled(x), expected)
    change(program)
    with pytest.warns(UserWarning, match="when it was compiled"):
        torch.testing.assert_close(compiled(x), expected)


@pytest.mark.share(4)
@torch.no_grad()
@pytest.mark.parametrize("name", PROGRAMS)
def test_optimized_modules_follow(name: str, change: Callable[[Program], None]) -> None:
    program, x = PROGRAMS[name], torch.randn(3)
    model = program.make()
    optimized = torch2mlir.optimize(model, model_inputs=(x,))
    torch.testing.assert_close(optimized(x), model(x))
    change(program)
    torch.testing.assert_close(optimized(x), model(x))


@pytest.mark.filterwarnings("error")
@torch.no_grad()
def test_other_variables_of_the_environment_are_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Importing JAX sets two, and the test runner one for each test."""
    x, model = torch.randn(3), PROGRAMS["environment"].make()
    compiled = torch2mlir.compile(model, x, **TARGET)
    optimized = torch2mlir.optimize(model, model_inputs=(x,))
    monkeypatch.setenv("ANOTHER_THING", "1")
    torch.testing.assert_close(compiled(x), model(x))
    torch.testing.assert_close(optimized(x), model(x))
    monkeypatch.setenv("ANOTHER_THING", "2")
    torch.testing.assert_close(optimized(x), model(x))
    assert str(optimized.report()).count("captured whole") == 1


@torch.no_grad()
def test_what_a_cache_has_kept(change: Callable[[Program], None]) -> None:
    """The function behind ``lru_cache`` reads a class."""
    x = torch.randn(3)
    _kept.cache_clear()
    compiled = torch2mlir.compile(lambda x: x * _kept(1), x, **TARGET)
    change(PROGRAMS["class"])
    _kept.cache_clear()
    with pytest.warns(UserWarning, match="'Config.scale' is 3 and was 2"):
        compiled(x)


@torch.no_grad()
def test_what_no_code_names_is_nothing(recwarn: pytest.WarningsRecorder) -> None:
    x = torch.randn(3)
    compiled = torch2mlir.compile(lambda x: x * settings.SCALE * Config.scale, x, **TARGET)
    settings.OTHER, os.environ["ANOTHER_OF_A_TEST"] = 6, "1"  # type: ignore[attr-defined]
    try:
        compiled(x)
    finally:
        del os.environ["ANOTHER_OF_A_TEST"]
    assert not any("compiled" in str(each.message) for each in recwarn.list)
