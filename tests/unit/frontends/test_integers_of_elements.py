"""Integers that Python makes of floats that elements decide: sizes, and what ``assert`` asks of them.

The programs' own asserts are captured as they stand: PYTEST_DONT_REWRITE.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

import torch2mlir
from torch2mlir import InputError

Program = Callable[[Tensor], object]
_SOME = ([1.5, 2.0, 3.0], [0.5, 1.0, 2.0], [4.0, 4.0, 4.9], [2.0, 2.0, 0.0])
_REFUSED = ([math.nan, 1.0, 2.0], [math.inf, 1.0, 2.0], [-5.0, -1.0, -2.0])


def _ones(x: Tensor) -> Tensor:
    return torch.ones(int(x.sum().item())) * x[0]


def _range(x: Tensor) -> tuple[Tensor, Tensor]:
    n = math.floor(x.sum().item())
    return torch.arange(n) + x[0], torch.full((n + 1, 2), 2.5)


def _repeated(x: Tensor) -> Tensor:
    return x.repeat(int(x.max() * 2))


def _rounded(x: Tensor) -> tuple[Tensor, Tensor]:
    a = x.sum().item()
    return torch.zeros(round(a), 2) + a, torch.eye(math.ceil(a / 2))


def _parts(x: Tensor) -> tuple[Tensor, Tensor]:
    n, m = int(x.sum()), int(x[0])
    torch._check(m <= n)
    torch._check(m >= 0)
    return x.new_zeros(n)[:m] + n, torch.arange(n - m)


def _even(x: Tensor) -> Tensor:
    n = int(x.sum())
    return x.new_zeros(n // 2, 2) + n


def _of_integers(x: Tensor) -> Tensor:
    n = x.long().sum().item()
    return torch.ones(n) * x[0]


def _written(x: Tensor) -> Tensor:
    z = torch.zeros(int(x.sum()))
    z[1:] += 2
    z.mul_(x[0])
    return z


SIZED = [_ones, _range, _repeated, _rounded, _parts, _even, _of_integers, _written]


def _name(program: Program) -> str:
    return program.__name__.strip("_")


def _check(program: Program, compiled: Program, refused: bool = True) -> None:
    for elements in _SOME:
        torch.testing.assert_close(
            compiled(torch.tensor(elements)), program(torch.tensor(elements))
        )
    for elements in _REFUSED if refused else ():
        with pytest.raises((RuntimeError, ValueError, OverflowError)):
            program(torch.tensor(elements))
        with pytest.raises(InputError):
            compiled(torch.tensor(elements))


def test_an_assert_that_fails_on_the_example_is_kept() -> None:
    """Random numbers are put back after the trial that fails, which was taken for a seed of the model's."""
    compiled = torch2mlir.compile(_of_a_rounded_number, torch.ones(3), engine="reference")
    with pytest.raises(InputError):
        compiled(torch.ones(3))
    for elements in ([1.5, 2.0, 3.0], [4.0, 1.0, 0.5], [3.0, 2.0, 1.0]):
        x = torch.tensor(elements)
        torch.testing.assert_close(compiled(x), _of_a_rounded_number(x))


@pytest.mark.share(12)
@pytest.mark.parametrize("program", SIZED, ids=_name)
def test_they_are_sizes(program: Program, tmp_path: Path) -> None:
    compiled = torch2mlir.compile(program, torch.ones(3), output_type="linalg-on-tensors")
    _check(program, compiled)
    torch2mlir.save(compiled, tmp_path / "program")
    _check(program, torch2mlir.load(tmp_path / "program"))


@pytest.mark.share(12)
@pytest.mark.parametrize("program", SIZED, ids=_name)
def test_optimize_and_torch_compile_leave_them_to_python(program: Program) -> None:
    _check(program, torch2mlir.optimize(program, model_inputs=(torch.ones(3),)), refused=False)
    _check(program, torch.compile(program, backend="torch2mlir"), refused=False)


def _selected_and_written(x: Tensor) -> Tensor:
    v = x[x > 0]
    v[1:] += 2
    return v


def test_where_nothing_is_selected_parts_are_right_or_refused() -> None:
    """Memory was written behind a tensor: a part of 1 element was taken from none."""
    compiled = torch2mlir.compile(
        _selected_and_written, torch.ones(3), output_type="linalg-on-tensors"
    )
    for elements in ([1.0, 2.0, 3.0], [-1.0, 2.0, -3.0], [0.0, 1.0, 5.0]):
        x = torch.tensor(elements)
        torch.testing.assert_close(compiled(x), _selected_and_written(x))
    for _ in range(20):
        with pytest.raises(InputError, match="a size that elements decide"):
            compiled(torch.tensor([-1.0, -2.0, -3.0]))


