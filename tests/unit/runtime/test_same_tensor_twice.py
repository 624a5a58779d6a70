"""One tensor in several places of a call: as examples it is not one argument, and what is written is nobody else's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from repeated_calls import agrees_with_eager
from torch import nn

import torch2mlir
from torch2mlir.errors import InputError

DIALECTS = ("linalg-on-tensors", "tosa", "stablehlo", "onnx")


def difference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x @ y.T - y


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3, 3))
        self.register_buffer("shift", torch.randn(3, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight - self.shift


@pytest.mark.share(4)
@pytest.mark.parametrize("output_type", DIALECTS)
def test_examples_that_are_one_tensor_are_several_arguments(output_type: str) -> None:
    x = torch.randn(3, 3)
    compiled = torch2mlir.compile(difference, x, x, output_type=output_type)
    for _ in range(3):
        a, b = torch.randn(3, 3), torch.randn(3, 3)
        torch.testing.assert_close(compiled(a, b), difference(a, b))
        torch.testing.assert_close(compiled(a, a), difference(a, a))


def test_attention_captured_as_self_attention_takes_keys_and_values() -> None:
    attention = nn.MultiheadAttention(4, 2, batch_first=True).eval()
    x = torch.randn(2, 3, 4)
    compiled = torch2mlir.compile(attention, x, x, x, output_type="stablehlo")
    query, key, value = torch.randn(3, 2, 3, 4).unbind()
    with torch.no_grad():
        torch.testing.assert_close(compiled(query, key, value), attention(query, key, value))


@pytest.mark.parametrize("strict", [False, True])
def test_one_tensor_in_a_list_and_by_name(strict: bool) -> None:
    class Model(nn.Module):
        def forward(self, x: list[torch.Tensor], *, y: torch.Tensor) -> Any:
            if strict:
                return x[0] * 2 + x[1] * y * float(y.sum())
            return x[0] * 2 + x[1] * y

    x = torch.ones(3)
    compiled = torch2mlir.compile(Model(), [x, x], y=x, output_type="stablehlo")
    a, b, c = torch.randn(3, 3).unbind()
    torch.testing.assert_close(compiled([a, b], y=c), Model()([a, b], y=c))


@pytest.mark.share(4)
@pytest.mark.parametrize("name", ["weight", "shift"])
@pytest.mark.parametrize("output_type", DIALECTS)
def test_an_example_that_is_a_weight_is_an_argument(output_type: str, name: str) -> None:
    model = Scaled()
    with torch.no_grad():
        compiled = torch2mlir.compile(model, getattr(model, name), output_type=output_type)
        for _ in range(3):
            x = torch.randn(3, 3)
            torch.testing.assert_close(compiled(x), model(x))


def test_an_example_that_a_function_holds_is_an_argument() -> None:
    held = torch.randn(3)

    def add(x: torch.Tensor) -> torch.Tensor:
        return x + held

    compiled = torch2mlir.compile(add, held, output_type="stablehlo")
    x = torch.randn(3)
    torch.testing.assert_close(compiled(x), add(x))


def write_one(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x.add_(1)
    return x * y


@pytest.mark.share(6)
@pytest.mark.parametrize(
    "second",
    [
        pytest.param(lambda x: x, id="the tensor itself"),
        pytest.param(lambda x: x[:], id="a view"),
        pytest.param(lambda x: x.t(), id="its transpose"),
        pytest.param(lambda x: x.view(torch.int32).view(torch.float32), id="its bits"),
    ],
)
@pytest.mark.parametrize("output_type", DIALECTS)
def test_what_is_written_is_no_other_argument(
    output_type: str, second: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    compiled = torch2mlir.compile(
        write_one, torch.randn(3, 3), torch.randn(3, 3), output_type=output_type
    )
    x = torch.randn(3, 3)
    before = x.clone()
    with pytest.raises(InputError, match="writes to input 'x', which shares memory with input 'y'"):
        compiled(x, second(x))
    assert torch.equal(x, before)


def test_parts_of_one_tensor_that_have_nothing_in_common_are_taken() -> None:
    compiled = torch2mlir.compile(
        write_one, torch.randn(3, 4), torch.randn(3, 4), output_type="stablehlo"
    )
    parts: list[Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]]] = [
        lambda t: (t[:3, :4], t[3:, :4]),
        lambda t: (t[:3, :4], t[:3, 4:]),
        lambda t: (t[:3, 1::2], t[:3, ::2]),
        lambda t: (t[::2, :4], t[1::2, 2:6]),
    ]
    for part in parts:
        ours = torch.randn(6, 8)
        theirs = ours.clone()
        torch.testing.assert_close(compiled(*part(ours)), write_one(*part(theirs)))
        torch.testing.assert_close(ours, theirs)
    whole = torch.randn(6, 8)
    with pytest.raises(InputError, match="shares memory"):
        compiled(whole[:3, 1:5], whole[:3, 2:6])


class Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(4))
        self.weight = nn.Parameter(torch.randn(4))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        self.seen += x
        y.mul_(2)
        return self.seen * x + self.weight


def test_what_is_written_is_no_state_either() -> None:
    model = Counting()
    with torch.no_grad():
        compiled = torch2mlir.compile(
            model, torch.randn(4), torch.randn(4), output_type="stablehlo"
        )
        with pytest.raises(
            InputError, match="the model's 'seen', which shares memory with input 'x'"
        ):
            compiled(model.seen, torch.randn(4))
        with pytest.raises(
            InputError, match="input 'y', which shares memory with the model's 'weight'"
        ):
            compiled(torch.randn(4), model.weight)
        compiled(model.weight.detach(), torch.randn(4))
    agrees_with_eager(Counting(), lambda: (torch.randn(4), torch.randn(4)), output_type="stablehlo")


def write_both(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    x.mul_(3)
    y.sub_(1)
    return x @ y.T, y * 2


class WritesBoth(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return write_both(x, y)


@pytest.mark.parametrize("second", [lambda x: x, lambda x: x[:]], ids=["itself", "a view"])
@pytest.mark.parametrize("hybrid", [False, True])
def test_examples_that_share_memory_are_written_apart(
    hybrid: bool, second: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    x = torch.randn(3, 3)
    examples = x, second(x)
    if hybrid:
        compiled = torch2mlir.optimize(WritesBoth(), True, examples)
    else:
        compiled = torch2mlir.compile(write_both, *examples, output_type="stablehlo")
    for _ in range(3):
        ours = torch.randn(3, 3), torch.randn(3, 3)
        theirs = tuple(t.clone() for t in ours)
        torch.testing.assert_close(compiled(*ours), write_both(*theirs))
        torch.testing.assert_close(ours, theirs)
