"""A model that gives its weights other memory keeps real ones: a trace has tensors without elements in their place."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import torch2mlir
from torch2mlir.errors import Torch2MLIRError


class Halved(nn.Module):
    """Halves a weight in each call, by its ``data``."""

    def __init__(self, how: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(3, 3))
        self.how = how

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.weight.data = self.how(self.weight.data)
        return x @ self.weight


HOWS = (lambda w: w * 0.5, lambda w: torch.nn.functional.normalize(w, dim=0))


def called_by_a_function(model: nn.Module) -> Any:
    return lambda x: model(x)


def itself(model: nn.Module) -> Any:
    return model


@pytest.mark.parametrize("how", HOWS, ids=["halved", "normalized"])
@pytest.mark.parametrize("given_as", [called_by_a_function, itself])
def test_optimize_leaves_them(
    given_as: Callable[[nn.Module], Any], how: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    model = Halved(how)
    eager, x = copy.deepcopy(model), torch.rand(2, 3)
    with torch.no_grad():
        optimized = torch2mlir.optimize(given_as(model), model_inputs=(x,))
        assert torch.equal(model.weight, eager.weight)
        for _ in range(3):
            x = torch.rand(2, 3)
            torch.testing.assert_close(optimized(x), eager(x))
            torch.testing.assert_close(model.weight, eager.weight)


def test_optimize_takes_weights_that_the_first_call_makes() -> None:
    """PyTorch refuses to copy them before, as trials did."""
    layers = nn.LazyLinear(4), nn.LazyBatchNorm1d(), nn.ReLU(), nn.LazyLinear(2)
    model, x = nn.Sequential(*layers).eval(), torch.rand(2, 3)
    with torch.no_grad():
        optimized = torch2mlir.optimize(model, model_inputs=(x,))
        for _ in range(3):
            x = torch.rand(2, 3)
            torch.testing.assert_close(optimized(x), model(x))


@pytest.mark.parametrize("given_as", [called_by_a_function, itself])
def test_compile_refuses_and_leaves_them(given_as: Callable[[nn.Module], Any]) -> None:
    model, x = Halved(HOWS[0]), torch.rand(2, 3)
    weight = model.weight.detach().clone()
    with torch.no_grad(), pytest.raises(Torch2MLIRError):
        torch2mlir.compile(given_as(model), x, output_type="stablehlo")
    assert torch.equal(model.weight, weight)
