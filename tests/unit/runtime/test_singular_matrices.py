"""Matrices that eager mode refuses to invert, solve or factor: a compiled function gave NaN for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import torch2mlir
from torch2mlir.errors import InputError

SINGULAR, INDEFINITE = (
    torch.tensor([[1.0, 2.0], [2.0, 4.0]]),
    torch.tensor([[1.0, 2.0], [2.0, 1.0]]),
)
FUNCTIONS: dict[str, tuple[Callable[[Tensor], Any], Tensor]] = {
    "inverse": (lambda x: torch.linalg.inv(x), SINGULAR),
    "method": (lambda x: torch.stack([x, x]).inverse(), SINGULAR),
    "solution": (lambda x: torch.linalg.solve(x, x[:, 0]), SINGULAR),
    "solution from the right": (lambda x: torch.linalg.solve(x, x + 1, left=False), SINGULAR),
    "factors": (lambda x: torch.linalg.lu_factor(x), SINGULAR),
    "field of factors": (lambda x: torch.linalg.lu_factor(x).LU, SINGULAR),
    "cholesky": (lambda x: torch.linalg.cholesky(x, upper=True), INDEFINITE),
}
TARGETS = [
    ("stablehlo", "xla"),
    ("onnx", "onnxruntime"),
    ("tosa", "iree"),
    ("linalg-on-tensors", "iree"),
]


@pytest.mark.share(16)
@pytest.mark.parametrize(("output_type", "engine"), TARGETS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_they_are_refused(name: str, output_type: str, engine: str) -> None:
    function, refused = FUNCTIONS[name]

    def drawn() -> Tensor:
        x = torch.randn(2, 2)
        return x @ x.mT + torch.eye(2)

    compiled = torch2mlir.compile(function, drawn(), output_type=output_type, engine=engine)
    for _ in range(3):
        x = drawn()
        torch.testing.assert_close(compiled(x), function(x), atol=1e-3, rtol=1e-3)
    with pytest.raises(RuntimeError, match="singular|positive-definite|division by zero"):
        function(refused)
    with pytest.raises(InputError, match="the matrix is (singular|not positive-definite)"):
        compiled(refused)


def test_within_transforms_they_are_not() -> None:
    """PyTorch has no assertion there."""

    def inverses(x: Tensor) -> Tensor:
        return torch.func.vmap(torch.linalg.inv)(torch.stack([x, x + 1]))

    x = torch.eye(2)
    compiled = torch2mlir.compile(inverses, x)
    torch.testing.assert_close(compiled(x), inverses(x))


@torch.no_grad()
def test_an_optimized_function_raises_as_eager_mode() -> None:
    optimized = torch2mlir.optimize(lambda x: torch.linalg.inv(x) * 2, model_inputs=(torch.eye(2),))
    with pytest.raises(RuntimeError, match="singular"):
        optimized(SINGULAR)


def _upper(a: Tensor, b: Tensor) -> Tensor:
    return torch.linalg.solve_triangular(a, b, upper=True)


def _lower(a: Tensor, b: Tensor) -> Tensor:
    return torch.linalg.solve_triangular(a, b, upper=False)


def _by_cholesky(a: Tensor, b: Tensor) -> Tensor:
    return torch.cholesky_solve(b, a)


@pytest.mark.share(4)
@pytest.mark.parametrize(("output_type", "engine"), TARGETS)
@pytest.mark.parametrize("function", [_upper, _lower, _by_cholesky])
def test_zeros_on_a_triangle(
    function: Callable[[Tensor, Tensor], Tensor], output_type: str, engine: str
) -> None:
    """Rows that do not depend on the infinite one were NaN."""
    triangle = torch.tensor([[4.0, 0.0], [2.0, 0.0]])
    a = triangle.flip(0, 1) if function is _upper else triangle
    compiled = torch2mlir.compile(
        function, torch.eye(2), torch.ones(2, 1), output_type=output_type, engine=engine
    )
    for b in (torch.tensor([[1.0], [8.0]]), torch.tensor([[-2.0], [3.0]])):
        for each in (a, torch.zeros(2, 2), a + torch.eye(2)):
            assert torch.equal(compiled(each, b).nan_to_num(7), function(each, b).nan_to_num(7))
