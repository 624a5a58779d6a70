"""What hooks around a module's forward read, write and keep, which is as much the model's as what its forward does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import torch2mlir

TARGET = {"output_type": "stablehlo", "engine": "xla"}
SHARED = {"scale": 1.0}


class Steering:
    """An object with hooks for its methods."""

    def __init__(self) -> None:
        self.scale = 1.0
        self.calls = 0
        self.kept: list[Tensor] = []

    def scaled(self, module: nn.Module, args: Any, result: Tensor) -> Tensor:
        return result * self.scale

    def scaled_before(self, module: nn.Module, args: tuple[Tensor]) -> tuple[Tensor]:
        return (args[0] * self.scale,)

    def counted(self, module: nn.Module, args: Any, result: Tensor) -> Tensor:
        self.calls += 1
        return result * self.calls

    def keeps(self, module: nn.Module, args: Any, result: Tensor) -> None:
        self.kept.append(result)


def _of_all(module: nn.Module, args: Any, result: Tensor) -> Tensor:
    return result * SHARED["scale"]


def _by_closure(model: nn.Sequential, steering: Steering) -> None:
    model[0].register_forward_hook(lambda module, args, result: result * steering.scale)


HOOKED: dict[str, Callable[[nn.Sequential, Steering], Any]] = {
    "closure": _by_closure,
    "method": lambda m, s: m[0].register_forward_hook(s.scaled),
    "method before": lambda m, s: m.register_forward_pre_hook(s.scaled_before),
    "global variable": lambda m, s: m[0].register_forward_hook(_of_all),
}


def _model() -> nn.Sequential:
    return nn.Sequential(nn.Linear(4, 4), nn.Tanh()).eval()


def _set(steering: Steering, scale: float) -> None:
    steering.scale = SHARED["scale"] = scale


@torch.no_grad()
@pytest.mark.parametrize("name", HOOKED)
def test_optimized_modules_follow_what_they_read(name: str) -> None:
    model, steering, x = _model(), Steering(), torch.randn(2, 4)
    _set(steering, 1.0)
    HOOKED[name](model, steering)
    optimized = torch2mlir.optimize(model, model_inputs=(x,))
    for scale in (1.0, 2.0, 0.0):
        _set(steering, scale)
        torch.testing.assert_close(optimized(x), model(x))


@torch.no_grad()
def test_compiled_functions_tell_of_what_they_read() -> None:
    model, steering, x = _model(), Steering(), torch.randn(2, 4)
    HOOKED["method"](model, steering)
    compiled = torch2mlir.compile(model, x, **TARGET)
    torch.testing.assert_close(compiled(x), model(x))
    steering.scale = 2.0
    with pytest.warns(UserWarning, match="scale' is 2.0 and was 1.0 when it was compiled"):
        compiled(x)


@torch.no_grad()
def test_what_the_next_call_reads() -> None:
    model, steering, x = _model(), Steering(), torch.randn(2, 4)
    model[0].register_forward_hook(steering.counted)
    with pytest.raises(torch2mlir.CaptureError, match="what its next call computes"):
        torch2mlir.compile(model, x, **TARGET)
    optimized = torch2mlir.optimize(model, model_inputs=(x,))
    assert steering.calls == 0
    layer, tanh = model[0], model[1]
    for calls in (1, 2, 3):
        found = optimized(x)
        assert steering.calls == calls
        torch.testing.assert_close(found, tanh((x @ layer.weight.T + layer.bias) * calls))


@torch.no_grad()
def test_what_they_keep() -> None:
    model, steering, x = _model(), Steering(), torch.randn(2, 4)
    model[0].register_forward_hook(steering.keeps)
    with pytest.warns(UserWarning, match="a call of the model sets 'kept"):
        compiled = torch2mlir.compile(model, x, **TARGET)
    compiled(x)
    assert not steering.kept
    optimized = torch2mlir.optimize(model, model_inputs=(x,))
    assert not steering.kept
    optimized(x)
    (kept,) = steering.kept
    torch.testing.assert_close(kept, x @ model[0].weight.T + model[0].bias)
