from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from torch2mlir import dynamo


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TORCH2MLIR_CACHE_DIR", "off")
    torch._dynamo.reset()
    dynamo.reset_metrics()
    torch.manual_seed(0)
    yield
    torch._dynamo.reset()
