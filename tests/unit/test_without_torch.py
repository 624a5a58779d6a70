"""Decision 7: dialects, conversions and the opt driver work where PyTorch is not installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BLOCKED = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocker())
"""

CONTRACT = """
func.func @main(%x: !torch.vtensor<[2,3],f32>, %w: !torch.vtensor<[3,4],f32>) -> !torch.vtensor<[2,4],f32> {
  %0 = torch.aten.mm %x, %w : !torch.vtensor<[2,3],f32>, !torch.vtensor<[3,4],f32> -> !torch.vtensor<[2,4],f32>
  %1 = torch.aten.tanh %0 : !torch.vtensor<[2,4],f32> -> !torch.vtensor<[2,4],f32>
  return %1 : !torch.vtensor<[2,4],f32>
}
"""

SOURCES = Path(__file__).parent.parent.parent / "src" / "torch2mlir"


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", BLOCKED + code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def modules() -> list[str]:
    """Every module of the parts that need no PyTorch."""
    folders = ("dialects", "conversion", "engine_passes")
    files = [file for folder in folders for file in sorted((SOURCES / folder).rglob("*.py"))]
    files.append(SOURCES / "tools" / "opt.py")
    names = (file.relative_to(SOURCES.parent).with_suffix("") for file in files)
    return [".".join(name.parts).removesuffix(".__init__") for name in names]


def test_every_module_imports() -> None:
    done = run("\n".join(f"import {name}" for name in modules()))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "target, op",
    [
        ("stablehlo", "stablehlo.dot_general"),
        ("linalg-on-tensors", "linalg.matmul"),
        ("tosa", "tosa.matmul"),
    ],
)
@pytest.mark.share(2)
def test_opt_converts(target: str, op: str, tmp_path: Path) -> None:
    source = tmp_path / "contract.mlir"
    source.write_text(CONTRACT)
    name = target.removesuffix("-on-tensors")
    code = "from torch2mlir.tools.opt import main\nsys.exit(main(sys.argv[1:]))"
    done = run(code, str(source), "-p", f"convert-torch-to-{name}")
    assert done.returncode == 0, done.stderr
    assert op in done.stdout


OPT = "from torch2mlir.tools.opt import main\nsys.exit(main(sys.argv[1:]))"


@pytest.mark.parametrize(
    "arguments",
    [
        ["-inline", "-symbol-dce"],
        ["-torch-canonicalize", "-mlir-print-ir-after-all"],
        ["-convert-torch-to-stablehlo", "-stablehlo-legalize-to-hlo"],
        ["--load", str(SOURCES.parents[1] / "examples" / "own_pass.py"), "-my-count-ops"],
    ],
)
def test_opt_runs_what_needs_no_pytorch(arguments: list[str], tmp_path: Path) -> None:
    source = tmp_path / "contract.mlir"
    source.write_text(CONTRACT)
    done = run(OPT, str(source), *arguments)
    assert done.returncode == 0, done.stderr


def test_a_pass_that_needs_pytorch_says_so(tmp_path: Path) -> None:
    source = tmp_path / "contract.mlir"
    source.write_text(CONTRACT)
    done = run(OPT, str(source), "-torch-decompose-complex-ops")
    assert done.returncode == 1
    assert "'torch-decompose-complex-ops' runs PyTorch's own semantics" in done.stderr
    assert "pip install torch" in done.stderr and "Traceback" not in done.stderr


EVERY_PASS = """
from torch2mlir.tools.opt import main
from torch2mlir.transforms import PASSES
for name in PASSES:
    print("PASS", name, file=sys.stderr)
    main([sys.argv[1], f"-{name}"])
"""


def test_every_pass_runs_or_says_what_is_missing(tmp_path: Path) -> None:
    source = tmp_path / "contract.mlir"
    source.write_text(CONTRACT)
    done = run(EVERY_PASS, str(source))
    assert done.returncode == 0 and "Traceback" not in done.stderr
    for report in done.stderr.split("PASS ")[1:]:
        errors = report.partition("\n")[2]
        assert "ModuleNotFoundError" not in errors, report
        verifies = "contract" in report and "is left" in errors  # nothing has been converted
        refuses = "would have to change" in errors  # work that is not done here
        known = verifies or refuses or "PyTorch is not installed" in errors or "nn_module" in errors
        assert not errors or known, report


def test_what_needs_pytorch_says_so() -> None:
    done = run("import torch2mlir\ntorch2mlir.compile")
    assert done.returncode != 0
    assert "No module named 'torch'" in done.stderr
