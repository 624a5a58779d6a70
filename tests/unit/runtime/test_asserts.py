"""What a program asserts of elements, and what PyTorch's functions refuse, is refused in a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import torch2mlir

f = torch.nn.functional
X = torch.arange(1.0, 7).reshape(2, 3)


def _asserting(x: torch.Tensor) -> torch.Tensor:
    torch._assert_async((x > 0).all(), "x is positive")
    return x * 2


def _weighted(x: torch.Tensor) -> torch.Tensor:
    return torch.cov(x, aweights=x[0])


def _loss(x: torch.Tensor) -> torch.Tensor:
    return f.gaussian_nll_loss(x, x * 2, x)


@pytest.mark.share(8)
@pytest.mark.parametrize(
    ("function", "message"),
    [(_asserting, "x is positive"), (_weighted, "cannot be negative"), (_loss, "negative entries")],
)
@pytest.mark.parametrize("output_type", ["stablehlo", "linalg-on-tensors", "tosa", "onnx"])
def test_elements_that_are_refused(
    function: Callable[..., Any], message: str, output_type: str
) -> None:
    compiled = torch2mlir.compile(function, X, output_type=output_type)
    torch.testing.assert_close(compiled(X), function(X))
    with pytest.raises(torch2mlir.InputError, match=message):
        compiled(-X)
    torch.testing.assert_close(compiled(X + 1), function(X + 1))


PROGRAMS = {
    "cov": torch.cov,
    "cov_of_integers": lambda x: torch.cov(x.long()),
    "cov_counted": lambda x: x.cov(correction=0, fweights=torch.tensor([1, 2, 3])),
    "cov_weighted": lambda x: torch.cov(x, fweights=torch.tensor([1, 0, 3]), aweights=x[1]),
    "cov_of_complex": lambda x: torch.cov(torch.complex(x, x.square())),
    "cov_of_one": lambda x: (torch.cov(x[0]), torch.corrcoef(x[0])),
    "corrcoef": lambda x: (torch.corrcoef(x.sin()), x.cos().corrcoef()),
    "loss_of_each": lambda x: f.gaussian_nll_loss(x, x * 2, x[:, :1], reduction="none"),
    "loss_of_one_variance": lambda x: f.gaussian_nll_loss(x, x * 2, x[:, 0], full=True),
    "loss_of_number": lambda x: f.gaussian_nll_loss(x, x * 2, 0.5, reduction="sum"),
}


@pytest.mark.share(4)
@pytest.mark.parametrize("function", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_functions_that_look_at_elements(function: Callable[..., Any]) -> None:
    compiled = torch2mlir.compile(function, X)
    for x in (X, X + 1, X.flip(0) * 2):
        torch.testing.assert_close(compiled(x), function(x))


def test_covariances_of_any_number_of_observations() -> None:
    any_size = torch.export.Dim.DYNAMIC
    compiled = torch2mlir.compile(
        lambda x: torch.corrcoef(x),
        torch.randn(4, 6),
        engine="iree",
        dynamic_shapes=({0: any_size, 1: any_size},),
    )
    for rows, columns in ((4, 6), (3, 9), (2, 4)):
        x = torch.randn(rows, columns)
        torch.testing.assert_close(compiled(x), torch.corrcoef(x))


def test_variances_that_eager_refuses_are_refused() -> None:
    for var in (X[:1, :1], X[:, :2], X[0, 0], X[None]):
        with pytest.raises(ValueError, match="incorrect size"):
            f.gaussian_nll_loss(X, X, var)
        with pytest.raises(torch2mlir.CaptureError, match="incorrect size"):
            torch2mlir.compile(lambda x, v: f.gaussian_nll_loss(x, x, v), X, var)
