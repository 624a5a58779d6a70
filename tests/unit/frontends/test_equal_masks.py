"""Tensors chosen by one mask twice: their sizes are equal, and PyTorch has a symbol for each of them."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional

import torch2mlir


def _labels_first(logits: Tensor, scores: Tensor) -> tuple[Tensor, ...]:
    labels = (scores[scores > 0.2] * 3).long()
    return functional.cross_entropy(logits[scores > 0.2], labels), functional.one_hot(labels, 4)


def _logits_first(logits: Tensor, scores: Tensor) -> tuple[Tensor, ...]:
    chosen = logits[scores > 0.2]
    labels = (scores[scores > 0.2] * 3).long()
    return functional.cross_entropy(chosen, labels), chosen[:, 0] * labels


def _of_three(logits: Tensor, scores: Tensor) -> tuple[Tensor, ...]:
    weights = scores[scores > 0.2].double()
    first, second = logits[scores > 0.2], logits[scores > 0.2].int()
    return first[:, 1] * weights + second[:, 2], weights.cumsum(0) - second[:, 0]


def _arguments(*scores: float) -> tuple[Tensor, Tensor]:
    return torch.randn(len(scores), 4), torch.tensor(scores)


@pytest.mark.share(6)
@pytest.mark.parametrize("engine", ["iree", "reference"])
@pytest.mark.parametrize("program", [_labels_first, _logits_first, _of_three])
def test_in_either_order(program, engine: str) -> None:
    """What the tensor that came first was made into had the size of the second, which was not there yet."""
    example = _arguments(0.5, 0.1, 0.9, 0.3)
    compiled = torch2mlir.compile(program, *example, output_type="linalg-on-tensors", engine=engine)
    for scores in ((0.1, 0.3, 0.2, 0.1), (0.9, 0.8, 0.7, 0.6), (0.0, 0.5, 0.0, 0.4)):
        given = _arguments(*scores)
        torch.testing.assert_close(compiled(*given), program(*given))


def test_masks_that_choose_different_numbers_are_an_error() -> None:
    def program(x: Tensor, y: Tensor) -> Tensor:
        return x[x > 0].double() + y[y > 0].int()

    x, y = torch.tensor([1.0, -1.0, 2.0]), torch.tensor([-3.0, 4.0, 5.0])
    compiled = torch2mlir.compile(program, x, y, output_type="linalg-on-tensors")
    for given in ((x, y), (y, x), (-x, -y)):
        torch.testing.assert_close(compiled(*given), program(*given))
    with pytest.raises(torch2mlir.InputError, match="does not hold"):
        compiled(x, y.abs())
