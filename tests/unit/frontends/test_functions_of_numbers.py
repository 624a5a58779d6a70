"""Python's functions of numbers that are read from tensors: the same numbers, and errors where Python raises."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import torch2mlir
from torch2mlir import InputError, UnsupportedOpError


def _in_branches(x: Tensor) -> Tensor:
    a = x[0].item()
    if a > 1:
        return x * math.floor(a) + math.exp(a)
    return x - math.sqrt(a) * math.ceil(a)


def _straight(x: Tensor) -> Tensor:
    a = x[0].item()
    return x * math.exp(a) + math.log(a)


def _asked(x: Tensor) -> Tensor:
    a = float(x[0])
    if math.isnan(a):
        return x * 0 + 7
    if math.isinf(a):
        return x - 1
    return x * math.sin(a) + math.cos(a) * math.tanh(a)


def _of_integers(x: Tensor) -> Tensor:
    n = int(x[0])
    if n > 2:
        return x * math.sqrt(n) + math.log(n)
    return x * math.floor(n) + math.exp(n)


def _in_turns(x: Tensor) -> Tensor:
    a = float(x[0])
    for _ in range(3):
        if math.isfinite(a):
            x = x + math.sqrt(a) / (a - 2.0)
        a = a + 1.0
    return x


PROGRAMS = [_in_branches, _straight, _asked, _of_integers, _in_turns]
_ELEMENTS = (1.5, 0.5, 4.0, 0.0, -0.5, -5.0, 2.0, 1.0, 1e10, math.nan, math.inf, -math.inf)


@pytest.mark.share(20)
@pytest.mark.parametrize("dialect", ["stablehlo", "linalg-on-tensors", "tosa"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__.strip("_"))
def test_as_in_python(program: Callable[[Tensor], Tensor], dialect: str) -> None:
    example = torch.tensor([1.5, 2.0, 3.0])
    if dialect == "tosa" and program is not _in_turns:
        with pytest.raises(UnsupportedOpError, match="TOSA has no 64-bit floats"):
            torch2mlir.compile(program, example, output_type=dialect)
        return
    compiled = torch2mlir.compile(program, example, output_type=dialect)
    for element in _ELEMENTS:
        x = torch.tensor([element, 2.0, 3.0])
        try:
            expected = program(x)
        except (ValueError, ZeroDivisionError, OverflowError):
            with pytest.raises(InputError):
                compiled(x)
        else:
            torch.testing.assert_close(compiled(x), expected, equal_nan=True)
