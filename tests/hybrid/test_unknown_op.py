"""A model with an op that no lowering knows: compiled around it, counted, and equal to eager PyTorch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

import torch2mlir
from tests.hybrid.opaque_op import opaque
from torch2mlir import dynamo

ROOT = Path(__file__).parents[2]


class Model(nn.Module):
    """The op stands between two parts that can be compiled."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(4, 8), nn.Linear(8, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(opaque(self.first(x).relu() * 2)).softmax(-1)  # type: ignore[no-any-return]


def made() -> tuple[nn.Module, torch.Tensor]:
    """For the command line, which takes ``module:factory``."""
    torch.manual_seed(0)
    return Model().eval(), torch.randn(3, 4)


def test_compile_says_which_op_and_what_to_do() -> None:
    with pytest.raises(torch2mlir.Torch2MLIRError, match="opaque") as caught:
        torch2mlir.compile(*made())
    assert "optimize" in str(caught.value) and "test_unknown_op.py" in str(caught.value)


def test_optimize_leaves_it_to_pytorch() -> None:
    model, x = made()
    optimized = torch2mlir.optimize(model, model_inputs=(x,))
    for _ in range(3):
        x = torch.randn(3, 4)
        with torch.no_grad():
            torch.testing.assert_close(optimized(x), model(x), rtol=1e-4, atol=1e-5)
    report = str(optimized.report())
    assert "opaque" in report and "no lowering" in report


def test_torch_compile_leaves_it_to_pytorch() -> None:
    model, x = made()
    torch._dynamo.reset()
    dynamo.reset_metrics()
    compiled = torch.compile(model, backend="torch2mlir", options={"cache": False})
    for _ in range(3):
        x = torch.randn(3, 4)
        with torch.no_grad():
            torch.testing.assert_close(compiled(x), model(x), rtol=1e-4, atol=1e-5)
    metrics = dynamo.metrics()
    assert dict(metrics.fallbacks) == {"t2m_hybrid.opaque.default": 1}
    assert metrics.nodes_compiled > 0


@pytest.mark.share(2)
@pytest.mark.parametrize("command", [["optimize", "--report"], ["compile", "--to", "stablehlo"]])
def test_the_command_line(command: list[str]) -> None:
    """``optimize`` shows the op among what PyTorch runs; ``compile`` ends with one error that names it."""
    program = "tests.hybrid.test_unknown_op:made"
    arguments = [sys.executable, "-m", "torch2mlir.tools.cli", command[0], program, *command[1:]]
    done = subprocess.run(
        arguments, capture_output=True, text=True, cwd=ROOT, timeout=300, check=False
    )
    said = done.stdout + done.stderr
    assert "opaque" in said and "Traceback" not in said
    assert (done.returncode == 0) == (command[0] == "optimize")
