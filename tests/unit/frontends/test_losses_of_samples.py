"""Losses of each sample of a batch that varies, in programs that write in place: refused, as if they had no dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.export import Dim
from torch.testing import assert_close

import torch2mlir


def without_the_first(scores: Tensor, classes: Tensor) -> Tensor:
    losses = F.cross_entropy(scores, classes, reduction="none")
    losses[0] = 0
    return losses


def weighted(scores: Tensor, classes: Tensor) -> tuple[Tensor, ...]:
    written = scores.clone()
    written[:, 0] = 0
    weights = torch.arange(1.0, 6.0)
    return (
        F.cross_entropy(written, classes, weights, reduction="none"),
        F.nll_loss(scores.log_softmax(1), classes, reduction="none"),
        F.cross_entropy(scores, classes, reduction="sum", label_smoothing=0.1),
        written,
    )


def of_pairs(scores: Tensor, classes: Tensor) -> tuple[Tensor, ...]:
    written, sides = scores.clone(), (classes * 2 - 1).sign().float()
    written[:, 0] = 0
    return (
        F.hinge_embedding_loss(scores[:, 0], sides, reduction="none"),
        F.margin_ranking_loss(scores[:, 0], written[:, 1], sides, reduction="sum"),
        F.cosine_embedding_loss(scores, scores * 2 + 1, sides, reduction="none"),
        F.triplet_margin_loss(scores, scores + 1, scores * 2, reduction="none"),
        F.kl_div(scores, scores.softmax(1), reduction="none"),
    )


@pytest.mark.share(5)
@pytest.mark.parametrize("function", [without_the_first, weighted, of_pairs])
@pytest.mark.parametrize("output_type", ["stablehlo", "linalg-on-tensors", "tosa", "onnx"])
def test_a_loss_of_each_sample(function: Callable[..., Any], output_type: str) -> None:
    batch = Dim("batch", min=1, max=6)

    def arguments(count: int) -> tuple[Tensor, Tensor]:
        return torch.randn(count, 5), torch.randint(0, 5, (count,))

    compiled = torch2mlir.compile(
        function, *arguments(2), dynamic_shapes=({0: batch}, {0: batch}), output_type=output_type
    )
    for count in (2, 1, 6, 3):
        given = arguments(count)
        assert_close(compiled(*given), function(*given), rtol=1e-4, atol=1e-5)
