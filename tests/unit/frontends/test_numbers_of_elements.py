"""Python's numbers of elements are floats: infinite ones and NaN are not told apart by algebra."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import torch2mlir

_ELEMENTS = (1.5, math.inf, math.nan, -math.inf, 0.0, -0.0, 3e20)


def _difference(x: Tensor, y: Tensor) -> tuple[Tensor, float]:
    a = x[0].item()
    return y * (a - a), a - a


def _sums(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    a, b = x[0].item(), x[1].item()
    return y + (a + b - a), y * (a * 0.5 - b - a * 0.5), y + ((a + 1e20) - 1e20)


def _products(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    a = x[0].item()
    return y + a * 0, y * (a * y.shape[0] - a * y.shape[0]), y + a * a * 0.0, y + a / 3 * 3


def _accumulated(x: Tensor, y: Tensor) -> Tensor:
    total = 0.0
    for factor in range(3):
        total += float(x.sum()) * factor
    return y * (total - total)


def _extrema(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    a = x[0].item()
    return y + max(a, 2.0), y * min(a, 3.0), y * max(a, a)


def _is_nan(x: Tensor, y: Tensor) -> Tensor:
    a = x[0].item()
    if a != a:
        return y + 1
    return y - a


def _is_itself(x: Tensor, y: Tensor) -> Tensor:
    a = x[0].item()
    return y * 2 if a == a else y * 3


def _read_from_bytecode(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    """Tracing cannot make an integer of a float that only the program has."""
    a, n = x[0].item(), int(x[2].item())
    return y * (a - a) + n, y + a * 0, y * (n + a - n), y + (a != a), y + (a == a)


def _written(x: Tensor, y: Tensor) -> Tensor:
    """Programs that write are traced again, twice."""
    a, z = x[0].item(), y.clone()
    z.mul_(a + 1)
    z[0] = a * 2 - a
    return z


def _branches(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    a = x[0].item()
    return (
        torch.cond(a * 2 > 1.0, lambda y: y + 1, lambda y: y - 1, (y,)),
        torch.cond(a != a, lambda y: y * 0, lambda y: y * 2, (y,)),
    )


def _length(x: Tensor, y: Tensor) -> Tensor:
    """Negative numbers have whole powers."""
    a, b, c = x[0].item(), x[1].item(), x[2].item()
    return y / math.sqrt(a**2 + b**2 + (-c) ** 2) + a ** y.shape[0]


PROGRAMS = [
    _written,
    _branches,
    _length,
    _difference,
    _sums,
    _products,
    _accumulated,
    _extrema,
    _is_nan,
    _is_itself,
    _read_from_bytecode,
]
Program = Callable[[Tensor, Tensor], object]


def _check(program: Program, compiled: Program) -> None:
    for element in _ELEMENTS:
        x, y = torch.tensor([element, 1.0, 2.0]), torch.rand(2)
        torch.testing.assert_close(compiled(x, y), program(x, y), equal_nan=True)


@pytest.mark.share(6)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__.strip("_"))
def test_they_are_no_real_numbers(program: Program) -> None:
    _check(program, torch2mlir.compile(program, torch.rand(3), torch.rand(2)))


@pytest.mark.share(4)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__.strip("_"))
def test_optimize_leaves_them_to_python(program: Program) -> None:
    _check(program, torch2mlir.optimize(program, model_inputs=(torch.rand(3), torch.rand(2))))


def test_checks_of_them_are_kept() -> None:
    def program(x: Tensor, y: Tensor) -> Tensor:
        a, b = x[0].item(), x[1].item()
        torch._check(a * 2 > 0)
        torch._check(b - a + 5 > 0)
        return y * a

    compiled = torch2mlir.compile(program, torch.rand(3), torch.rand(2))
    for element in (1.0, 5.5, 0.25):
        x, y = torch.tensor([element, 1.0, 2.0]), torch.rand(2)
        torch.testing.assert_close(compiled(x, y), program(x, y))
    for element in (-1.0, 7.0, math.inf, math.nan):
        with pytest.raises(
            torch2mlir.InputError, match="read from a tensor is not as the program needs it"
        ):
            compiled(torch.tensor([element, 1.0, 2.0]), torch.rand(2))


def _asserts(x: Tensor, y: Tensor) -> Tensor:
    a = x[0].item()
    assert a > -5
    assert a * 2 < 20
    return y * a


def test_assertions_are_kept() -> None:
    compiled = torch2mlir.compile(_asserts, torch.rand(3), torch.rand(2))
    for element in (1.0, -4.5, 9.0):
        x, y = torch.tensor([element, 1.0, 2.0]), torch.rand(2)
        torch.testing.assert_close(compiled(x, y), _asserts(x, y))
    for element in (-7.0, math.nan, 11.0, math.inf):
        with pytest.raises(
            torch2mlir.InputError, match="is not as the program needs it|AssertionError"
        ):
            compiled(torch.tensor([element, 1.0, 2.0]), torch.rand(2))


def test_sizes_stay_expressions() -> None:
    """What is computed with whole numbers and sizes stays one expression: sizes are compared by it."""

    def program(x: Tensor) -> Tensor:
        half = x.shape[0] // 2
        return x.new_zeros(half) + half / 2 + x[-1]

    sizes = ({0: torch.export.Dim("n", min=4)},)
    compiled = torch2mlir.compile(program, torch.rand(6), dynamic_shapes=sizes)
    for size in (8, 5, 12):
        x = torch.rand(size)
        torch.testing.assert_close(compiled(x), program(x))


_REFUSED: dict[str, Callable[[float], float]] = {
    "integer": lambda a: int(a) * 1.0,
    "floor": lambda a: math.floor(a * 2) * 1.0,
    "round": lambda a: round(a) * 1.0,
    "inverse": lambda a: 1 / a,
    "modulus": lambda a: 1.0 % (a - 1.5),
    "quotient": lambda a: 7 // (int(a) - 1),
    "root": lambda a: math.sqrt(a),
    "negative power": lambda a: a**-2,
    "large power": lambda a: a**11 / 1e300,
    "power of a number": lambda a: 1.5**a,
}
_OF_ANY_SIZE = ("inverse", "modulus", "root", "negative power", "large power", "power of a number")
"""Those that make no integer."""


@pytest.mark.share(24)
@pytest.mark.parametrize("dialect", ["stablehlo", "linalg-on-tensors"])
@pytest.mark.parametrize("name", _REFUSED)
def test_what_python_refuses_is_an_error(name: str, dialect: str) -> None:
    def program(x: Tensor, y: Tensor) -> Tensor:
        return y + _REFUSED[name](x[0].item())

    compiled = torch2mlir.compile(program, torch.rand(3), torch.rand(2), output_type=dialect)
    for element in (*_ELEMENTS, -2.5, 1e30):
        x, y = torch.tensor([element, 1.0, 2.0]), torch.rand(2)
        beyond = abs(element) >= 2.0**63 and name not in _OF_ANY_SIZE
        try:
            expected = None if beyond else program(x, y)
        except (ArithmeticError, ValueError):
            expected = None
        if expected is None:
            with pytest.raises(torch2mlir.InputError, match="the program"):
                compiled(x, y)
        else:
            torch.testing.assert_close(compiled(x, y), expected, equal_nan=True)
