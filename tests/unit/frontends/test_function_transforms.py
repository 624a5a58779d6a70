"""``torch.func``: training steps, Jacobians and their kin inside a model compile, or are refused in plain words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad, grad_and_value, hessian, jacrev, jvp, vjp, vmap

import torch2mlir
from torch2mlir.errors import CaptureError
from torch2mlir.frontends.fx.function_transforms import transforms_ended


class Step(nn.Module):
    """One step of gradient descent: the loss, the new weights, and a counter of its own."""

    steps: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))
        self.register_buffer("steps", torch.tensor(0))

    def forward(self, x: torch.Tensor, target: torch.Tensor) -> Any:
        weights = dict(self.layers.named_parameters())

        def loss(weights: dict[str, torch.Tensor]) -> torch.Tensor:
            return F.cross_entropy(functional_call(self.layers, weights, (x,)), target)

        gradients, value = grad_and_value(loss)(weights)
        self.steps += 1
        return value, {name: weights[name] - 0.1 * gradients[name] for name in weights}


@pytest.mark.parametrize("output_type", ["stablehlo", "linalg-on-tensors", "tosa"])
@pytest.mark.parametrize("is_dynamic", [False, True])
@pytest.mark.share(6)
def test_a_training_step_by_grad(output_type: str, is_dynamic: bool) -> None:
    step, eager = Step(), Step()
    eager.load_state_dict(step.state_dict())
    rows = {0: torch.export.Dim("rows", min=2, max=16)} if is_dynamic else None
    compiled = torch2mlir.compile(
        step, torch.randn(6, 4), torch.randint(0, 3, (6,)),
        output_type=output_type, dynamic_shapes=(rows, rows) if is_dynamic else None,
    )  # fmt: skip
    for count in (6, 9, 3) if is_dynamic else (6, 6, 6):
        x, target = torch.randn(count, 4), torch.randint(0, 3, (count,))
        with torch.no_grad():
            torch.testing.assert_close(compiled(x, target), eager(x, target), rtol=1e-4, atol=1e-5)
        assert step.steps == eager.steps


def _energy(x: torch.Tensor) -> torch.Tensor:
    return (x.sin() * x.flip(0)).sum() + x.norm()


PROGRAMS: dict[str, Callable[..., Any]] = {
    "grad of grad": lambda x: grad(lambda v: grad(_energy)(v).pow(2).sum())(x[0]),
    "vmap of hessian": lambda x: vmap(hessian(_energy))(x),
    "jacrev": lambda x: vmap(jacrev(lambda v: v.cumsum(0) * v))(x),
    "jvp": lambda x: jvp(lambda v: v.softmax(1) @ v.T, (x,), (x * 2,)),
    "vmap to another place": lambda x: vmap(lambda v: v * 2 + v.sum(), in_dims=1, out_dims=1)(x),
    "vmap of powers": lambda x: vmap(lambda v: v.pow(2), in_dims=1)(x) @ x,
    "vmap of vmap": lambda x: vmap(lambda v: vmap(lambda e: e * v, out_dims=1)(x), out_dims=2)(x),
    "vjp": lambda x: vjp(lambda v: v.exp(), x)[1](x)[0],
}


@pytest.mark.share(6)
@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_agree_with_eager(name: str) -> None:
    program = PROGRAMS[name]
    compiled = torch2mlir.compile(program, torch.randn(4, 3))
    for _ in range(3):
        x = torch.randn(4, 3)
        torch.testing.assert_close(compiled(x), program(x), rtol=1e-4, atol=1e-5)


def test_what_pytorch_exports_with_wrapped_constants_is_refused() -> None:
    class Model(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return grad(lambda v: (v * v).sum())(x)  # type: ignore[no-any-return]

    exported = torch.export.export(Model(), (torch.randn(3),))
    with pytest.raises(CaptureError, match="torch.func.grad .* as constants") as caught:
        torch2mlir.compile(exported)
    assert "compile the model itself" in str(caught.value)


@pytest.mark.parametrize("output_type", ["stablehlo", "linalg-on-tensors", "tosa"])
@pytest.mark.share(3)
def test_gradients_of_linear_algebra(output_type: str) -> None:
    """PyTorch orders the checks of its results by tokens, which are arguments of the program below autograd."""

    def gradients(x: torch.Tensor) -> torch.Tensor:
        def value(x: torch.Tensor) -> torch.Tensor:
            solved = torch.linalg.solve(x, x[:, :2] * 2 + 1)
            return torch.linalg.inv(x).sum() + solved.sum() + torch.linalg.slogdet(x)[1]

        return grad(value)(x)

    def matrix() -> torch.Tensor:
        return torch.randn(3, 3) + 3 * torch.eye(3)

    compiled = torch2mlir.compile(gradients, matrix(), output_type=output_type)
    for _ in range(3):
        x = matrix()
        torch.testing.assert_close(compiled(x), gradients(x), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("output_type", ["stablehlo", "linalg-on-tensors", "tosa"])
@pytest.mark.share(3)
def test_writes_before_linear_algebra(output_type: str) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        y = x.clone()
        y.diagonal()[:] += 5
        return torch.linalg.inv(y)

    compiled = torch2mlir.compile(program, torch.randn(3, 3), output_type=output_type)
    for _ in range(3):
        x = torch.randn(3, 3)
        torch.testing.assert_close(compiled(x), program(x), rtol=1e-3, atol=1e-4)


def test_transforms_that_fail_are_ended() -> None:
    """What is called after a ``torch.vmap`` without an end would be a part of it."""

    def fails(x: torch.Tensor) -> torch.Tensor:
        torch._C._functorch._vmap_increment_nesting(2, "error")
        raise ValueError("no luck today")

    with pytest.raises(ValueError), transforms_ended():
        fails(torch.ones(2))
    assert torch._C._functorch.peek_interpreter_stack() is None
    assert torch.randn(2).shape == (2,)
