"""PyTorch's minifier on a graph that this backend cannot compile."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import torch
import torch._dynamo.config as config

config.repro_after = "dynamo"
config.repro_level = 2
config.debug_dir_root = "."

def function(x):
    for _ in range(4):
        x = x.sin()
    x = torch.linalg.eigvals(x).abs()
    for _ in range(4):
        x = x.cos()
    return x

torch.compile(function, backend="torch2mlir")(torch.randn(4, 4))
"""


def python(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TORCH2MLIR_FALLBACK": "0", "TORCH2MLIR_CACHE_DIR": "off"}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=directory, capture_output=True, text=True
    )


def test_the_minifier_finds_the_operator(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--full"):
        pytest.skip("two processes; with --full")
    failed = python(tmp_path, "-c", PROGRAM)
    assert failed.returncode != 0
    assert "torch.aten.linalg_eig" in failed.stderr
    (launcher,) = tmp_path.rglob("minifier_launcher.py")
    done = python(tmp_path, str(launcher))
    assert done.returncode == 0, done.stderr
    (found,) = tmp_path.rglob("repro.py")
    text = found.read_text()
    assert "linalg" in text and "eig" in text
    assert ".sin()" not in text and ".cos()" not in text
    assert python(tmp_path, str(found)).returncode != 0
