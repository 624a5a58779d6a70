"""Where a cluster differs from PyTorch, the one op that makes it so leaves it, and the rest stays compiled."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import nn

import torch2mlir
from tests.hybrid.test_optimize import check
from torch2mlir.hybrid import partition
from torch2mlir.hybrid.ways import Way


@pytest.mark.parametrize("allow_tracing", [True, False])
def test_only_the_op_that_differs_leaves_its_cluster(
    monkeypatch: pytest.MonkeyPatch, allow_tracing: bool
) -> None:
    compiled = partition._Partitioning._compile

    def without_sigmoid(self: Any, module: torch.fx.GraphModule, way: Way) -> Any:
        wrong = copy.deepcopy(module)
        for node in wrong.graph.nodes:
            if node.target is torch.ops.aten.sigmoid.default:
                node.target = torch.ops.aten.tanh.default
        return compiled(self, wrong, way)

    monkeypatch.setattr(partition._Partitioning, "_compile", without_sigmoid)
    model = nn.Sequential(
        nn.Linear(4, 4), nn.Tanh(), nn.Sigmoid(), nn.Linear(4, 4), nn.ReLU()
    ).eval()
    optimized = torch2mlir.optimize(model, allow_tracing, torch.randn(2, 4))
    check(optimized, model, *[(torch.randn(2, 4),) for _ in range(3)])
    report = optimized.report()
    assert [(row.op, row.reason[:20]) for row in report.kept] == [
        ("aten.sigmoid.default", "differs from PyTorch")
    ]
    assert len(report.clusters) == 2 and all(row.is_compiled for row in report.clusters)


class Deep(nn.Module):
    """One sigmoid among many ops, and one value of it that is a part of several."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(10):
            x = (x * 1.1 + 0.1).tanh()
        one, other = x.sigmoid().split(2, dim=1)
        x = one * other
        for _ in range(20):
            x = (x * 0.9 - 0.1).tanh()
        return x


@pytest.mark.parametrize("is_seen_open", [True, False])
def test_an_op_is_found_among_many(monkeypatch: pytest.MonkeyPatch, is_seen_open: bool) -> None:
    """By looking at all values at once, or, where an engine computes those right, by halves."""
    compiled = partition._Partitioning._compile
    compilations = list[int]()

    def without_sigmoid(self: Any, module: torch.fx.GraphModule, way: Way) -> Any:
        wrong = copy.deepcopy(module)
        results = len(wrong.graph.output_node().args[0])
        compilations.append(results)
        for node in wrong.graph.nodes:
            if node.target is torch.ops.aten.sigmoid.default and (is_seen_open or results < 10):
                node.target = torch.ops.aten.tanh.default
        return compiled(self, wrong, way)

    monkeypatch.setattr(partition._Partitioning, "_compile", without_sigmoid)
    model = Deep()
    optimized = torch2mlir.optimize(model, True, torch.randn(2, 4))
    check(optimized, model, *[(torch.randn(2, 4),) for _ in range(3)])
    report = optimized.report()
    assert [row.op for row in report.kept] == ["aten.sigmoid.default"]
    assert max(compilations) > 90  # all values of the cluster
    # the cluster, all its values, two beginnings, the two clusters that are left
    assert (len(compilations) == 6) == is_seen_open and len(compilations) < 16
