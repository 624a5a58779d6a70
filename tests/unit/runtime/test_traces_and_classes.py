"""Compiled functions called where somebody else traces, and with tensors of classes of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.fx.experimental.proxy_tensor import make_fx

import torch2mlir
from torch2mlir.errors import CaptureError, InputError

TARGET = {"engine": "reference", "output_type": "linalg-on-tensors"}


def _model() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 3), nn.ReLU()).eval().requires_grad_(False)


def _traced(function: Callable[[Tensor], Tensor], x: Tensor) -> Any:
    return torch.jit.trace(function, (x,), check_trace=False)


def _graph(function: Callable[[Tensor], Tensor], x: Tensor) -> Any:
    return make_fx(function)(x)


@torch.no_grad()
@pytest.mark.parametrize("trace", [_traced, _graph])
def test_traces(trace: Callable[[Callable[[Tensor], Tensor], Tensor], Any]) -> None:
    """A trace took what an engine computed for a constant; that of TorchScript ended the process."""
    x, model = torch.randn(2, 3), _model()
    compiled = torch2mlir.compile(model, x, **TARGET)
    with pytest.raises(InputError, match="of a trace"):
        trace(lambda x: compiled(x) * 2, x)
    optimized = torch2mlir.optimize(model, model_inputs=(x,))
    traced = trace(lambda x: optimized(x) * 2, x)
    torch.testing.assert_close(traced(x + 1), model(x + 1) * 2)
    torch.testing.assert_close(compiled(x), model(x))


@torch.no_grad()
@pytest.mark.parametrize("way", ["compile", "optimize"])
def test_inside_of_torch_compile(way: str) -> None:
    """TorchDynamo went on into our own code."""
    x, model = torch.randn(2, 3), _model()
    ours: Callable[[Tensor], Tensor] = (
        torch2mlir.compile(model, x, **TARGET)
        if way == "compile"
        else torch2mlir.optimize(model, model_inputs=(x,))
    )
    torch._dynamo.reset()
    outer = torch.compile(lambda x: ours(x + 1) * 2, backend="eager")
    for _ in range(3):
        x = torch.randn(2, 3)
        torch.testing.assert_close(outer(x), model(x + 1) * 2)


class Doubled(Tensor):
    """Has another ``relu``."""

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        result = super().__torch_function__(function, types, args, kwargs or {})
        return result * 2 if function in (torch.relu, nn.functional.relu) else result


@pytest.mark.share(8)
@torch.no_grad()
@pytest.mark.parametrize("engine", ["reference", "xla", "iree", "onnxruntime", "openvino"])
def test_classes_that_say_what_functions_do(engine: str) -> None:
    x, model = torch.randn(2, 3), _model()
    other = x.as_subclass(Doubled)
    compiled = torch2mlir.compile(model, x, engine=engine)
    with pytest.raises(InputError, match="a Doubled says itself"):
        compiled(other)
    with pytest.raises(CaptureError, match="a Doubled says itself"):
        torch2mlir.compile(model, other, engine=engine)
    optimized = torch2mlir.optimize(model, model_inputs=(x,))
    torch.testing.assert_close(optimized(other), model(other))
    model[0].weight = nn.Parameter(model[0].weight.data.as_subclass(Doubled), requires_grad=False)
    with pytest.raises(CaptureError, match="a Doubled says itself"):
        torch2mlir.compile(model, x, engine=engine)
