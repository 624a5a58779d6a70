"""What has sizes that a check refuses is not run on IREE: its memory would be too small for what is written."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import torch2mlir
from torch2mlir.errors import InputError


def _parts(x: Tensor, y: Tensor) -> Tensor:
    return y.view(x[x > 0].shape[0], -1) * 2


def _parts_of_parts(x: Tensor, y: Tensor) -> Tensor:
    n = x[x > 0].shape[0]
    return (y * 2).view(n, 2, -1).sum(1) + 1


def _asked(x: Tensor, y: Tensor) -> Tensor:
    n = x[x > 0].shape[0]
    torch._check(y.shape[0] == 4 * n)
    return (y + 1).view(4, n) * 2


def _number(x: Tensor, y: Tensor) -> Tensor:
    n = x.long().sum().item()
    torch._check(n > 0)
    torch._check(n <= y.shape[0])
    return y.view(n, -1).exp()


PROGRAMS: list[Callable[[Tensor, Tensor], Tensor]] = [_parts, _parts_of_parts, _asked, _number]


@pytest.mark.share(4)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__.strip("_"))
def test_memory_is_left_alone(program: Callable[[Tensor, Tensor], Tensor]) -> None:
    """The C library ended the process at one of the next calls: "double free or corruption"."""
    y = torch.rand(4096)
    compiled = torch2mlir.compile(
        program, torch.ones(1024), y, output_type="linalg-on-tensors", engine="iree"
    )
    for count in (1024, 3, 1000, 1024, 0, 7, 1023, 1024) * 3:
        x = torch.zeros(1024)
        x[:count] = 1
        try:
            expected = program(x, y)
        except RuntimeError:
            with pytest.raises(InputError, match="the program needs it|divides a number by 0"):
                compiled(x, y)
            continue
        torch.testing.assert_close(compiled(x, y), expected)


def test_booleans_that_are_results_stop_nothing() -> None:
    def program(x: Tensor) -> tuple[Tensor, Tensor]:
        n = x[x > 0].shape[0]
        return torch.full((), n) > 2, x + n

    compiled = torch2mlir.compile(
        program, torch.ones(4), output_type="linalg-on-tensors", engine="iree"
    )
    for count in (4, 1, 0, 3):
        x = torch.zeros(4)
        x[:count] = 1
        torch.testing.assert_close(compiled(x), program(x))
