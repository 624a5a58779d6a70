"""State in places that are no attribute of a model: caches of functions, attributes of methods, descriptors, defaults."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from functools import cached_property, lru_cache
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import torch2mlir
from torch2mlir.errors import CaptureError


@lru_cache
def _table(n: int) -> Tensor:
    return torch.arange(n) + 1.0


class OfFunction(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * _table(x.shape[-1])


class OfMethod(nn.Module):
    @lru_cache  # noqa: B019 - as users write it
    def table(self, n: int) -> Tensor:
        return torch.arange(n) + 1.0

    def forward(self, x: Tensor) -> Tensor:
        return x * self.table(x.shape[-1])


class Tables:
    @staticmethod
    @lru_cache
    def cached(n: int) -> Tensor:
        return torch.arange(n) + 1.0

    @staticmethod
    def kept(n: int) -> Tensor:
        function: Any = Tables.kept
        if function.table is None:
            function.table = torch.arange(n) + 1.0
        return function.table


Tables.kept.table = None  # type: ignore[attr-defined]


class OfStaticMethod(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * Tables.cached(x.shape[-1])


class InAnAttribute(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * Tables.kept(x.shape[-1])


class Lazily:
    """A descriptor that computes its value once."""

    def __init__(self) -> None:
        self.value: Tensor | None = None

    def __get__(self, instance: Any, owner: Any) -> Tensor:
        if self.value is None:
            self.value = torch.arange(3) + 1.0
        return self.value


class InADescriptor(nn.Module):
    table = Lazily()

    def forward(self, x: Tensor) -> Tensor:
        return x * self.table


class InAProperty(nn.Module):
    @cached_property
    def table(self) -> Tensor:
        return torch.arange(3) + 1.0

    def forward(self, x: Tensor) -> Tensor:
        return x * self.table


CACHES = [OfFunction, OfMethod, OfStaticMethod, InAnAttribute, InADescriptor, InAProperty]
WAYS: dict[str, Callable[[nn.Module, Tensor], Callable[..., Any]]] = {
    "compile": lambda model, x: torch2mlir.compile(model, x),
    "optimize": lambda model, x: torch2mlir.optimize(model, model_inputs=(x,)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", CACHES)
@torch.no_grad()
def test_no_cache_keeps_what_a_trace_has_put_there(make: Callable[[], nn.Module], way: str) -> None:
    """The model itself gave fake tensors from then on, and ``optimize`` a raw error of PyTorch's."""
    model = make()
    found = WAYS[way](model, torch.ones(2, 3))
    for factor in (1.0, 2.0, 3.0):
        x = torch.full((2, 3), factor)
        torch.testing.assert_close(found(x), x * torch.tensor([1.0, 2.0, 3.0]))
    result = model(torch.ones(2, 3))
    assert type(result) is Tensor
    assert result.tolist() == [[1.0, 2.0, 3.0]] * 2


@lru_cache
def _drawn(n: int) -> Tensor:
    return torch.randn(n)


