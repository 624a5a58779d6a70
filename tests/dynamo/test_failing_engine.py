"""An engine that compiles and then fails in a call: PyTorch runs the call, unless arguments may have been written to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import torch

from tests.dynamo.agreement import assert_close, compiled
from torch2mlir import EngineError, dynamo
from torch2mlir.runtime.engine import register_engine, unregister_engine
from torch2mlir.runtime.lowered import LoweredFunction
from torch2mlir.runtime.xla import XlaEngine, XlaExecutable

X = torch.linspace(-2, 2, 12).view(3, 4)
LARGE = torch.ones(512, 512)


class FailsAtRun(XlaEngine):
    """XLA, of which every second call fails."""

    name = "fails-at-run"
    has_portable_code = False
    calls = 0

    def compile(self, function: LoweredFunction) -> XlaExecutable:
        executable = super().compile(function)
        run = executable.run

        def fails_at_times(args: Sequence[Any]) -> list[torch.Tensor]:
            FailsAtRun.calls += 1
            if FailsAtRun.calls % 2:
                raise EngineError("the engine has run out of something")
            return run(args)

        executable.run = fails_at_times  # type: ignore[method-assign]
        return executable


@pytest.fixture(autouse=True)
def failing_engine() -> Iterator[None]:
    FailsAtRun.calls = 0
    register_engine(FailsAtRun.name, FailsAtRun)
    yield
    unregister_engine(FailsAtRun.name)


def test_pytorch_runs_a_call_that_the_engine_fails_to_run() -> None:
    other = compiled(lambda x: (x.sin() + 1, x.sum()), {"engine": FailsAtRun.name})
    with pytest.warns(dynamo.FallbackWarning, match="has run out of something"):
        results = other(X)
    assert_close(results, (X.sin() + 1, X.sum()))
    counted = {"aten.sin.default": 1, "aten.add.Tensor": 1, "aten.sum.default": 1}
    assert dynamo.metrics().fallbacks == counted
    for x in (X + 1, X - 1, X * 2):
        assert_close(other(x), (x.sin() + 1, x.sum()))
    assert FailsAtRun.calls == 4, "one failure must not take the segment from the engine"


def test_without_fallback_the_failure_is_an_error() -> None:
    other = compiled(torch.sin, {"engine": FailsAtRun.name, "fallback": False})
    with pytest.raises(EngineError, match="has run out of something"):
        other(X)


def test_a_call_that_may_have_written_to_its_arguments_is_an_error() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        x.mul_(2)
        return x.sum()

    other = compiled(function, {"engine": FailsAtRun.name})
    x = LARGE.clone()
    with pytest.raises(EngineError, match="has run out of something"):
        other(x)
