"""Regions in PyTorch with prepared weights: eager's results, also for changed weights, NaN and infinities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.fx import GraphModule

from torch2mlir.errors import EngineError
from torch2mlir.hybrid.prepared import prepared


class Residual(nn.Module):
    """Convolutions with norms, a sum and activations of several kinds."""

    def __init__(self, activation: nn.Module, bias: bool) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1, bias=bias)
        self.norm = nn.BatchNorm2d(8)
        self.second = nn.Conv2d(8, 8, 3, padding=1, groups=2, bias=False)
        self.norm2 = nn.BatchNorm2d(8)
        self.activation = activation
        self.head = nn.Linear(8, 5, bias=bias)
        for norm in (self.norm, self.norm2):
            norm.running_mean.normal_()
            norm.running_var.uniform_(0.5, 2)
            nn.init.normal_(norm.weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.activation(self.norm(self.first(x)))
        y = torch.relu(self.norm2(self.second(y)) + y)
        return self.head(y.mean((2, 3))).sigmoid()


class Block(nn.Module):
    """Products of matrices, with what follows them in transformers."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(16, 32), nn.Linear(32, 16)
        self.weight, self.bias = nn.Parameter(torch.randn(16, 8)), nn.Parameter(torch.randn(8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.down(nn.functional.gelu(self.up(x))) + x
        return torch.addmm(self.bias, y.view(-1, 16), self.weight)


def region_of(model: nn.Module, x: torch.Tensor, decomposed: bool) -> GraphModule:
    exported = torch.export.export(model, (x,))
    return (exported.run_decompositions({}) if decomposed else exported).module(check_guards=False)


def calls_of(call: Callable[..., Any]) -> set[str]:
    module: GraphModule = call._module  # type: ignore[attr-defined]
    return {str(node.target) for node in module.graph.nodes if node.op == "call_function"}


def agree(call: Callable[..., Any], model: nn.Module, *inputs: torch.Tensor) -> None:
    for x in inputs:
        with torch.no_grad():
            (result,) = call(x)
            expected = model(x)
        assert result.is_contiguous()
        torch.testing.assert_close(result, expected, equal_nan=True)


ACTIVATIONS = [nn.ReLU(), nn.SiLU(), nn.GELU(), nn.Hardswish(), nn.LeakyReLU(), nn.ReLU6()]


@pytest.mark.share(12)
@pytest.mark.parametrize("decomposed", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("activation", ACTIVATIONS, ids=lambda a: type(a).__name__)
def test_networks_of_convolutions(activation: nn.Module, bias: bool, decomposed: bool) -> None:
    torch.manual_seed(0)
    model, x = Residual(activation, bias).eval(), torch.randn(2, 3, 9, 9)
    call = prepared(region_of(model, x, decomposed))
    assert call is not None
    used = calls_of(call)
    assert "mkldnn._convolution_pointwise.binary" in used
    assert not any("batch_norm" in name for name in used)
    strange = torch.randn(2, 3, 9, 9)
    strange[0, 0, 0, 0], strange[1, 1, 4, 4] = float("nan"), float("inf")
    agree(call, model, x, torch.randn(2, 3, 9, 9), strange)


@pytest.mark.parametrize("decomposed", [False, True])
def test_networks_of_matrices(decomposed: bool) -> None:
    torch.manual_seed(0)
    model, x = Block().eval(), torch.randn(2, 6, 16)
    call = prepared(region_of(model, x, decomposed))
    assert call is not None
    assert any("_linear_pointwise" in name for name in calls_of(call))
    agree(call, model, x, torch.randn(2, 6, 16), torch.full((2, 6, 16), float("inf")))


def test_weights_that_change_are_prepared_again() -> None:
    torch.manual_seed(0)
    model, x = Residual(nn.SiLU(), True).eval(), torch.randn(1, 3, 5, 5)
    region = region_of(model, x, False)
    call = prepared(region)
    assert call is not None
    agree(call, model, x)
    with torch.no_grad():
        model.first.weight.mul_(2)
        model.norm2.running_mean.add_(1)
        model.head.bias.zero_()
    agree(call, model, x)


def test_norms_that_cannot_be_folded_are_an_error() -> None:
    model, x = Residual(nn.SiLU(), True).eval(), torch.randn(1, 3, 5, 5)
    with torch.no_grad():
        model.norm.running_var.fill_(-1.0)
    call = prepared(region_of(model, x, False))
    assert call is not None
    with pytest.raises(EngineError, match="leaves the range of f32"):
        call(x)


def test_what_reads_memory_by_strides_is_left_alone() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(3, 8, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.as_strided(self.conv(x), (2, 3), (1, 4))

    x = torch.randn(1, 3, 5, 5)
    assert prepared(region_of(Model().eval(), x, False)) is None


def test_without_products_there_is_nothing_to_prepare() -> None:
    assert prepared(region_of(nn.Sequential(nn.Tanh(), nn.ReLU()), torch.ones(3), False)) is None
