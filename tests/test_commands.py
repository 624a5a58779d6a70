"""The demo and the benchmark, end to end on small models."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def _run(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_demo_leaves_its_files_and_matches_eager(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    models = ["resnet50", "gpt2"] if request.config.getoption("--full") else ["resnet50"]
    options = ["--models", *models, "--size", "small", "--output", str(tmp_path)]
    table = _run("examples/demo.py", *options)
    assert str(tmp_path) in table.replace("\n", "")
    for model in models:
        assert table.count(model) == 3
        for dialect in ("stablehlo", "linalg-on-tensors", "tosa"):
            assert (tmp_path / f"{model}.{dialect}.mlir").is_file()
    assert "train a CNN" in table and "generate text" in table


@pytest.mark.full("the peer's lowering is most of its time")
def test_the_benchmark_compares_with_the_peer() -> None:
    options = ["--size", "small", "--models", "resnet50", "--dialects", "torch", "--runs", "1"]
    table = _run("benchmarks/import_time.py", *options)
    assert "failed" not in table
    assert "less memory" in table and "save external" in table


@pytest.mark.full("the demo generates text with the same functions")
def test_generated_tokens_are_eagers() -> None:
    options = ["--layers", "2", "--hidden", "32", "--prompt", "5", "--tokens", "6", "--sample"]
    said = _run("examples/generate.py", *options)
    assert "tokens per second" in said and "the tokens are eager's" in said
