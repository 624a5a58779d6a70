"""Benchmarks measure what they say, on models small enough for a test; every column of ours, and that peers have theirs."""

from __future__ import annotations

import importlib
import sys
from argparse import Namespace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        where = getattr(sys.modules[name], "__file__", None) or ""
        if where.startswith((str(ROOT / "benchmarks"), str(ROOT / "examples"))):
            del sys.modules[name]


def small(**options: Any) -> Namespace:
    return Namespace(size="small", seconds=0.0, keep=None, **options)


def figures(module: ModuleType, row: str, column: str, **options: Any) -> list[float]:
    found: list[float] = module.measure(row, column, small(**options))
    return found


@pytest.mark.share(2)
@pytest.mark.parametrize("column", ["ours-ort", "ours-buckets"])
def test_serving(benchmark: Any, column: str) -> None:
    found = figures(benchmark("serving"), "bert-base", column, layers=1, requests=3)
    assert len(found) == 1 and found[0] > 0


@pytest.mark.parametrize("column", ["onnxruntime", "openvino", "ours", "ours-ort", "optimize"])
@pytest.mark.share(4)
def test_decoding(benchmark: Any, column: str) -> None:
    if column in ("onnxruntime", "openvino"):
        pytest.importorskip("onnxscript", reason="PyTorch exports to ONNX with it")
    found = figures(benchmark("decode"), "llama-12x1024", column, prompt=4, tokens=3)
    assert len(found) == 2 and min(found) > 0


@pytest.mark.parametrize("row", ["gpt2"])
def test_training(benchmark: Any, row: str) -> None:
    found = figures(benchmark("training"), row, "ours")
    assert len(found) == 3 and min(found) > 0


def test_the_columns_that_are_compared(benchmark: Any) -> None:
    serving = benchmark("serving")
    assert set(serving._COLUMNS) >= {
        *("eager", "inductor", "onnxruntime", "openvino"),
        *("ours-iree", "ours-ort", "ours-openvino", "ours-xla", "ours-buckets", "optimize"),
    }
    assert {*benchmark("decode").OPTIONS} == {
        *("eager", "inductor", "onnxruntime", "openvino"),
        *("ours", "ours-ort", "ours-openvino", "optimize"),
    }
    assert {*benchmark("training").BACKENDS} == {"eager", "inductor", "ours"}