class DrawnOnce(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * _drawn(x.shape[-1])


@torch.no_grad()
def test_what_a_cache_keeps_is_drawn_once() -> None:
    """Programs drew it anew at every call."""
    _drawn.cache_clear()
    model, x = DrawnOnce(), torch.ones(2, 3)
    with pytest.raises(CaptureError, match="draws random numbers"):
        torch2mlir.compile(model, x)
    optimized = torch2mlir.optimize(model, model_inputs=(x,))
    for _ in range(3):
        torch.testing.assert_close(optimized(x), model(x))
    compiled = torch2mlir.compile(model, x)  # the cache is full
    for factor in (1.0, 2.0, 3.0):
        torch.testing.assert_close(compiled(x * factor), model(x * factor))


class Dropped(OfFunction):
    """Draws at every call, and what its cache keeps is no draw."""

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.dropout(x, 0.5, training=True) * _table(x.shape[-1])


@torch.no_grad()
def test_draws_beside_a_cache() -> None:
    _table.cache_clear()
    compiled = torch2mlir.compile(Dropped(), torch.ones(2, 3))
    for _ in range(3):
        assert set((compiled(torch.ones(2, 3)) / _table(3)).unique().tolist()) <= {0.0, 2.0}


_LIBRARY = """
from functools import lru_cache
import torch

@lru_cache
def table(n):
    return torch.arange(n) + 1.0

_kept = {"none": None}

def kept(n):
    if n not in _kept:
        _kept[n] = torch.arange(n), torch.ones(n)
    return _kept[n]

class Layer(torch.nn.Module):
    def forward(self, x):
        places, ones = kept(x.shape[-1])
        return x * table(x.shape[-1]) + places * ones
"""


@torch.no_grad()
def test_caches_of_installed_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    library = ModuleType("a_library_of_layers")
    library.__file__ = "site-packages/a_library_of_layers.py"
    monkeypatch.setitem(sys.modules, library.__name__, library)
    exec(_LIBRARY, vars(library))
    model = nn.Sequential(library.Layer())
    compiled = torch2mlir.compile(model, torch.ones(2, 3))
    for factor in (1.0, 2.0, 3.0):
        x = torch.full((2, 3), factor)
        torch.testing.assert_close(compiled(x), model(x))
        assert type(model(x)) is Tensor


class Count:
    def __init__(self) -> None:
        self.calls = 0

    def __get__(self, instance: Any, owner: Any) -> int:
        self.calls += 1
        return self.calls


class CountedByADescriptor(nn.Module):
    calls = Count()

    def forward(self, x: Tensor) -> Tensor:
        return x * self.calls

    @classmethod
    def begin(cls) -> None:
        vars(cls)["calls"].calls = 0


class Config:
    calls = 0


CONFIG = Config()


class CountedByAWeakReference(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.config = weakref.ref(CONFIG)

    def forward(self, x: Tensor) -> Tensor:
        config: Any = self.config()
        config.calls += 1
        return x * config.calls

    @classmethod
    def begin(cls) -> None:
        CONFIG.calls = 0


class CountedByItsMethod(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        method: Any = CountedByItsMethod.forward
        method.calls += 1
        return x * method.calls

    @classmethod
    def begin(cls) -> None:
        cls.forward.calls = 0  # type: ignore[attr-defined]


class CountedByADefault(nn.Module):
    def forward(self, x: Tensor, *, calls: Any = [0]) -> Tensor:  # noqa: B006 - what it is about
        calls[0] += 1
        return x * calls[0]

    @classmethod
    def begin(cls) -> None:
        cls.forward.__kwdefaults__["calls"][0] = 0


class Shared:
    def __init__(self) -> None:
        self.calls = 0


class CountedByAnObjectOfItsClass(nn.Module):
    shared = Shared()

    def forward(self, x: Tensor) -> Tensor:
        self.shared.calls += 1
        return x * self.shared.calls

    @classmethod
    def begin(cls) -> None:
        cls.shared.calls = 0


_calls = 0


class CountedBehindADecorator(nn.Module):
    """The method that reads the variable is in a variable of the decorator's function."""

    @torch.no_grad()
    def forward(self, x: Tensor) -> Tensor:
        global _calls
        _calls += 1
        return x * _calls

    @classmethod
    def begin(cls) -> None:
        global _calls
        _calls = 0


COUNTED: list[Any] = [
    CountedByADescriptor,
    CountedByAWeakReference,
    CountedByItsMethod,
    CountedByADefault,
    CountedByAnObjectOfItsClass,
    CountedBehindADecorator,
]


@pytest.mark.parametrize("make", COUNTED)
@torch.no_grad()
def test_counts_are_seen(make: Any) -> None:
    """``compile`` repeated the first call, and ``optimize`` began with what trials had left."""
    make.begin()
    with pytest.raises(CaptureError, match="changes what its next call computes"):
        torch2mlir.compile(make(), torch.ones(2))
    make.begin()
    optimized = torch2mlir.optimize(make(), model_inputs=(torch.ones(2),))
    assert [optimized(torch.ones(2))[0].item() for _ in range(3)] == [1, 2, 3]


class Setting:
    """A descriptor with a value of its own."""

    def __init__(self) -> None:
        self.value = 2.0

    def __get__(self, instance: Any, owner: Any) -> float:
        return self.value


class ReadsADescriptor(nn.Module):
    scale = Setting()

    def forward(self, x: Tensor) -> Tensor:
        return x * self.scale


class Owned:
    value = 2.0


OWNED = Owned()


class ReadsAWeakReference(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.owned = weakref.ref(OWNED)

    def forward(self, x: Tensor) -> Tensor:
        owned: Any = self.owned()
        return x * owned.value


class ReadsAStaticMethod(nn.Module):
    @staticmethod
    def scale() -> None: ...

    def forward(self, x: Tensor) -> Tensor:
        return x * ReadsAStaticMethod.scale.value  # type: ignore[attr-defined]


class ReadsItsMethod(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * ReadsItsMethod.forward.value  # type: ignore[attr-defined]


def _scaled(x: Tensor, *, scale: float = 2.0) -> Tensor:
    return x * scale


class ReadsADefault(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return _scaled(x)


def _assign(value: float) -> None:
    """Not a method of theirs: what code of a class names is looked at in any case."""
    vars(ReadsADescriptor)["scale"].value = value
    OWNED.value = value
    ReadsAStaticMethod.scale.value = value  # type: ignore[attr-defined]
    ReadsItsMethod.forward.value = value  # type: ignore[attr-defined]
    _scaled.__kwdefaults__["scale"] = value


READERS: list[Any] = [
    ReadsADescriptor,
    ReadsAWeakReference,
    ReadsAStaticMethod,
    ReadsItsMethod,
    ReadsADefault,
]


@pytest.mark.parametrize("make", READERS)
@torch.no_grad()
def test_changes_from_outside_are_seen(make: Any) -> None:
    """All but that of the model's own method kept the first value."""
    _assign(2.0)
    optimized = torch2mlir.optimize(make(), model_inputs=(torch.ones(2),))
    for value in (2.0, 5.0, 3.0):
        _assign(value)
        assert optimized(torch.ones(2))[0].item() == value
