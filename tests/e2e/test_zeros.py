"""The reasons of ``zeros.py``, on PyTorch alone: zeros of the same meaning come with either sign."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._decomp import core_aten_decompositions, decomposition_table
from torch.fx.experimental.proxy_tensor import make_fx

aten = torch.ops.aten


def signs_differ(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two zeros at the same place have different signs, where all else agrees."""
    torch.testing.assert_close(one, other)
    return bool(((one == 0) & (other == 0) & (one.signbit() != other.signbit())).any())


def relu() -> tuple[Any, ...]:
    return (torch.tensor([-0.0, 1.0]),)


def bilinear_samples() -> tuple[Any, ...]:
    torch.manual_seed(0)
    return (torch.randn(2, 3, 5, 6), torch.rand(2, 4, 4, 2) * 4 - 2, 0, 0, False)


def nearest_samples() -> tuple[Any, ...]:
    x, grid, *_ = bilinear_samples()
    return (x, grid, 1, 0, False)


def likelihood() -> tuple[Any, ...]:
    scores, gradient = torch.zeros(2, 3).log_softmax(1), torch.tensor([-1.0, 1.0])
    return (gradient, scores, torch.tensor([0, 1]), None, 0, -100, torch.tensor(0.0))


@pytest.mark.parametrize(
    ("op", "arguments"),
    [
        (aten.relu.default, relu),
        (aten.grid_sampler_2d.default, bilinear_samples),
        (aten.grid_sampler_2d.default, nearest_samples),
        (aten.nll_loss_backward.default, likelihood),
    ],
)
def test_a_kernel_and_its_decomposition_differ(op: Any, arguments: Callable[[], Any]) -> None:
    args = arguments()
    assert signs_differ(op(*args), decomposition_table[op](*args))


def test_the_gradient_of_a_smoothed_cross_entropy_differs_from_that_of_its_decomposition() -> None:
    torch.manual_seed(0)
    scores, weights, labels = torch.randn(4, 5), torch.rand(5), torch.tensor([0, 1, -100, 3])

    def gradient(scores: torch.Tensor) -> torch.Tensor:
        x = scores.detach().requires_grad_()
        loss = torch.nn.functional.cross_entropy(x, labels, weights, label_smoothing=0.2)
        return torch.autograd.grad(loss, x)[0]

    decomposed = make_fx(gradient, core_aten_decompositions())(scores)
    assert signs_differ(gradient(scores), decomposed(scores))


def test_the_gradient_of_a_weighted_margin_differs_from_that_of_its_decomposition() -> None:
    scores, labels = torch.tensor([[5.0, 0.0, 4.5]]), torch.tensor([0])
    weights, gradient = torch.full((3,), 0.5), torch.tensor([-0.5])
    op = aten.multi_margin_loss.default

    def gradient_of(function: Callable[..., torch.Tensor]) -> torch.Tensor:
        x = scores.clone().requires_grad_()
        loss = function(x, labels, 1, 1.0, weights, 0)
        return torch.autograd.grad(loss, x, gradient)[0]

    assert signs_differ(gradient_of(op), gradient_of(decomposition_table[op]))


@pytest.mark.parametrize("function", [torch.maximum, torch.minimum])
def test_a_maximum_of_zeros_depends_on_the_order(function: Callable[..., torch.Tensor]) -> None:
    plus, minus = torch.zeros(3), -torch.zeros(3)
    assert signs_differ(function(plus, minus), function(minus, plus))


def test_the_last_elements_of_a_shrunk_vector_have_other_signs() -> None:
    x = torch.full((17,), -0.1)
    shrunk = torch.nn.functional.softshrink(x, 0.5)
    assert signs_differ(shrunk[:1], shrunk[-1:]) or signs_differ(
        shrunk[:1], torch.nn.functional.softshrink(x[:1], 0.5)
    )


def test_zeros_of_gelu_depend_on_the_processor() -> None:
    x = torch.full((16,), -100.0)
    with torch.backends.mkldnn.flags(enabled=False):
        own = torch.nn.functional.gelu(x)
    differ = signs_differ(torch.nn.functional.gelu(x), own)
    assert differ or torch.backends.cpu.get_cpu_capability() == "AVX512"


@pytest.mark.parametrize(("degree", "x"), [(9.0, 0.0), (11.0, 0.5), (11.0, -0.5)])
def test_pytorch_has_two_forms_of_a_polynomial_that_differ_at_its_roots(
    degree: float, x: float
) -> None:
    before, value = 1.0, 2 * x  # by recurrence, as PyTorch does where the degree is small
    for _ in range(int(degree) - 1):
        before, value = value, 2 * x * value - before
    by_angles = torch.special.chebyshev_polynomial_u(torch.tensor([x]), torch.tensor([degree]))
    assert value == 0
    assert 0 < abs(by_angles.item()) < 1e-5
