"""``optimize`` of programs that write to what shares memory: the results and the arguments are eager mode's."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
from torch import nn

import torch2mlir
from tests.e2e.cases.mutation import UNDECLARED_VIEWS


class Written(nn.Module):
    """A tensor and a view of it are written, by either name."""

    def __init__(self, view: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.view = view

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = torch.exp(x)
        part = self.view(y)
        y.mul_(2)
        self.view(x).add_(1)
        return part + 1, x * 2


@pytest.mark.share(4)
@pytest.mark.parametrize("name", UNDECLARED_VIEWS)
def test_views_that_schemas_do_not_declare_are_written(name: str) -> None:
    model = Written(UNDECLARED_VIEWS[name]).eval()
    x = torch.linspace(-2, 2, 16).view(4, 4)
    optimized = torch2mlir.optimize(
        model, model_inputs=(x.clone(),), verify=False, min_cluster_size=1
    )
    for ours in (x.clone(), x.flip(0), x * 2):
        theirs = ours.clone()
        with torch.no_grad():
            torch.testing.assert_close(optimized(ours), copy.deepcopy(model)(theirs))
        torch.testing.assert_close(ours, theirs)
    assert any(row.is_compiled for row in optimized.report().clusters)
