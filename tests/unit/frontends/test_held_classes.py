"""Classes and Python files that a model has in attributes and containers, and the order of its parts: read and written as others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import torch2mlir

SETTINGS = ModuleType("settings_of_a_user")


class Config:
    scale: float = 2.0
    table: dict[str, float]
    weight: Tensor
    count: int


@pytest.fixture(autouse=True)
def as_defined() -> Iterator[None]:
    Config.scale, Config.table, Config.count = 2.0, {"k": 1.0}, 1
    Config.weight = torch.ones(3)
    SETTINGS.scale = 2.0  # type: ignore[attr-defined]
    with torch.no_grad():
        yield


class Holds(nn.Module):
    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config, self.several, self.named = config, [config], {"it": config}


class Scale(Holds):
    def forward(self, x: Tensor) -> Tensor:
        return x * self.config.scale


class InList(Holds):
    def forward(self, x: Tensor) -> Tensor:
        return x * self.several[0].scale


class Table(Holds):
    def forward(self, x: Tensor) -> Tensor:
        return x * self.named["it"].table["k"]


class Weight(Holds):
    def forward(self, x: Tensor) -> Tensor:
        return x * self.config.weight


def scale() -> None:
    Config.scale = SETTINGS.scale = 5.0  # type: ignore[attr-defined]


def table() -> None:
    Config.table["k"] = 3.0


def weight() -> None:
    Config.weight = torch.full((3,), 7.0)


CHANGES: dict[str, tuple[Callable[[], nn.Module], Callable[[], None]]] = {
    "class": (lambda: Scale(Config), scale),
    "class_in_list": (lambda: InList(Config), scale),
    "table_of_class": (lambda: Table(Config), table),
    "tensor_of_class": (lambda: Weight(Config), weight),
    "python_file": (lambda: Scale(SETTINGS), scale),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_a_user_changes_there(name: str) -> None:
    make, change = CHANGES[name]
    model, x = make(), torch.randn(3)
    optimized, compiled = torch2mlir.optimize(model), torch2mlir.compile(model, x)
    for _ in range(2):
        assert torch.equal(optimized(x), model(x))
        assert torch.equal(compiled(x), model(x))
    change()
    for _ in range(2):
        assert torch.equal(optimized(x), model(x))
    with pytest.warns(UserWarning, match="when it was compiled"):
        compiled(x)


class Counts(Holds):
    def forward(self, x: Tensor) -> Tensor:
        self.config.count += 1
        return x * self.config.count


def test_what_a_model_writes_there() -> None:
    x = torch.randn(3)
    with pytest.raises(torch2mlir.CaptureError, match="changes what its next call computes"):
        torch2mlir.compile(Counts(Config), x)
    assert Config.count == 1
    optimized = torch2mlir.optimize(Counts(Config))
    for call in range(3):
        assert torch.equal(optimized(x), x * (call + 2))


class Layers(nn.Module):
    def __init__(self, count: int = 5) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(count)])


class Drops(Layers):
    def forward(self, x: Tensor) -> Tensor:
        del self.layers[0]
        return self.layers[0](x) * len(self.layers)


class Turns(Layers):
    def forward(self, x: Tensor) -> Tensor:
        self.layers.insert(0, self.layers.pop(len(self.layers) - 1))
        return self.layers[0](x)


class Moves(Layers):
    def forward(self, x: Tensor) -> Tensor:
        parts = self.layers._modules
        first = next(iter(parts))
        parts[first] = parts.pop(first)
        return next(iter(parts.values()))(x)


class Rebuilds(Layers):
    def forward(self, x: Tensor) -> Tensor:
        parts = list(self.layers._modules.items())
        self.layers._modules = dict(parts[1:] + parts[:1])
        return next(iter(self.layers._modules.values()))(x)


@pytest.mark.parametrize("count", [5, 3])
@pytest.mark.parametrize("kind", [Drops, Turns, Moves, Rebuilds])
@pytest.mark.share(4)
def test_parts_that_a_call_drops_or_puts_in_another_order(kind: type[Layers], count: int) -> None:
    model, x = kind(count), torch.randn(2, 3)
    with pytest.raises(torch2mlir.CaptureError, match="changes what its next call computes"):
        torch2mlir.compile(model, x)
    assert len(model.layers) == count
    eager, optimized = kind(count), torch2mlir.optimize(kind(count))
    for _ in range(count - 1):
        x = torch.randn(2, 3)
        torch.testing.assert_close(optimized(x), eager(x))
