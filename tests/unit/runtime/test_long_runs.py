"""Many calls: results stay right and memory flat, whatever the values, the shapes and the thread.

A share of the calls is made by default; ``--full`` makes 10,000 on each engine.
"""

from __future__ import annotations

import gc
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.export import Dim

import torch2mlir

CALLS, FULL = 240, 10_000
SIZES = (3, 16, 1, 9)
"""The sizes of the batch, in turn."""
WIDTH = 4096
"""A row takes 16 KiB: a result or argument per call that is kept shows after a hundred calls."""
GROWTH = 24 << 20
"""Bytes that allocators may keep for themselves."""
CONFIGURATIONS = [
    pytest.param(
        "linalg-on-tensors", "reference", marks=pytest.mark.full("no engine that users run")
    ),
    ("linalg-on-tensors", "iree"),
    ("tosa", "iree"),
    ("stablehlo", "xla"),
    ("onnx", "onnxruntime"),
    ("onnx", "openvino"),
]


class Model(nn.Module):
    """Weights, a prepared constant, a reduction: what engines hold between calls."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.linspace(-1, 1, WIDTH))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Elementwise work on every row, and a number for each."""
        y = torch.tanh(x * self.scale.exp()) + self.scale
        return y, y.mean(-1)


class Counting(nn.Module):
    """A state that every call changes."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The sum so far."""
        self.seen.add_(x)
        return self.seen * 2


def resident() -> int:
    """Bytes of memory that the process has."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def calls(request: pytest.FixtureRequest) -> int:
    """How many calls to make."""
    return FULL if request.config.getoption("--full") else CALLS


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
@pytest.mark.parametrize(
    "dynamic",
    [
        pytest.param(False, id="static", marks=pytest.mark.full("of any size they run, too")),
        pytest.param(True, id="dynamic"),
    ],
)
@pytest.mark.parametrize(("output_type", "engine"), CONFIGURATIONS)
@pytest.mark.share(4)
def test_memory_stays_flat(
    output_type: str, engine: str, dynamic: bool, request: pytest.FixtureRequest
) -> None:
    model = Model()
    shapes = {"x": {0: Dim("batch", min=1, max=64)}} if dynamic else None
    function = torch2mlir.compile(
        model, torch.randn(3, WIDTH), output_type=output_type, engine=engine, dynamic_shapes=shapes
    )
    count = calls(request)
    for number in range(count):
        if number == count // 4:  # everything is compiled and every pool filled
            gc.collect()
            before = resident()
        x = torch.randn(SIZES[number % len(SIZES)] if dynamic else 3, WIDTH)
        with torch.no_grad():
            results, expected = function(x), model(x)
        torch.testing.assert_close(results, expected, rtol=1e-4, atol=1e-5)
    gc.collect()
    assert resident() - before < GROWTH


@pytest.mark.share(6)
@pytest.mark.parametrize(("output_type", "engine"), CONFIGURATIONS)
def test_threads_get_their_own_results(
    output_type: str, engine: str, request: pytest.FixtureRequest
) -> None:
    model = Model()
    shapes = {"x": {0: Dim("batch", min=1, max=64)}}
    function = torch2mlir.compile(
        model, torch.randn(3, WIDTH), output_type=output_type, engine=engine, dynamic_shapes=shapes
    )

    def call(number: int) -> None:
        generator = torch.Generator().manual_seed(number)
        x = torch.randn(SIZES[number % len(SIZES)], WIDTH, generator=generator)
        given = x.clone()
        with torch.no_grad():
            torch.testing.assert_close(function(x), model(x), rtol=1e-4, atol=1e-5)
        assert torch.equal(x, given)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(call, range(calls(request))))


@pytest.mark.parametrize(("output_type", "engine"), CONFIGURATIONS)
@pytest.mark.share(2)
def test_state_does_not_drift(
    output_type: str, engine: str, request: pytest.FixtureRequest
) -> None:
    model, expected = Counting(), torch.zeros(4)
    function = torch2mlir.compile(model, torch.zeros(4), output_type=output_type, engine=engine)
    for number in range(calls(request)):
        x = torch.tensor([1.0, -1.0, number % 7, 0.5])
        expected += x
        assert torch.equal(function(x), expected * 2)
    assert torch.equal(model.seen, expected)
