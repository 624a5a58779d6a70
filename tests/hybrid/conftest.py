"""No test of this folder reads or writes the user's own cache."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH2MLIR_CACHE_DIR", "off")
