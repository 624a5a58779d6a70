"""The example of docs/serving.md runs as it stands there."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

import torch2mlir

DOCS = Path(__file__).parents[2] / "docs" / "serving.md"


def test_the_fastapi_example_serves_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fastapi.testclient import TestClient

    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)).eval()
    batch = torch.export.Dim("batch", min=2)
    compiled = torch2mlir.compile(
        model,
        torch.randn(3, 4),
        output_type="linalg-on-tensors",
        dynamic_shapes=({0: batch},),
    )
    torch2mlir.save(compiled, tmp_path / "model.artefact")
    blocks = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)
    (source,) = [block for block in blocks if "FastAPI" in block]
    (tmp_path / "serve.py").write_text(source)
    monkeypatch.setenv("ARTEFACT", str(tmp_path / "model.artefact"))
    monkeypatch.syspath_prepend(str(tmp_path))
    import serve  # type: ignore[import-not-found]

    try:
        with TestClient(serve.app) as client:
            for rows in ([[1.0, 2.0, 3.0, 4.0]] * 2, [[0.5] * 4] * 5):
                answer = client.post("/predict", json={"rows": rows})
                with torch.no_grad():
                    expected = model(torch.tensor(rows))
                torch.testing.assert_close(torch.tensor(answer.json()["rows"]), expected)
            refused = client.post("/predict", json={"rows": [[1.0, 2.0], [3.0, 4.0]]})
            assert refused.status_code == 422 and "size 4" in refused.json()["detail"]
            uneven = client.post("/predict", json={"rows": [[1.0], [3.0, 4.0]]})
            assert uneven.status_code == 422
    finally:
        sys.modules.pop("serve", None)
