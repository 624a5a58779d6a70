"""Calls that PyTorch refuses for their dtypes, which its captures take: refused by every entrance."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import torch2mlir

WHOLE, HALVES = torch.tensor([4, 2, 3]), torch.tensor([0.5, 0.5, 0.5])
SMALL, IMAGINARY = torch.tensor([1, 2, 3], dtype=torch.uint8), torch.tensor([1j, 1j, 1j])


def in_place(x: Tensor, y: Tensor) -> Tensor:
    x = x.clone()
    x *= y
    return x


def part(x: Tensor, _: Tensor) -> Tensor:
    x = x.clone()
    x[1:] *= 0.5
    return x


REFUSED: dict[str, tuple[Callable[[Tensor, Tensor], Tensor], Tensor, Tensor]] = {
    "number": (lambda x, _: x.clone().mul_(0.5), WHOLE, HALVES),
    "floats": (in_place, WHOLE, HALVES),
    "part": (part, WHOLE, HALVES),
    "bools": (lambda x, y: (x > 2).mul_(y), WHOLE, SMALL),
    "complex": (in_place, HALVES, IMAGINARY),
    "addcmul": (lambda x, y: x.clone().addcmul_(y, y), WHOLE, HALVES),
    "addcdiv": (lambda x, y: x.clone().addcdiv_(y, y), WHOLE, HALVES),
    "heaviside": (torch.heaviside, WHOLE, SMALL),
}
TAKEN: dict[str, tuple[Callable[[Tensor, Tensor], Tensor], Tensor, Tensor]] = {
    "same": (in_place, WHOLE, WHOLE),
    "smaller": (in_place, WHOLE, SMALL),
    "floats_by_integers": (in_place, HALVES, WHOLE),
    "number": (lambda x, _: x.clone().mul_(2), WHOLE, HALVES),
    "wider": (in_place, HALVES, HALVES.double()),
    "addcmul": (lambda x, y: x.clone().addcmul_(y, y), HALVES, WHOLE),
    "heaviside": (torch.heaviside, WHOLE, WHOLE + 1),
}


@pytest.mark.filterwarnings("ignore::torch2mlir.dynamo.FallbackWarning")
@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    function, *arguments = REFUSED[name]
    with pytest.raises(RuntimeError):
        function(*arguments)
    with pytest.raises(torch2mlir.CaptureError, match="PyTorch refuses"):
        torch2mlir.compile(function, *arguments)
    torch._dynamo.reset()
    with pytest.raises(RuntimeError):  # PyTorch runs it
        torch.compile(function, backend="torch2mlir")(*arguments)
    torch._dynamo.reset()


@pytest.mark.parametrize("name", TAKEN)
def test_taken(name: str) -> None:
    function, *arguments = TAKEN[name]
    compiled = torch2mlir.compile(function, *arguments)
    for _ in range(3):
        arguments = [each.roll(1) for each in arguments]
        assert torch.equal(compiled(*arguments), function(*arguments))


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.uint8, torch.bool])
def test_whole_numbers_by_powers_that_no_float_holds(dtype: torch.dtype) -> None:
    """PyTorch multiplies by the power, infinite or not: zero by infinity is NaN."""
    x = torch.tensor([1, 3, 0, 1, 0], dtype=dtype)
    powers = torch.tensor([-(2**40), 2**40, 200, 5, -200])
    compiled = torch2mlir.compile(torch.ldexp, x, powers)
    for _ in range(3):
        x, powers = x.roll(1), powers.roll(1)
        assert torch.equal(
            compiled(x, powers).nan_to_num(7.0), torch.ldexp(x, powers).nan_to_num(7.0)
        )


def test_operands_by_name() -> None:
    def model(x: Tensor) -> Tensor:
        return x.clone().mul_(other=0.5)

    for _ in range(2):
        with pytest.raises(RuntimeError):
            torch.compile(model, backend="torch2mlir")(WHOLE)
    torch._dynamo.reset()


def test_arguments_of_any_name() -> None:
    def model(self: Tensor, input: Tensor) -> Tensor:
        return self + input

    compiled = torch2mlir.compile(model, HALVES, HALVES)
    for _ in range(3):
        x = torch.randn(3)
        assert torch.equal(compiled(self=x, input=HALVES), x + HALVES)
