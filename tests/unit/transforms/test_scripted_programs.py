"""Scripted functions with lists, branches, loops and assertions, down to the dialects and against eager."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.unit.transforms.scripted_programs import PROGRAMS
from torch2mlir import torchscript
from torch2mlir.runtime.engine import get_engine
from torch2mlir.runtime.lowered import LoweredFunction


def _module(function: Callable[..., Any]) -> torch.jit.ScriptModule:
    class Program(torch.nn.Module):
        def forward(self, x: torch.Tensor):  # type: ignore[no-untyped-def]
            return function(x)

    return torch.jit.script(Program())


@pytest.mark.share(6)
@pytest.mark.parametrize(
    "output_type, engine", [("stablehlo", "xla"), ("linalg-on-tensors", "reference")]
)
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_runs_as_eager(function: Callable[..., Any], output_type: str, engine: str) -> None:
    x = torch.arange(6.0).reshape(2, 3)
    text = str(torchscript.compile(_module(function), (x,), output_type=output_type))
    results = get_engine(engine).compile(LoweredFunction.parse(text, output_type, "forward"))([x])
    expected = function(x)
    for result, right in zip(
        results, expected if isinstance(expected, tuple) else (expected,), strict=True
    ):
        torch.testing.assert_close(result, right)


def test_python_is_gone_at_the_contract() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    for function in PROGRAMS:
        text = str(torchscript.compile(_module(function), (x,), output_type="torch"))
        for leftover in ("append", "__getitem__", "Dict", "derefine", "unchecked_cast", "Tuple"):
            assert leftover not in text, f"{function.__name__} has {leftover} left"