@pytest.mark.parametrize("dialect", ["stablehlo", "tosa"])
@pytest.mark.share(2)
def test_without_sizes_that_vary_they_are_refused(dialect: str) -> None:
    with pytest.raises(torch2mlir.Torch2MLIRError, match="elements of a tensor"):
        torch2mlir.compile(_ones, torch.ones(3), output_type=dialect)


def _of_an_integer(x: Tensor) -> Tensor:
    n = int(x.sum().item())
    assert n > 3
    return x * n


def _of_the_smallest_integer(x: Tensor) -> Tensor:
    n = math.ceil(x.sum().item() * 0.5)
    assert n > 2, "few"
    return x * n


def _of_a_rounded_number(x: Tensor) -> Tensor:
    n = round(x.sum().item())
    assert n > 3
    return x * n


def _of_a_float(x: Tensor) -> Tensor:
    n = x.long().sum().item()
    assert n * 0.5 > 1.75
    return x * n


def _of_a_root(x: Tensor) -> Tensor:
    n = x.long().sum().item()
    assert math.sqrt(n) > 1.75
    return x * n


def _of_one_more(x: Tensor) -> Tensor:
    n = math.floor(x.sum().item()) + 1
    torch._check(n > 4)
    return x * n


ASSERTS = [
    _of_an_integer,
    _of_the_smallest_integer,
    _of_a_rounded_number,
    _of_a_float,
    _of_a_root,
    _of_one_more,
]


@pytest.mark.share(24)
@pytest.mark.parametrize("dialect", ["stablehlo", "linalg-on-tensors", "tosa"])
@pytest.mark.parametrize("program", ASSERTS, ids=_name)
def test_asserts_are_kept(program: Program, dialect: str) -> None:
    """PyTorch leaves out, in silence, those that convert between integers and floats."""
    if dialect == "tosa" and program is _of_a_rounded_number:
        with pytest.raises(torch2mlir.UnsupportedOpError, match="64-bit floats"):
            torch2mlir.compile(program, torch.ones(3), output_type=dialect)
        return
    compiled = torch2mlir.compile(program, torch.tensor([1.5, 2.0, 3.0]), output_type=dialect)
    for elements in ([1.5, 2.0, 3.0], [4.0, 1.0, 0.5], [3.0, 2.0, 1.0]):
        x = torch.tensor(elements)
        torch.testing.assert_close(compiled(x), program(x))
    for elements in ([0.5, 1.0, 1.0], [-1.0, 0.0, 0.0], [1.0, 0.0, 0.25]):
        with pytest.raises((AssertionError, RuntimeError, ValueError)):
            program(torch.tensor(elements))
        with pytest.raises(InputError):
            compiled(torch.tensor(elements))


def _in_a_branch(x: Tensor) -> Tensor:
    n = int(x.mean().item())
    if n > 2:
        return x + n
    return x - n


def _in_a_script(x: Tensor) -> Tensor:
    a = float(x[0])
    if a > 1.0:
        return x / (a - 2.0)
    return x + 1.0 / (a - 1.0)


@pytest.mark.share(4)
@pytest.mark.parametrize("dialect", ["stablehlo", "linalg-on-tensors", "tosa"])
def test_programs_by_source_refuse_what_python_refuses(dialect: str) -> None:
    compiled = torch2mlir.compile(_in_a_branch, torch.ones(3), output_type=dialect)
    for elements in _SOME:
        x = torch.tensor(elements)
        torch.testing.assert_close(compiled(x), _in_a_branch(x))
    for elements in (*_REFUSED[:2], [1e20, 1.0, 2.0]):
        with pytest.raises(InputError, match="makes an integer of a float"):
            compiled(torch.tensor(elements))


@pytest.mark.parametrize("dialect", ["stablehlo", "linalg-on-tensors", "tosa"])
@pytest.mark.share(2)
def test_scripts_divide_by_no_zero(dialect: str) -> None:
    script = torch.jit.script(_in_a_script)
    compiled = torch2mlir.compile(script, torch.ones(3) * 3, output_type=dialect)
    for first in (3.0, 0.5, -1.0):
        x = torch.tensor([first, 1.0, 2.0])
        torch.testing.assert_close(compiled(x), _in_a_script(x))
    x = torch.tensor([1.0, 1.0, 2.0])
    with pytest.raises(ZeroDivisionError):
        _in_a_script(x)
    with pytest.raises(InputError, match="divides a number by 0"):
        compiled(x)
