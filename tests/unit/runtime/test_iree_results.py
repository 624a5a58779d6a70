"""Results that IREE cannot hand over: what it raises then is no error of ours by itself."""

from __future__ import annotations

import pytest
import torch

import torch2mlir
from torch2mlir.errors import EngineError
from torch2mlir.runtime.iree import IreeExecutable


def test_a_result_whose_memory_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """So it is of some loops that hand on each other's tensors."""
    function = torch2mlir.compile(torch.erf, torch.randn(3), engine="iree")

    def missing(*_: object) -> torch.Tensor:
        raise RuntimeError("Cannot export device buffer: transient buffer has not been committed")

    with monkeypatch.context() as patch:
        patch.setattr(IreeExecutable, "_export", missing)
        with pytest.raises(EngineError, match="IREE failed to run @main: Cannot export"):
            function(torch.randn(3))
    x = torch.randn(3)
    torch.testing.assert_close(function(x), torch.erf(x), rtol=1e-4, atol=1e-5)
