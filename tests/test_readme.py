"""The Python in the README runs as it stands, one block after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from torch2mlir.conversion import registry

README = Path(__file__).resolve().parent.parent / "README.md"


@pytest.fixture
def lowerings_as_they_were() -> Iterator[None]:
    registry.lowering_functions("stablehlo")
    yield
    registry._LOWERINGS["stablehlo"].pop("torch.mylib.wave", None)
    registry._OWN["stablehlo"].discard("torch.mylib.wave")


def test_the_python_of_the_readme_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lowerings_as_they_were: None
) -> None:
    monkeypatch.chdir(tmp_path)
    x = torch.randn(2, 4)
    names: dict[str, Any] = {"model": torch.nn.Linear(4, 3).eval(), "args": (x,), "x": x}
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(blocks) == 9
    for block in blocks:
        exec(block, names)
    torch.testing.assert_close(names["y"], names["model"](x))
    torch.testing.assert_close(names["optimized"](x), names["model"](x))
    torch.testing.assert_close(names["served"](x), names["model"](x))
    assert (tmp_path / "model.mlir").is_file()
    assert "tensor<?x4xf32>" in str(names["m"])
    assert "torch.mylib.wave" in registry.lowering_functions("stablehlo")
