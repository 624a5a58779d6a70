"""Losses of all tokens of a batch: the rows of one argument are as many as the elements of another, whatever the factors."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.export import Dim

import torch2mlir
from tests.e2e.agreement import assert_agrees
from tests.e2e.configurations import TARGETS, require

CLASSES = 5


def of_all_tokens(h: Tensor, y: Tensor) -> Tensor:
    return F.cross_entropy(h.view(-1, CLASSES), y.view(-1))


def of_the_next_tokens(h: Tensor, y: Tensor) -> Tensor:
    return F.cross_entropy(h[:, :-1].reshape(-1, CLASSES), y[:, 1:].reshape(-1))


def of_padded_tokens(h: Tensor, y: Tensor) -> Tensor:
    """As models of transformers do: the labels get one more, and lose the first."""
    shifted = F.pad(y, (0, 1), value=-100)[..., 1:].contiguous()
    return F.cross_entropy(h.view(-1, CLASSES), shifted.view(-1), ignore_index=-100)


def of_a_product(h: Tensor, y: Tensor) -> Tensor:
    return h.view(-1, CLASSES).amax(1) * y.flatten()


FUNCTIONS = (of_all_tokens, of_the_next_tokens, of_padded_tokens, of_a_product)
WITH_LARGE_INTEGERS = [target for target in TARGETS if target[1] != "openvino"]
"""OpenVINO refuses products of sizes and integers that may be beyond 2**24."""
SIZES = (2, 9), (3, 5), (6, 3), (1, 4), (2, 9)


def arguments(of: tuple[int, int], labels: tuple[int, int]) -> tuple[Tensor, Tensor]:
    return torch.randn(*of, CLASSES), torch.randint(0, CLASSES, labels)


@pytest.mark.share(20)
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("output_type, engine", WITH_LARGE_INTEGERS)
def test_products_that_are_equal(
    function: Callable[[Tensor, Tensor], Tensor], output_type: str, engine: str
) -> None:
    require(engine)
    example = arguments((2, 9), (2, 9))
    shapes = ({0: Dim.AUTO, 1: Dim.AUTO},) * 2
    compiled = torch2mlir.compile(
        function, *example, dynamic_shapes=shapes, output_type=output_type, engine=engine
    )
    for sizes in SIZES:
        given = arguments(sizes, sizes)
        assert_agrees(compiled(*given), function(*given))
    if function is not of_the_next_tokens:  # 3 * 4 tokens are 2 * 6
        given = arguments((3, 4), (2, 6))
        assert_agrees(compiled(*given), function(*given))
    with pytest.raises(torch2mlir.InputError):
        compiled(*arguments((3, 4), (3, 5)))


def test_numbers_that_are_no_sizes_of_their_own() -> None:
    """What a program asks of one factor alone is asked of sizes that differ."""

    def model(h: Tensor, y: Tensor) -> Tensor:
        loss = of_all_tokens(h, y)
        return loss * 2 if h.size(0) == y.size(0) else loss * 3

    shapes = ({0: Dim.AUTO, 1: Dim.AUTO},) * 2
    example = arguments((2, 9), (2, 9))
    compiled = torch2mlir.compile(model, *example, dynamic_shapes=shapes)
    for sizes, labels in (((2, 9), (2, 9)), ((3, 4), (2, 6)), ((3, 4), (3, 4))):
        given = arguments(sizes, labels)
        assert_agrees(compiled(*given), model(*given))
