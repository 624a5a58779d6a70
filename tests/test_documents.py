"""The Python in the documents is run, or is the code that it says it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import torch2mlir

ROOT = Path(__file__).resolve().parent.parent
SOURCES = [
    ROOT / "src/torch2mlir",
    ROOT / "examples",
    ROOT / "tests/e2e/cases",
    ROOT / "tests/unit",
]
QUOTING = ("CONTRIBUTING.md", "docs/own_ops.md", "docs/own_passes.md", "docs/own_targets.md")
"""Documents that show code of the project; a line of dots stands for what is left out."""
RUNNING = (
    "docs/engines.md",
    "docs/lazy.md",
    "docs/onnx.md",
    "docs/optimize.md",
    "docs/serving.md",
    "docs/torch_compile.md",
)
"""Documents whose code is run, from top to bottom, on a small model."""
ELSEWHERE = {"README.md": "test_readme.py"}
"""Documents that have a test of their own."""


def blocks(document: str) -> list[str]:
    """The Python of a document."""
    return re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)


def test_no_document_is_left_out() -> None:
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    with_code = {str(path.relative_to(ROOT)) for path in documents}
    with_code = {name for name in with_code if blocks(name)}
    assert with_code == {*QUOTING, *RUNNING, *ELSEWHERE}


@pytest.fixture(scope="module")
def code() -> str:
    files = [path for folder in SOURCES for path in sorted(folder.rglob("*.py"))]
    return "\n".join(_lines(path.read_text()) for path in files)


def _lines(text: str) -> str:
    """Without indentation, which a quotation may leave out."""
    return "\n".join(line.strip() for line in text.splitlines())


@pytest.mark.parametrize("document", QUOTING)
def test_quoted_code_is_the_code(document: str, code: str) -> None:
    assert (shown := blocks(document))
    for block in shown:
        for part in re.split(r"^ *\.\.\.\n", block, flags=re.MULTILINE):
            assert _lines(part.rstrip("\n")) in code, f"{document} shows what is not there:\n{part}"


class Mlp(nn.Module):
    """A classifier of rows of four numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 8), nn.Linear(8, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """One score for each of three classes."""
        return self.second(torch.softmax(self.first(x), -1))


@pytest.fixture
def in_a_new_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    torch._dynamo.reset()


@pytest.mark.parametrize("document", RUNNING)
def test_shown_code_runs(document: str, in_a_new_folder: Path) -> None:
    torch.manual_seed(0)
    model, x = Mlp().eval(), torch.randn(3, 4)
    names: dict[str, Any] = {
        "torch": torch,
        "torch2mlir": torch2mlir,
        "model": model,
        "args": (x,),
        "inputs": (x,),
        "example": x,
        "x": x,
        "batches": [(torch.randn(3, 4), torch.tensor([0, 1, 2]))] * 2,
    }
    for block in blocks(document):
        if "FastAPI" in block:  # tests/artefact/test_serving.py
            continue
        exec(block.replace("dynamic_shapes=...", "dynamic_shapes=None"), names)
    for compiled in ("f", "optimized", "compiled"):
        if compiled in names:
            with torch.no_grad():
                torch.testing.assert_close(names[compiled](x), model(x), rtol=1e-5, atol=1e-6)
