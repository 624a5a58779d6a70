"""Results that are texts of numbers which are others in every call: PyTorch's traces have their own names in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import Dim

import torch2mlir
from torch2mlir.errors import CaptureError


def _plain(x: Tensor) -> Any:
    return f"{x.mean().item()}", x * 2


def _with_format(x: Tensor) -> Any:
    return f"{x.mean().item():.1f}", x * 2


def _within_words(x: Tensor) -> Any:
    return x * 2, {"said": "the mean is " + str(x.mean().item())}


@pytest.mark.parametrize("function", [_plain, _with_format, _within_words])
@torch.no_grad()
def test_texts_of_elements(function: Callable[[Tensor], Any]) -> None:
    """``compile`` gave "zuf0" at every call, and ``optimize`` a number in the place of a text."""
    calls = [torch.full((3,), value) for value in (0.4321, 0.8642, 1.2963)]
    with pytest.raises(CaptureError, match="text of a number|format string"):
        torch2mlir.compile(function, calls[0])
    optimized = torch2mlir.optimize(function, model_inputs=(calls[0],))
    for x in calls:
        assert str(optimized(x)) == str(function(x))


def _of_size(x: Tensor) -> Any:
    return f"{x.shape[0]} rows", x * 2


@torch.no_grad()
def test_texts_of_sizes() -> None:
    compiled = torch2mlir.compile(_of_size, torch.ones(3))
    assert compiled(torch.ones(3))[0] == "3 rows"
    with pytest.raises(CaptureError, match="text of a number"):
        torch2mlir.compile(_of_size, torch.ones(3), dynamic_shapes=({0: Dim.DYNAMIC},))
    optimized = torch2mlir.optimize(_of_size, model_inputs=(torch.ones(3),))
    for size in (3, 5, 3, 7):
        assert optimized(torch.ones(size))[0] == f"{size} rows"


def test_other_texts_are_results() -> None:
    compiled = torch2mlir.compile(lambda x: ("u0 or s0, said the model", x * 2), torch.ones(3))
    for value in (1.0, 2.0, 3.0):
        text, doubled = compiled(torch.full((3,), value))
        assert text == "u0 or s0, said the model"
        assert doubled.tolist() == [2 * value] * 3
