"""Results that are texts of numbers which are others in every call: PyTorch's traces have their own names in them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
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


class Parts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.ModuleDict({"rows4": nn.Linear(2, 2), "rows5": nn.Linear(2, 2)})

    def forward(self, x: Tensor) -> Tensor:
        name = f"rows{x.shape[0]}"
        return (self.parts[name](x) if name in self.parts else x * 3).relu() + 1


def _by_text(x: Tensor) -> Tensor:
    return (x * 2 + 1).relu() if str(x.shape[0]) == "4" else (x - 5).relu() * 2


def _by_length(x: Tensor) -> Tensor:
    return x * 2 + len(repr(x.shape[0]))


def _raises(x: Tensor) -> Tensor:
    if f"{x.shape[0]}" != "5":
        return (x * 2 + 1).relu()
    raise ValueError("of five rows")


@pytest.mark.share(4)
@pytest.mark.parametrize("model", [Parts().eval(), _by_text, _by_length, _raises])
@pytest.mark.parametrize("has_examples", [True, False])
@torch.no_grad()
def test_what_depends_on_a_text(model: Callable[[Tensor], Tensor], has_examples: bool) -> None:
    """The text was the name of PyTorch's symbol, of which no dictionary has an entry."""
    optimized = torch2mlir.optimize(
        model, model_inputs=(torch.ones(4, 2),) if has_examples else None
    )
    for size in (4, 5, 12, 4):
        x = torch.randn(size, 2)
        if model is _raises and size == 5:
            with pytest.raises(ValueError, match="five rows"):
                optimized(x)
        else:
            torch.testing.assert_close(optimized(x), model(x))
    with pytest.warns(UserWarning, match=rf"a text of a number that varies \({__file__}:\d+\)"):
        torch2mlir.compile(model, torch.ones(4, 2), dynamic_shapes=({0: Dim.DYNAMIC},))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled = torch2mlir.compile(model, torch.ones(4, 2))
    torch.testing.assert_close(compiled(torch.ones(4, 2)), model(torch.ones(4, 2)))


def test_other_texts_are_results() -> None:
    compiled = torch2mlir.compile(lambda x: ("u0 or s0, said the model", x * 2), torch.ones(3))
    for value in (1.0, 2.0, 3.0):
        text, doubled = compiled(torch.full((3,), value))
        assert text == "u0 or s0, said the model"
        assert doubled.tolist() == [2 * value] * 3
