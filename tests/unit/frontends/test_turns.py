"""Several threads capture and compile at once: PyTorch's tracing is of the process, so they take turns.

Calls of PyTorch's modules in other threads meanwhile are traced with the rest, and functions of ``torch.compile`` refuse
to be called while any thread traces, by a flag of the process: nobody but PyTorch can change that.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from torch import nn

import torch2mlir

Way = Callable[[nn.Module, torch.Tensor], Any]


WAYS: tuple[Way, ...] = (
    lambda model, x: torch2mlir.compile(model, x),
    lambda model, x: torch2mlir.compile(
        model, x, engine="iree", dynamic_shapes=({0: torch.export.Dim("rows")},)
    ),
    lambda model, x: torch2mlir.optimize(model, model_inputs=(x,)),
)


def _model(width: int) -> nn.Module:
    layers = (nn.Linear(6, width), nn.LayerNorm(width), nn.GELU(), nn.Linear(width, 3))
    return nn.Sequential(*layers).eval().requires_grad_(False)


def test_threads_that_compile_at_once() -> None:
    models = [_model(4 + i) for i in range(8)]
    x = torch.randn(4, 6)
    with ThreadPoolExecutor(len(models)) as threads:
        ways = [WAYS[i % len(WAYS)] for i in range(len(models))]
        compiled = list(threads.map(lambda way, model: way(model, x), ways, models))
    for model, each in zip(models, compiled, strict=True):
        for call in range(3):
            torch.testing.assert_close(each(x + call), model(x + call))


@pytest.mark.filterwarnings("error:the model")
def test_threads_that_share_an_optimized_part() -> None:
    """What the part keeps of its captures is no state of the models that it is in."""
    x = torch.randn(4, 6)
    part = torch2mlir.optimize(_model(5))
    models = [nn.Sequential(part, nn.Linear(3, width)).eval() for width in (2, 3, 4)]
    with ThreadPoolExecutor(len(models)) as threads, torch.no_grad():
        compiled = list(threads.map(lambda model: torch2mlir.compile(model, x), models))
    with torch.no_grad():
        expected = [model(x) for model in models]  # with a capture of the part
        for result, each in zip(expected, compiled, strict=True):
            torch.testing.assert_close(each(x), result)
