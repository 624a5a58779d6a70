"""Loops over unknown sizes on IREE with several threads, call after call with other values and sizes."""

from __future__ import annotations

import pytest
import torch
from torch.export import Dim

import torch2mlir
from torch2mlir.runtime.iree import IreeEngine


def _factor(x: torch.Tensor) -> torch.Tensor:
    return torch.linalg.cholesky(x @ x.mT + 3 * torch.eye(x.shape[0]), upper=True)


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("output_type", ["tosa", "linalg-on-tensors"])
def test_a_factor_of_any_size(
    output_type: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    size = Dim("n", min=1, max=64)
    compiled = torch2mlir.compile(
        _factor,
        torch.randn(4, 4),
        output_type=output_type,
        engine=IreeEngine(),
        dynamic_shapes=({0: size, 1: size},),
    )
    for n in (4, 1, 9, 16, 3, 33, 2, 8) * 6:
        x = torch.randn(n, n)
        torch.testing.assert_close(compiled(x), _factor(x), atol=1e-4, rtol=1e-3)
