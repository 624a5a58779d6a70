"""Errors that a model raises where elements are so and so, checked in a run of the program.

PYTEST_DONT_REWRITE: assertions in here are programs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim

import torch2mlir
from torch2mlir.errors import CaptureError, InputError

TARGET = {"output_type": "linalg-on-tensors", "engine": "reference"}
CALLS = (torch.rand(3) + 0.1, torch.tensor([1.0, -2.0, 3.0]), torch.zeros(3), torch.rand(3) + 0.1)


def _increasing(x: Tensor) -> None:
    assert (x[1:] > x[:-1]).all(), "{} must increase".format("x")


def _in_a_helper(x: Tensor) -> Tensor:
    _increasing(x.cumsum(0))
    return x


def _asserted(x: Tensor) -> Tensor:
    assert (x > 0).all(), "positive"
    return x * 2


def _negated(x: Tensor) -> Tensor:
    if not (x > 0).all():
        raise ValueError(f"not positive, of {x.dtype}")
    return x * 2


def _put_together(x: Tensor) -> Tensor:
    with torch.no_grad():
        if (x <= 0).any():
            message = "not positive"
            raise ValueError(message)
    return x * 2


def _in_each_turn(x: Tensor) -> Tensor:
    for row in range(3):
        if x[row] <= 0:
            raise ValueError("not positive")
    return x


def _among_others(x: Tensor) -> Tensor:
    if x.dim() == 3:
        return x
    elif (x <= 0).any():
        raise ValueError("not positive")
    else:
        y = x * 2
    return y


RAISING: dict[str, tuple[Callable[[Tensor], Tensor], str]] = {
    "helper": (_in_a_helper, "must increase"),
    "assert": (_asserted, "positive"),
    "not": (_negated, "not positive, of"),
    "message": (_put_together, "not positive"),
    "loop": (_in_each_turn, "not positive"),
    "elif": (_among_others, "not positive"),
}


@pytest.mark.parametrize("is_dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", RAISING)
def test_they_are_checks(name: str, is_dynamic: bool) -> None:
    function, message = RAISING[name]
    shapes = ({0: Dim("size", min=3, max=9)},) if is_dynamic else None
    compiled = torch2mlir.compile(function, CALLS[0], dynamic_shapes=shapes, **TARGET)
    for x in CALLS:
        agrees_or_raises(compiled, function, x, message)
    if is_dynamic:
        agrees_or_raises(compiled, function, torch.rand(5) + 0.1, message)


@pytest.mark.parametrize("output_type", ["stablehlo", "linalg-on-tensors", "tosa", "onnx"])
@pytest.mark.share(2)
def test_on_every_dialect(output_type: str) -> None:
    compiled = torch2mlir.compile(_asserted, CALLS[0], output_type=output_type)
    for x in CALLS:
        agrees_or_raises(compiled, _asserted, x, "positive")


class OfWeights(nn.Module):
    """Looks at a buffer, which may be another at each call."""

    weight: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("weight", torch.ones(3))

    def forward(self, x: Tensor) -> Tensor:
        if (self.weight < 0).any():
            raise ValueError("negative weights")
        return x * self.weight


def test_of_a_buffer() -> None:
    model = OfWeights()
    compiled = torch2mlir.compile(model, CALLS[0], **TARGET)
    for value in (1.0, -1.0, 2.0):
        model.weight.fill_(value)
        agrees_or_raises(compiled, model, CALLS[0], "negative weights")


def _caught(x: Tensor) -> Tensor:
    try:
        if (x <= 0).any():
            raise ValueError("not positive")
    except ValueError:
        return x * 3
    return x * 2


def _caught_by_the_caller(x: Tensor) -> Tensor:
    try:
        _increasing(x.cumsum(0))
    except AssertionError:
        return x * 3
    return x * 2


def _in_the_end(x: Tensor) -> Tensor:
    try:
        if (x <= 0).any():
            raise ValueError("not positive")
    finally:
        x = x + 1
    return x


@pytest.mark.share(4)
@pytest.mark.parametrize("function", [_caught, _caught_by_the_caller, _in_the_end])
def test_errors_that_are_caught_are_none(function: Callable[[Tensor], Tensor]) -> None:
    with pytest.raises(CaptureError):
        torch2mlir.compile(function, CALLS[0], **TARGET)
    ours = torch2mlir.optimize(function, model_inputs=(CALLS[0],))
    for x in CALLS:
        agrees_or_raises(ours, function, x, "not positive", ValueError)


def agrees_or_raises(
    compiled: Callable[..., Any],
    eager: Callable[..., Any],
    x: Tensor,
    message: str,
    error: type[Exception] = InputError,
) -> None:
    """As eager mode, with our error in the place of its own."""
    try:
        expected = eager(x)
    except (AssertionError, ValueError):
        with pytest.raises(error, match=message):
            compiled(x)
    else:
        torch.testing.assert_close(compiled(x), expected)
