"""``torch.compile(backend="torch2mlir", options={"tune": ..})``: every segment runs in the fastest way that is right."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from torch import nn

from tests.hybrid.racing import network, times
from torch2mlir import dynamo
from torch2mlir.errors import Torch2MLIRError


def right(model: nn.Module, compiled: Any, rows: tuple[int, ...] = (3, 3, 5)) -> None:
    for count in rows:
        x = torch.randn(count, 4)
        torch.testing.assert_close(compiled(x), model(x))


@pytest.mark.parametrize("fastest", ["onnxruntime", "openvino", "xla", "iree"])
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.share(12)
def test_the_fastest_engine_runs_a_segment(
    fastest: str, dynamic: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    times(monkeypatch, {fastest: 0.5})
    model = network()
    compiled = torch.compile(
        model, backend="torch2mlir", dynamic=dynamic, options={"tune": "fast", "fallback": False}
    )
    with torch.no_grad():
        right(model, compiled)
    found = dynamo.metrics()
    assert found.choices and all(f": {fastest} 500 ms" in line for line in found.choices)
    assert str(found).count(fastest) == len(found.choices) and not found.fallbacks


def test_pytorch_runs_what_it_runs_fastest_and_that_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times(monkeypatch, {"pytorch": 0.5})
    model = network()
    compiled = torch.compile(model, backend="torch2mlir", options={"tune": True})
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error", dynamo.FallbackWarning)
        right(model, compiled, (3, 3))
    found = dynamo.metrics()
    assert found.fallbacks["aten.tanh.default"] == 1
    assert set(found.reasons.values()) == {"PyTorch is the fastest"}


def test_without_fallback_pytorch_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    times(monkeypatch, {"pytorch": 0.1})
    model = network()
    options = {"tune": "fast", "fallback": False}
    with torch.no_grad():
        right(model, torch.compile(model, backend="torch2mlir", options=options), (3,))
    assert not dynamo.metrics().fallbacks


def test_training_is_tuned_too(monkeypatch: pytest.MonkeyPatch) -> None:
    times(monkeypatch, {"onnxruntime": 0.5})
    model, twin = network(), network()
    compiled = torch.compile(model, backend="torch2mlir", options={"tune": "fast"})
    for _ in range(3):
        x = torch.randn(3, 4)
        compiled(x).square().sum().backward()
        twin(x).square().sum().backward()
        for mine, other in zip(model.parameters(), twin.parameters()):
            torch.testing.assert_close(mine.grad, other.grad)
            with torch.no_grad():
                mine -= 0.1 * mine.grad
                other -= 0.1 * other.grad
    assert len(dynamo.metrics().choices) == 2


def test_an_engines_name_chooses_it() -> None:
    model = network()
    compiled = torch.compile(model, backend="torch2mlir", options={"tune": "onnxruntime"})
    with torch.no_grad():
        right(model, compiled)
    assert not dynamo.metrics().choices and dynamo.metrics().compiled


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tune": "quick"}, "'fast', 'full' or an engine"),
        ({"tune": "iree", "engine": "xla"}, "chooses engine and dialect"),
    ],
)
def test_what_cannot_be_meant_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(Torch2MLIRError, match=message):
        dynamo.Options.of(options, None)


@pytest.mark.share(4)
@pytest.mark.parametrize("fastest", ["xla", "onnxruntime", "pytorch"])
def test_state_is_written_once_a_call(fastest: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Sums(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("seen", torch.zeros(4))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.seen.add_(x.sum(0))
            return torch.tanh(x) + self.seen

    times(monkeypatch, {fastest: 0.5})
    model, twin = Sums(), Sums()
    compiled = torch.compile(model, backend="torch2mlir", options={"tune": "fast"})
    with torch.no_grad():
        for _ in range(3):
            x = torch.randn(3, 4)
            torch.testing.assert_close(compiled(x), twin(x))
            torch.testing.assert_close(model.seen, twin.seen)
