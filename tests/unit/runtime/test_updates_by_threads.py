"""Many updates of few places with two threads: ONNX Runtime's lost some, others at each call."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import torch2mlir
from torch2mlir.runtime.iree import IreeEngine
from torch2mlir.runtime.onnxruntime import OnnxRuntimeEngine

ENGINES = {"onnx": OnnxRuntimeEngine, "linalg-on-tensors": IreeEngine}


def _of_edges(nodes: Tensor, x: Tensor) -> Tensor:
    """What the edges of a graph bring to its nodes."""
    return x.new_zeros(5000, 8).index_add(0, nodes, x)


def _by_two_indices(nodes: Tensor, x: Tensor) -> Tensor:
    return x.new_zeros(10, 3, 8).index_put((nodes // 500, nodes % 3), x, accumulate=True)


@pytest.mark.parametrize("function", [_of_edges, _by_two_indices])
@pytest.mark.parametrize("dialect", ENGINES)
@pytest.mark.share(2)
def test_none_is_lost(
    dialect: str,
    function: Callable[[Tensor, Tensor], Tensor],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)

    def drawn() -> tuple[Tensor, Tensor]:
        return torch.randint(5000, (400_000,)), torch.rand(400_000, 8) / 2 + 0.5

    compiled = torch2mlir.compile(
        function, *drawn(), output_type=dialect, engine=ENGINES[dialect]()
    )
    for _ in range(4):
        nodes, x = drawn()
        # no update is smaller than 0.5, so that one which is lost shows; sums of 13,000 of them are rounded
        exact = function(nodes, x.double())
        torch.testing.assert_close(compiled(nodes, x).double(), exact, atol=0.25, rtol=0)
