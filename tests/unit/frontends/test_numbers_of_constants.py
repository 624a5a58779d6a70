"""Tensors that a model holds, asked for their elements as Python numbers, and written to between two calls."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import torch2mlir
from torch2mlir.errors import CaptureError

SHARED = torch.tensor(2)


class Holds(nn.Module):
    """Tensors of all kinds, and code that reads them."""

    def __init__(self, code: Callable[[Holds, Tensor], Tensor]) -> None:
        super().__init__()
        self.code = code
        self.plain = torch.tensor(2)
        self.sizes = torch.tensor([2, 1])
        self.register_buffer("kept", torch.tensor(2.0))
        self.learned = nn.Parameter(torch.tensor(2.0))

    def forward(self, x: Tensor) -> Tensor:
        return self.code(self, x)


CONSTANTS: dict[str, Callable[[Holds, Tensor], Tensor]] = {
    "item": lambda model, x: x * model.plain.item(),
    "of a result": lambda model, x: x * (model.plain + 1).item(),
    "int": lambda model, x: x * int(model.plain),
    "index": lambda model, x: x * len(range(model.plain)),  # type: ignore[arg-type]
    "list": lambda model, x: x.split(model.sizes.tolist())[0],
    "global": lambda model, x: x * SHARED.item(),
}
STATE: dict[str, Callable[[Holds, Tensor], Tensor]] = {
    "buffer": lambda model, x: x * model.kept.item(),  # type: ignore[operator]
    "parameter": lambda model, x: x * model.learned.item(),
}


def _write(model: Holds, by: int) -> None:
    for tensor in (model.plain, model.kept, model.learned, SHARED):
        tensor.add_(by)  # type: ignore[operator]
    model.sizes.copy_(model.sizes.flip(0))


@torch.no_grad()
@pytest.mark.parametrize("name", CONSTANTS)
def test_compiled_functions_tell(name: str) -> None:
    model, x = Holds(CONSTANTS[name]).eval(), torch.arange(3.0)
    compiled = torch2mlir.compile(model, x, engine="reference")
    expected = model(x)
    torch.testing.assert_close(compiled(x), expected)
    _write(model, 1)
    with pytest.warns(UserWarning, match="has been written"):
        torch.testing.assert_close(compiled(x), expected)
    SHARED.fill_(2)


def _counts(model: Holds, x: Tensor) -> Tensor:
    model.sizes.add_(1)
    return x * int(model.plain) + model.sizes.sum()


@torch.no_grad()
def test_what_the_program_writes_is_no_change_of_others() -> None:
    """The second call was told that 'sizes' had been written, and nobody was told of 'plain' thereafter."""
    model, x = Holds(_counts).eval(), torch.arange(3.0)
    compiled = torch2mlir.compile(model, x, engine="reference")
    expected = Holds(_counts).eval()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            torch.testing.assert_close(compiled(x), expected(x))
    torch.testing.assert_close(model.sizes, expected.sizes)
    model.plain.add_(1)
    with pytest.warns(UserWarning, match="'plain' has been written"):
        compiled(x)


def _adds_first(model: Holds, x: Tensor) -> Tensor:
    total = torch.tensor(1)
    total += model.plain
    model.plain.add_(1)
    return x * total.item()


@torch.no_grad()
def test_what_is_written_to_a_tensor_of_its_own_is_computed() -> None:
    model, expected, x = Holds(_adds_first).eval(), Holds(_adds_first).eval(), torch.arange(3.0)
    compiled = torch2mlir.compile(model, x, engine="reference")
    for _ in range(3):
        torch.testing.assert_close(compiled(x), expected(x))
    torch.testing.assert_close(model.plain, expected.plain)


def _reads_first(model: Holds, x: Tensor) -> Tensor:
    factor = int(model.plain)
    model.plain.add_(1)
    return x * factor


def _reads_a_result_first(model: Holds, x: Tensor) -> Tensor:
    factor = int(model.plain + 1)
    model.plain.add_(1)
    return x * factor


def _writes_first(model: Holds, x: Tensor) -> Tensor:
    model.sizes[0] += x.numel()
    return x * model.sizes.tolist()[0]


WRITTEN = {code.__name__: code for code in (_reads_first, _reads_a_result_first, _writes_first)}


@torch.no_grad()
@pytest.mark.parametrize("name", WRITTEN)
def test_numbers_of_what_is_written_are_refused(name: str) -> None:
    """The numbers stayed those of the first call, or were from before the write."""
    model, x = Holds(WRITTEN[name]).eval(), torch.arange(3.0)
    with pytest.raises(CaptureError, match="would stay what they are now"):
        torch2mlir.compile(model, x, engine="reference")
    assert model.plain.item() == 2
    optimized = torch2mlir.optimize(model, model_inputs=(x,))
    expected = Holds(WRITTEN[name]).eval()
    for _ in range(3):
        torch.testing.assert_close(optimized(x), expected(x))
    torch.testing.assert_close(model.plain, expected.plain)
    torch.testing.assert_close(model.sizes, expected.sizes)


@pytest.mark.share(4)
@torch.no_grad()
@pytest.mark.parametrize("engine", ["xla", "iree", "onnxruntime", "reference"])
@pytest.mark.parametrize("name", STATE)
def test_compiled_functions_follow_state(name: str, engine: str) -> None:
    """A number read from a weight was folded into the program."""
    model, x = Holds(STATE[name]).eval(), torch.arange(3.0)
    compiled = torch2mlir.compile(model, x, engine=engine)
    for _ in range(3):
        torch.testing.assert_close(compiled(x), model(x))
        _write(model, 1)
    SHARED.fill_(2)


@pytest.mark.share(4)
@torch.no_grad()
@pytest.mark.parametrize("name", CONSTANTS | STATE)
def test_optimized_modules_follow(name: str) -> None:
    model, x = Holds((CONSTANTS | STATE)[name]).eval(), torch.arange(3.0)
    optimized = torch2mlir.optimize(model, model_inputs=(x,))
    for _ in range(3):
        torch.testing.assert_close(optimized(x), model(x))
        _write(model, 1)
    SHARED.fill_(2)


def _reads_numbers_of_its_own(model: Holds, x: Tensor) -> Tensor:
    model.sizes.add_(int(torch.tensor(1)))
    model.sizes.add_((torch.tensor(2) + 1).item())
    return x * int(torch.ones(()).add_(1)) + model.sizes.sum()


def test_what_a_number_is_computed_from_is_noted_once() -> None:
    """There are more ways from the last of these to the first than memory for them."""

    def chain(x: Tensor) -> Tensor:
        value = x[:1]
        for _ in range(60):
            value = value + torch.sin(value) * value
        return value

    torch2mlir.compile(chain, torch.zeros(3), engine="reference")


@torch.no_grad()
def test_numbers_of_tensors_that_the_code_makes_are_its_own() -> None:
    """They were refused beside a write, as if they had been computed from what is written."""
    model, x = Holds(_reads_numbers_of_its_own).eval(), torch.arange(3.0)
    expected = Holds(_reads_numbers_of_its_own).eval()
    compiled = torch2mlir.compile(model, x, engine="reference")
    for call in range(3):
        torch.testing.assert_close(compiled(x + call), expected(x + call))
        torch.testing.assert_close(model.sizes, expected.sizes)
