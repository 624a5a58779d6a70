"""Results that are still there when Python ends, wherever they are kept."""

from __future__ import annotations

import subprocess
import sys

import pytest

_PROGRAM = """
import os, sys, torch, torch2mlir

torch.set_num_threads(2)
torch.set_grad_enabled(False)
layer, ones = torch.nn.Linear(600, 600), torch.ones(600, 600)
compiled = torch2mlir.compile(layer, ones, engine=sys.argv[1], output_type=sys.argv[2])
kept = os.kept = compiled(ones)
in_a_cycle = [compiled(ones)]
in_a_cycle.append(in_a_cycle)
del in_a_cycle
"""


@pytest.mark.parametrize(
    ("engine", "dialect"),
    [
        ("iree", "linalg-on-tensors"),
        pytest.param("xla", "stablehlo", marks=pytest.mark.full("has not crashed so far")),
    ],
)
def test_python_ends_without_a_crash(engine: str, dialect: str) -> None:
    """IREE's results are freed by the device that allocated them, which the end of Python had taken away."""
    ended = subprocess.run(
        [sys.executable, "-c", _PROGRAM, engine, dialect],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
