"""Calls that PyTorch refuses and its kernels on fake tensors do not: captured as they are, they had results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import Dim
from torch.testing import assert_close

import torch2mlir
from torch2mlir.errors import Torch2MLIRError

R = torch.randn


def add_two_rows(x: Tensor, rows: Tensor) -> Tensor:
    return x.index_add(0, torch.tensor([0, 1]), rows)


PROGRAMS: dict[Callable[..., Tensor], tuple[tuple[Tensor, ...], ...]] = {
    torch.addmm: (
        (R(2, 3), R(2, 2), R(2, 3)),
        (R(2, 3), R(1, 2), R(2, 3)),
        (R(4, 2, 3), R(2, 2), R(2, 3)),
    ),
    torch.addmv: ((R(2), R(2, 2), R(2)), (R(2), R(1, 2), R(2))),
    torch.addbmm: ((R(2, 3), R(2, 2, 4), R(2, 4, 3)), (R(2, 3), R(2, 1, 4), R(2, 4, 3))),
    torch.baddbmm: ((R(2, 2, 3), R(2, 2, 4), R(2, 4, 3)), (R(2, 2, 3), R(1, 2, 4), R(1, 4, 3))),
    add_two_rows: ((R(3, 4), R(2, 4)), (R(3, 4), R(2, 1)), (R(3, 4), R(1, 4))),
    lambda x, y: torch.diagonal_scatter(x, y): ((R(3, 4), R(3)), (R(3, 4), R(4))),
    lambda x, y: torch.diagonal_scatter(x, y, 1): ((R(3, 4), R(3)), (R(3, 4), R(1))),
    lambda x, y: torch.diagonal_scatter(x, y, -1, 1, 0): ((R(4, 3), R(2)), (R(4, 3), R(3))),
    lambda x, y: torch.select_scatter(x, y, 0, 1): ((R(3, 4), R(4)), (R(3, 4), R(1))),
    lambda x, y: torch.select_scatter(x, y, 1, 1): ((R(3, 4, 2), R(3, 2)), (R(3, 4, 2), R(3, 1))),
}
"""Program -> arguments that fit, and some that do not."""


@pytest.mark.parametrize("output_type", ["stablehlo", "onnx"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_what_does_not_fit_is_refused(program: Any, output_type: Any) -> None:
    fitting, *others = PROGRAMS[program]
    assert_close(
        torch2mlir.compile(program, *fitting, output_type=output_type)(*fitting), program(*fitting)
    )
    for arguments in others:
        with pytest.raises((RuntimeError, IndexError)):
            program(*arguments)
        with pytest.raises(Torch2MLIRError, match=r"this op cannot run|cannot capture the model"):
            torch2mlir.compile(program, *arguments, output_type=output_type)


def select(x: Tensor, y: Tensor) -> Tensor:
    return torch.select_scatter(x, y, 1, 1)


PROGRAMS[select] = (R(3, 4, 2), R(3, 2)), (R(3, 4, 2), R(3, 3)), (R(3, 4, 2), R(2, 2))


@pytest.mark.parametrize(
    "program", [torch.addmm, torch.addbmm, torch.baddbmm, add_two_rows, select]
)
def test_sizes_that_vary(program: Any) -> None:
    fitting, *others = PROGRAMS[program]
    shapes: Any = tuple({axis: Dim.AUTO for axis in range(x.dim())} for x in fitting)
    compiled = torch2mlir.compile(program, *fitting, dynamic_shapes=shapes, output_type="onnx")
    for _ in range(3):
        arguments = [torch.randn_like(each) for each in fitting]
        assert_close(compiled(*arguments), program(*arguments))
    for arguments in others:
        with pytest.raises(Torch2MLIRError):
            compiled(*arguments)
