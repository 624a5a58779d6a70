"""Programs of the few elements that a mask selects, of which half, or every second, is soon a single one or none.

PyTorch traces ops at example sizes, and took such a half for 1 where an argument is too short for more.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import torch2mlir
from torch2mlir import InputError

Program = Callable[[Tensor], Tensor | tuple[Tensor, ...]]


def _first_half(x: Tensor) -> Tensor:
    v = x[x > 0]
    v.view(2, -1)[0] = 1
    return v


def _first_column(x: Tensor) -> Tensor:
    v = x[x > 0]
    v.view(-1, 2)[:, 0] = 1
    return v


def _second_half(x: Tensor) -> tuple[Tensor, Tensor]:
    v = x[x > 0]
    v.unflatten(0, (2, -1))[1].add_(3)
    return v, v.sum()


def _every_second(x: Tensor) -> Tensor:
    v = x[x > 0]
    v[::2] += 1
    return v


def _as_a_column(x: Tensor) -> Tensor:
    v = x[x > 0]
    v.view(-1, 1)[:, 0] = 5
    return v


def _both_halves(x: Tensor) -> tuple[Tensor, Tensor]:
    v = x[x > 0]
    return v[: v.shape[0] // 2], v[v.shape[0] // 2 :] * 2


def _two_rows(x: Tensor) -> Tensor:
    v = x[x > 0]
    rows = torch.cat([v, v]).view(2, -1)
    rows[0] = 3
    rows[:, :1] = 4
    return rows


def _pairs(x: Tensor) -> tuple[Tensor, Tensor]:
    n = int((x > 0).sum())
    torch._check(n <= x.shape[0])
    pairs = torch.zeros(n // 2, 2)
    pairs[:, 0] = 3
    return pairs + torch.ones(1, 2), pairs


PROGRAMS: tuple[Program, ...] = (
    _first_half,
    _first_column,
    _second_half,
    _every_second,
    _as_a_column,
    _both_halves,
    _two_rows,
    _pairs,
)


def _result(program: Program, x: Tensor) -> Tensor | tuple[Tensor, ...] | None:
    """What a program gives, or None where it raises."""
    try:
        return program(x)
    except (RuntimeError, InputError):
        return None


@pytest.mark.share(64)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__.strip("_"))
def test_any_number_is_selected(program: Program, size: int) -> None:
    positive = torch.arange(1.0, size + 1)
    compiled = torch2mlir.compile(program, positive.clone(), output_type="linalg-on-tensors")
    for count in range(size + 1):
        for _ in range(2):
            x = torch.where(torch.randperm(size) < count, positive, -positive)
            expected, result = _result(program, x.clone()), _result(compiled, x.clone())
            assert (expected is None) == (result is None)
            if expected is not None:
                torch.testing.assert_close(result, expected)


def _line(x: Tensor) -> Tensor:
    return x[x > 0].view(1, 1, -1)


REFUSED_FOR_NOTHING: dict[str, Program] = {
    "nearest": lambda x: F.interpolate(_line(x), scale_factor=2),
    "linear": lambda x: F.interpolate(_line(x), size=6, mode="linear"),
    "bicubic": lambda x: F.interpolate(
        _line(x)[..., None].expand(1, 1, -1, 2), scale_factor=2, mode="bicubic"
    ),
    "channels": lambda x: F.interpolate(_line(x).mT.expand(1, -1, 3), scale_factor=2),
    "size": lambda x: F.interpolate(x.view(1, 1, -1), size=_line(x).shape[2]),
    "adaptive_pool": lambda x: F.adaptive_avg_pool1d(_line(x), 2),
    "grid": lambda x: F.grid_sample(_line(x)[None], torch.zeros(1, 1, 2, 2), align_corners=False),
    "convolution": lambda x: F.conv1d(_line(x), torch.ones(1, 1, 2), stride=2, padding=1),
    "transposed": lambda x: F.conv_transpose1d(_line(x), torch.ones(1, 1, 3)),
}


@pytest.mark.share(16)
@pytest.mark.parametrize("name", REFUSED_FOR_NOTHING)
def test_ops_that_want_elements_refuse_calls_without(name: str) -> None:
    """They gave NaN, zeros or nothing."""
    program = REFUSED_FOR_NOTHING[name]
    x = torch.tensor([1.0, -2.0, 3.0, 4.0])
    compiled = torch2mlir.compile(program, x, output_type="linalg-on-tensors")
    for given in (x, -x, x.abs(), x.flip(0)):
        torch.testing.assert_close(compiled(given), program(given))
    for _ in range(3):
        with pytest.raises(RuntimeError):
            program(-x.abs())
        with pytest.raises(InputError, match="a size that elements decide"):
            compiled(-x.abs())


def test_pytorch_does_not_log_what_an_op_rejects(capfd: pytest.CaptureFixture[str]) -> None:
    """An example without elements is no error, and ran a traceback over the terminal."""

    def program(x: Tensor) -> Tensor:
        v = x[x > 0]
        return F.max_pool2d(torch.outer(v, v)[None, None], 2, 2, 1)

    compiled = torch2mlir.compile(program, torch.ones(4), output_type="linalg-on-tensors")
    assert "meta" not in capfd.readouterr().err
    x = torch.arange(4.0)
    for given in (x, x + 1, x - 1, x - 2):
        torch.testing.assert_close(compiled(given), program(given))
