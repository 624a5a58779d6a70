"""Windows added up where they overlap: ``unfold_backward`` and ``istft``, element by element as PyTorch adds them."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import Dim

import torch2mlir

unfold_backward = torch.ops.aten.unfold_backward
SHAPES: list[tuple[list[int], int, int, int]] = [
    ([7], 0, 3, 2),
    ([8], 0, 3, 2),
    ([2, 9], 1, 4, 1),
    ([3, 10, 2], 1, 3, 3),
    ([3, 11, 2], 1, 2, 4),
    ([3, 11, 2], -2, 5, 2),
    ([6], 0, 1, 1),
    ([5, 6], 1, 6, 3),
    ([2, 70], 1, 40, 1),
]
DIALECTS = ("stablehlo", "linalg-on-tensors", "tosa")


@pytest.mark.share(12)
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("sizes", "dim", "size", "step"), SHAPES)
def test_the_sums_are_pytorchs(
    sizes: list[int], dim: int, size: int, step: int, dialect: str
) -> None:
    at = dim % len(sizes)
    count = (sizes[at] - size) // step + 1
    shape = [*sizes[:at], count, *sizes[at + 1 :], size]

    def program(grad: Tensor) -> Tensor:
        return unfold_backward(grad, sizes, dim, size, step)

    compiled = torch2mlir.compile(program, torch.rand(shape), output_type=dialect)
    for _ in range(3):
        grad = torch.randn(shape)
        grad.view(-1)[0], grad.view(-1)[-1] = math.inf, -0.0
        torch.testing.assert_close(compiled(grad), program(grad), rtol=0, atol=0)
        if len(sizes) == 1:
            assert torch.equal(torch.signbit(compiled(grad)), torch.signbit(program(grad)))


def _signal(window: Tensor, **options: Any) -> Any:
    def program(x: Tensor) -> Tensor:
        return torch.istft(torch.complex(x, x + 1), 64, 16, window=window, **options)

    return program


@pytest.mark.share(4)
@pytest.mark.parametrize("dialect", DIALECTS[:2])
@pytest.mark.parametrize("options", [{}, {"normalized": True, "length": 190}])
def test_signals_of_any_number_and_length(options: dict[str, Any], dialect: str) -> None:
    program = _signal(torch.hann_window(64), **options)
    frames = {0: Dim("b")} if options else {0: Dim("b"), 2: Dim("n", min=4)}
    compiled = torch2mlir.compile(
        program, torch.rand(4, 33, 15), dynamic_shapes=(frames,), output_type=dialect
    )
    for batch, length in ((4, 15), (2, 15 if options else 10), (1, 15 if options else 5)):
        x = torch.rand(batch, 33, length)
        torch.testing.assert_close(compiled(x), program(x))


def test_the_program_does_not_grow_with_the_window() -> None:
    """PyTorch adds up one element of all windows after the other where their signals are several."""
    module = torch2mlir.export_and_import(
        _signal(torch.hann_window(64)), torch.rand(4, 33, 15), output_type="torch"
    )
    assert str(module).count("\n") < 250
