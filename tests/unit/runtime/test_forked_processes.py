"""A process that was forked from one with engines says so where it would wait for ever, and computes where it can."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

_PROGRAM = """
import multiprocessing, os, sys, torch, torch2mlir

torch.set_num_threads(2)
torch.set_grad_enabled(False)
options = {"engine": sys.argv[1], "output_type": sys.argv[2]}
layer, context = torch.nn.Linear(600, 600), multiprocessing.get_context("fork")
compiled = torch2mlir.compile(layer, torch.ones(600, 600), **options)
compiled(torch.ones(600, 600))

def compiled_here():
    return torch2mlir.compile(layer, torch.ones(600, 600), **options)(torch.ones(600, 600))

expected = layer(torch.ones(600, 600))
for work in (lambda: compiled(torch.ones(600, 600)), compiled_here):
    here, there = context.Pipe()
    if os.fork() == 0:
        torch.set_num_threads(1)  # PyTorch's own stayed behind as well
        try:
            there.send(work()[0].tolist())
        except torch2mlir.errors.EngineError as error:
            there.send(str(error))
        os._exit(0)
    found = here.recv() if here.poll(40) else "hangs"
    print(found if isinstance(found, str) else torch.allclose(torch.tensor(found), expected[0], atol=1e-4), flush=True)
"""


@pytest.mark.share(4)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system forks no processes")
@pytest.mark.parametrize(
    ("engine", "dialect", "of_its_parent", "of_its_own"),
    [
        ("xla", "stablehlo", "True", "XLA cannot compile in a process that was forked"),
        ("iree", "linalg-on-tensors", "IREE cannot run a program in a process", "True"),
    ],
)
def test_forked_processes(engine: str, dialect: str, of_its_parent: str, of_its_own: str) -> None:
    """Those of XLA's and IREE's that now end in an error hung."""
    command = [sys.executable, "-W", "ignore", "-c", _PROGRAM, engine, dialect]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=150)
    assert ended.returncode == 0, ended.stderr
    found = [line for line in ended.stdout.splitlines() if not line.startswith("  ")]
    assert found[0].startswith(of_its_parent)
    assert found[1].startswith(of_its_own)
