"""Functions that PyTorch's capture stops at, or takes other sizes for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.testing import assert_close
from torch.utils._pytree import tree_leaves

import torch2mlir
from torch2mlir.errors import Torch2MLIRError

PROGRAMS: dict[str, tuple[Callable[..., Any], Callable[[], tuple[Tensor, ...]]]] = {
    "a mask that repeats elements": (
        lambda x, mask: x.masked_select(mask) * 2,
        lambda: (torch.randn(2, 1, 3), torch.rand(4, 3) > 0.2),
    ),
    "a dimension from the end": (
        lambda x: torch.unique_consecutive(x, dim=-1),
        lambda: (torch.randint(0, 2, (3, 4)),),
    ),
    "counts of rows": (
        lambda x: x.unique_consecutive(return_inverse=True, return_counts=True, dim=-2),
        lambda: (torch.randint(0, 2, (5, 1)),),
    ),
    "pairs": (lambda x: torch.combinations(x) * 2, lambda: (torch.randn(5),)),
    "triples": (
        lambda x: torch.combinations(x, 3, with_replacement=True),
        lambda: (torch.randn(4),),
    ),
    "no pair": (lambda x: torch.combinations(x), lambda: (torch.randn(1),)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_eager_mode(name: str) -> None:
    program, arguments = PROGRAMS[name]
    ours = torch2mlir.compile(program, *arguments(), output_type="onnx")
    for _ in range(4):
        given = arguments()
        assert_close(ours(*given), program(*given))


def test_an_encoder_whose_mask_is_an_argument() -> None:
    """It looks whether the mask is the causal one, which no capture knows."""
    layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
    causal = torch.triu(torch.full((4, 4), -torch.inf), 1)

    def encoded(x: Tensor, mask: Tensor) -> Tensor:
        return encoder(x, mask=mask)  # type: ignore[no-any-return]

    with torch.no_grad():
        ours = torch2mlir.compile(encoded, torch.randn(2, 4, 8), causal, output_type="onnx")
        for mask in (causal, torch.randn(4, 4), torch.zeros(4, 4), causal.mT.contiguous()):
            x = torch.randn(2, 4, 8)
            assert_close(ours(x, mask), encoded(x, mask))


DISTRIBUTIONS: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "covariance": lambda m, c: torch.distributions.MultivariateNormal(
        m, covariance_matrix=c, validate_args=True
    ),
    "precision": lambda m, c: torch.distributions.MultivariateNormal(
        m, precision_matrix=c, validate_args=True
    ),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_matrices_of_distributions_are_checked(name: str) -> None:
    """Whether a matrix is symmetric and positive definite, PyTorch asks one after the other.

    TorchDynamo switches these checks off, for all of the process.
    """

    def probability(mean: Tensor, matrix: Tensor) -> Tensor:
        return DISTRIBUTIONS[name](mean, matrix).log_prob(mean + 1)  # type: ignore[no-any-return]

    matrix = torch.tensor([[2.0, 0.5], [0.5, 1.0]])
    ours = torch2mlir.compile(probability, torch.zeros(2), matrix, output_type="onnx")
    for each in (matrix, matrix + torch.eye(2), matrix * 3):
        mean = torch.randn(2)
        assert_close(ours(mean, each), probability(mean, each))
    for each in (-matrix, matrix + torch.tensor([[0.0, 1.0], [0.0, 0.0]])):
        with pytest.raises(ValueError, match="satisfy the constraint"):
            probability(torch.zeros(2), each)
        with pytest.raises(Torch2MLIRError):
            ours(torch.zeros(2), each)


SIZED: dict[str, Callable[[Tensor], Any]] = {
    "quantized": lambda x: torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127),
    "quantized by a tensor": lambda x: torch.fake_quantize_per_tensor_affine(
        x, torch.tensor(0.1), torch.tensor(0, dtype=torch.int32), -128, 127
    ),
    "quantized by column": lambda x: torch.fake_quantize_per_channel_affine(
        x, torch.tensor([0.1, 0.2, 0.3]), torch.zeros(3, dtype=torch.int32), 1, -128, 127
    ),
    "histogram": lambda x: torch.histogram(x, 5, range=(-2.0, 2.0)),
    "histogram by edges": lambda x: torch.histogram(x, torch.tensor([-1.0, 0.0, 2.0])),
    "complex variance": lambda x: torch.complex(x, x * x).var(0),
    "complex deviation": lambda x: torch.complex(x, x * x).std(),
}


@pytest.mark.parametrize("name", SIZED)
def test_sizes_that_vary(name: str) -> None:
    """PyTorch knows the results' sizes from a run of the op, or divides by a size as if it were known."""
    program = SIZED[name]
    ours = torch2mlir.compile(
        program, torch.randn(4, 3), output_type="onnx", dynamic_shapes=({0: Dim.AUTO},)
    )
    for rows in (4, 5, 2, 7):
        x = torch.randn(rows, 3)
        assert_close(tree_leaves(ours(x)), tree_leaves(program(x)))


def test_a_rank_that_the_export_of_pytorch_mistakes() -> None:
    class Rows(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.unique_consecutive(x, dim=-1)

    exported = torch.export.export(Rows(), (torch.zeros(4, 3),))
    with pytest.raises(Torch2MLIRError, match="a result has rank"):
        torch2mlir.compile(exported, output_type="onnx")


def test_a_dimension_that_is_not_there() -> None:
    with pytest.raises(Torch2MLIRError, match="out of range"):
        torch2mlir.compile(
            lambda x: torch.unique_consecutive(x, dim=5), torch.zeros(4, 3), output_type="onnx"
        )
