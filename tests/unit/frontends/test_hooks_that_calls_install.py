"""Hooks that a model installs or takes away in its calls: captures and trials leave none behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import torch2mlir
from torch2mlir.errors import CaptureError

WAYS: dict[str, Callable[[nn.Module, Tensor], Callable[..., Any]]] = {
    "compile": lambda model, x: torch2mlir.compile(model, x),
    "optimize": lambda model, x: torch2mlir.optimize(model, model_inputs=(x,)),
}


class Recording(nn.Module):
    """As models of transformers record their hidden states."""

    def __init__(self, is_installed: bool | None) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(2))
        self.found: list[Tensor] | None = None
        if is_installed is not None:
            self.is_installed = is_installed

    def note(self, _layer: nn.Module, _args: Any, result: Tensor) -> None:
        assert self.found is not None
        self.found.append(result)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        if not getattr(self, "is_installed", False):
            for layer in self.layers:
                layer.register_forward_hook(self.note)
            self.is_installed = True
        self.found = found = list[Tensor]()
        for layer in self.layers:
            x = layer(x)
        self.found = None
        return x, *found


class TakenAway(nn.Module):
    """A hook for the first call alone, which changes what the layer gives."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Identity()
        self.handle: Any = self.layer.register_forward_hook(self.doubled)

    @staticmethod
    def doubled(_layer: nn.Module, _args: Any, result: Tensor) -> Tensor:
        return result * 2

    def forward(self, x: Tensor) -> Tensor:
        x = self.layer(x)
        if self.handle is not None:
            self.handle.remove()
            self.handle = None
        return x


class EveryTime(nn.Module):
    """Every call doubles what the next one gives."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        x = self.layer(x)
        self.layer.register_forward_hook(TakenAway.doubled)
        return x


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("is_installed", [None, False])
@torch.no_grad()
def test_hooks_are_installed_once(is_installed: bool | None, way: str) -> None:
    """Each trial left some: the model itself recorded everything thirteen times."""
    model = Recording(is_installed)
    found = WAYS[way](model, torch.ones(2, 3))
    for _ in range(3):
        x = torch.randn(2, 3)
        torch.testing.assert_close(found(x), model(x))
    assert len(model(torch.ones(2, 3))) == 3
    assert [len(layer._forward_hooks) for layer in model.layers] == [1, 1]


@pytest.mark.parametrize("make", [TakenAway, EveryTime])
@torch.no_grad()
def test_hooks_that_later_calls_do_not_have(make: Callable[[], nn.Module]) -> None:
    x = torch.ones(2, 3)
    with pytest.raises(CaptureError, match="changes what its next call computes"):
        torch2mlir.compile(make(), x)
    optimized, eager = torch2mlir.optimize(make(), model_inputs=(x,)), make()
    for factor in (1.0, 2.0, 3.0):
        torch.testing.assert_close(optimized(x * factor), eager(x * factor))
