"""The example of ResNet and BERT through TorchScript, with small models."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "torchscript_to_stablehlo.py"


@pytest.mark.share(2)
@pytest.mark.parametrize("model", ["resnet", "bert"])
def test_small_model_matches(model: str, tmp_path: Path) -> None:
    main = run_path(str(EXAMPLE))["main"]
    saved = tmp_path / "model.mlir"
    assert main([model, "--small", "--save", str(saved)]) == 0
    assert "stablehlo.dot_general" in saved.read_text() or model == "resnet"
