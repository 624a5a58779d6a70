"""``ctc_loss`` and its gradient, whose sizes PyTorch's own capture takes for decided by elements."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.func import grad

import torch2mlir

TARGETS = torch.tensor([[1, 1, 2], [3, 1, 4], [2, 2, 2], [1, 2, 3]])


def losses(scores: Tensor, targets: Tensor, times: Tensor, counts: Tensor) -> Any:
    def loss(scores: Tensor) -> Tensor:
        log_probs = scores.log_softmax(-1)
        return F.ctc_loss(log_probs, targets, times, counts, zero_infinity=True)

    each = F.ctc_loss(scores.log_softmax(-1), targets, times, counts, reduction="none")
    return each, loss(scores), grad(loss)(scores)


def assert_agrees(program: Any, compiled: Any, *others: Tensor) -> None:
    for _ in range(3):
        scores = torch.randn(6, 4, 5)
        for mine, theirs in zip(compiled(scores, *others), program(scores, *others), strict=True):
            torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("output_type", ["stablehlo", "linalg-on-tensors", "tosa"])
@pytest.mark.share(3)
def test_targets_of_all_lengths(output_type: str) -> None:
    """An alignment of 2, 2, 2 needs five steps, which its input does not have: its loss is infinite."""
    torch.manual_seed(0)
    given = (TARGETS, torch.tensor([6, 4, 3, 5]), torch.tensor([3, 2, 3, 0]))
    compiled = torch2mlir.compile(losses, torch.randn(6, 4, 5), *given, output_type=output_type)
    assert_agrees(losses, compiled, *given)
    assert_agrees(
        losses, compiled, TARGETS.flip(1), torch.tensor([5, 6, 6, 1]), torch.tensor([1, 3, 3, 1])
    )


def test_targets_one_behind_the_other() -> None:
    torch.manual_seed(0)
    targets = torch.tensor([1, 4, 2, 2, 3])

    def of_lists(scores: Tensor) -> Any:
        log_probs = scores.log_softmax(-1)  # PyTorch cannot export the mean
        return (F.ctc_loss(log_probs, targets, (6, 6, 5, 4), (2, 1, 0, 2), reduction="sum"),)

    assert_agrees(of_lists, torch2mlir.compile(of_lists, torch.randn(6, 4, 5)))


@pytest.mark.share(2)
@pytest.mark.parametrize("width", [4, 3])
def test_gradient_of_eagers_alignments(width: int) -> None:
    """Where no target is as long as the tensor of targets, eager mode keeps fewer places than that has."""
    torch.manual_seed(0)
    log_probs, targets = torch.randn(6, 2, 5).log_softmax(-1), torch.randint(1, 5, (2, width))
    loss, alpha = torch.ops.aten._ctc_loss(log_probs, targets, (6, 5), (3, 1))

    def gradient(log_probs: Tensor, targets: Tensor, loss: Tensor, alpha: Tensor) -> Tensor:
        ones = torch.ones_like(loss)
        return torch.ops.aten._ctc_loss_backward(
            ones, log_probs, targets, (6, 5), (3, 1), loss, alpha, 0
        )

    compiled = torch2mlir.compile(gradient, log_probs, targets, loss, alpha)
    for unwritten in (0.0, torch.nan, torch.inf):  # eager mode leaves there what memory held
        alpha[1, :, 3:] = alpha[1, 5:] = unwritten
        given = log_probs, targets, loss, alpha
        torch.testing.assert_close(compiled(*given), gradient(*given), rtol=1e-4, atol=1e-5)
