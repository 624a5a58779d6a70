"""Models that ``optimize`` captures region by region, because a call changes what they read."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

import torch2mlir
from torch2mlir.errors import CaptureError


class TakesGradients(nn.Module):
    """A gradient inside of a call: its backward pass is compiled while TorchDynamo looks on, which never ended."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        with torch.enable_grad():
            z = x.detach().clone().requires_grad_()
            [gradient] = torch.autograd.grad((z * z).sum(), z)
        return x + gradient * self.calls


class CountsCalls(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0
        self.part = nn.Tanh()
        self.sum = torch.zeros(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        self.sum.add_(x)
        return self.part(x) * self.calls + self.sum


def _agree(model: nn.Module, *changes: str) -> None:
    eager = copy.deepcopy(model)
    ours = torch2mlir.optimize(model, model_inputs=(torch.ones(3),))
    with torch.no_grad():
        for change in ("pass", *changes, "pass"):
            for each in (model, eager):
                exec(change, {"model": each})
            x = torch.randn(3)
            torch.testing.assert_close(ours(x), eager(x))
    assert "region by region" in str(ours.report())


def test_gradients_inside_of_a_call() -> None:
    _agree(TakesGradients())


def test_the_trial_leaves_plain_tensors_alone() -> None:
    """They had the sum of one call too many."""
    _agree(CountsCalls())


def test_methods_that_are_put_in_the_place_of_others() -> None:
    """Nor at the functions of a class."""

    class Part(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.inner(x)

        def inner(self, x: torch.Tensor) -> torch.Tensor:
            return x + 1

    class Inherits(nn.Linear):
        pass

    model = CountsCalls()
    model.part = nn.Sequential(Part(), Inherits(3, 3))
    _agree(
        model,
        "type(model.part[0]).inner = lambda self, x: x * 5",
        "type(model.part[0]).forward = lambda self, x: x * 7",
        "type(model.part[1]).forward = lambda self, x: x * 9",
        "model.part = model.part[0]",
        "type(model.part).forward = lambda self, x: x * 11",
    )


def test_hooks_that_come_later() -> None:
    """TorchDynamo does not look for them."""
    _agree(
        CountsCalls(),
        "model.part.register_forward_hook(lambda module, given, result: result + 2)",
        "model.register_forward_pre_hook(lambda module, given: (given[0] * 2,))",
    )


class Force(nn.Module):
    """What a potential's gradient says, in the caller's grad mode."""

    def __init__(self) -> None:
        super().__init__()
        self.energy = nn.Linear(6, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.detach().requires_grad_()
        return torch.autograd.grad(torch.tanh(self.energy(x)).sum(), x)[0]


def test_examples_of_a_model_that_differentiates() -> None:
    model = Force().eval()
    optimized = torch2mlir.optimize(model, True, model_inputs=(torch.randn(4, 6),))
    for _ in range(3):
        x = torch.randn(4, 6)
        torch.testing.assert_close(optimized(x), model(x))


class TwiceDifferentiated(nn.Module):
    """Two gradients of one graph, of which TorchDynamo captures the forward pass by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(3, 8), nn.Linear(8, 3)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            y = torch.sigmoid(self.outer(torch.tanh(self.inner(x))))
            torch._dynamo.graph_break()
            [first] = torch.autograd.grad(y.sum(), x, retain_graph=True)
            [second] = torch.autograd.grad(y.square().sum(), x)
        return first, second


@torch.no_grad()
def test_a_graph_that_is_differentiated_twice() -> None:
    model = TwiceDifferentiated().eval()
    optimized = torch2mlir.optimize(model)
    for rows in (4, 4, 2):
        x = torch.randn(rows, 3)
        torch.testing.assert_close(optimized(x), model(x))


class LearnsInCalls(nn.Module):
    """A forward pass that leaves gradients in the parameters."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            self.layer(x).sum().backward()
        return x.grad * 2


@torch.no_grad()
@pytest.mark.share(4)
@pytest.mark.parametrize("has_gradients", [False, True])
@pytest.mark.parametrize("has_examples", [False, True])
def test_gradients_that_calls_leave(has_gradients: bool, has_examples: bool) -> None:
    model = LearnsInCalls().eval()
    if has_gradients:
        model(torch.ones(2, 3))
    twin, x = copy.deepcopy(model), torch.randn(4, 3)
    for parameter, other in zip(twin.parameters(), model.parameters(), strict=True):
        parameter.grad = None if other.grad is None else other.grad.clone()
    held = model.layer.bias.grad
    optimized = torch2mlir.optimize(model, model_inputs=(x,) if has_examples else None)
    assert model.layer.bias.grad is held
    for _ in range(3):
        x = torch.randn(4, 3)
        torch.testing.assert_close(optimized(x), twin(x))
        torch.testing.assert_close(model.layer.weight.grad, twin.layer.weight.grad)
        torch.testing.assert_close(model.layer.bias.grad, twin.layer.bias.grad)
    with pytest.raises(CaptureError, match="backward"):
        torch2mlir.compile(model, x)
    torch.testing.assert_close(model.layer.bias.grad, twin.layer.bias.grad)


class AdaptsOneHead(nn.Module):
    """One of two heads is trained in the forward pass; the other one has no gradient, and no decay of its weights."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.trained, self.other = nn.Linear(3, 5), nn.Linear(5, 4), nn.Linear(5, 2)
        self.optimizer = torch.optim.SGD(self.parameters(), lr=0.1, weight_decay=0.1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        with torch.enable_grad():
            hidden = torch.relu(self.body(x))
            trained, other = self.trained(hidden), self.other(hidden)
            self.optimizer.zero_grad()
            trained.square().sum().backward()
            self.optimizer.step()
        return trained.detach(), other.detach()


@torch.no_grad()
@pytest.mark.share(2)
@pytest.mark.parametrize("allow_tracing", [False, True])
def test_weights_without_part_in_what_is_differentiated(allow_tracing: bool) -> None:
    model = AdaptsOneHead().eval()
    twin = copy.deepcopy(model)
    optimized = torch2mlir.optimize(model, allow_tracing)
    for _ in range(4):
        x = torch.randn(4, 3)
        torch.testing.assert_close(optimized(x), twin(x))
        assert model.other.weight.grad is None
    assert torch.equal(model.other.weight, twin.other.weight)


class GradientOfAnActivation(nn.Module):
    """What lies between two results of a graph is differentiated with respect to one of them."""

    def __init__(self, kept_by_hook: bool) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(3, 5), nn.Linear(5, 4)
        self.kept_by_hook = kept_by_hook
        self.kept: torch.Tensor | None = None
        if kept_by_hook:
            self.first.register_forward_hook(self._keep)

    def _keep(self, module: nn.Module, args: object, result: torch.Tensor) -> None:
        self.kept = result

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.enable_grad():
            activation = self.first(x)
            result = self.second(torch.relu(activation))
            weight = 1.0 if result.mean().item() > 0 else 2.0
            if self.kept_by_hook:
                activation, self.kept = self.kept, None
            loss = result[:, 1].sum() * weight + 0.1 * activation.square().sum()
            [gradient] = torch.autograd.grad(loss, activation, create_graph=True)
            [second] = torch.autograd.grad(gradient.square().sum(), activation)
        return (gradient * activation + second).detach()


@torch.no_grad()
@pytest.mark.share(2)
@pytest.mark.parametrize("kept_by_hook", [False, True])
def test_gradients_of_what_lies_between(kept_by_hook: bool) -> None:
    model = GradientOfAnActivation(kept_by_hook).eval()
    optimized = torch2mlir.optimize(model)
    for rows in (4, 4, 2):
        x = torch.randn(rows, 3)
        torch.testing.assert_close(optimized(x), model(x))
    assert "for gradients that the model computes" in str(optimized.report())


class CountingNorm(nn.Module):
    """Counts its calls beside a normalization, whose kernel writes to running statistics without saying so."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return self.norm(x) * self.calls


@torch.no_grad()
def test_running_statistics_beside_a_state_that_changes() -> None:
    model, wanted = CountingNorm().train(), CountingNorm().train()
    optimized = torch2mlir.optimize(model, model_inputs=(torch.randn(8, 4),))
    assert "ops compiled in 1 cluster" in str(optimized.report())
    for _ in range(3):
        x = torch.randn(8, 4)
        torch.testing.assert_close(optimized(x), wanted(x), atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(model.state_dict(), wanted.state_dict(), atol=1e-5, rtol=1e-5)
    assert model.calls == 3


def _mask_while_traced(x: torch.Tensor) -> torch.Tensor | None:
    return torch.ones(5) * x.sum() if torch.compiler.is_compiling() else None


class _Masked(nn.Module):
    def forward(self, x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        y = x * 2
        return (y if mask is None else y + mask).sin()


class _Masking(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.masked = _Masked()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.masked(x, _mask_while_traced(x))  # type: ignore[no-any-return]


def test_what_only_a_traced_model_raises_is_run_by_pytorch() -> None:
    """Python between regions was told that it is compiled, and its error went to the caller."""
    model = _Masking()
    optimized = torch2mlir.optimize(model, model_inputs=(torch.randn(4),))
    for _ in range(3):
        x = torch.randn(4)
        torch.testing.assert_close(optimized(x), model(x))
    assert "they raise RuntimeError" in str(optimized.report()).replace("\n", " ")
