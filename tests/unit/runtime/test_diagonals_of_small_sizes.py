"""Diagonals where a size is 0 or 1 in a call, which capture took for 2 or more: right, or refused.

Their length follows from the smaller side. It was taken as known (1 of ``[1, S]``), and elements of other memory were read.
"""

from __future__ import annotations

from itertools import product

import pytest
import torch
from torch import Tensor
from torch.export import Dim

import torch2mlir
from torch2mlir.errors import InputError

SIDES = [(1, "S"), (2, "S"), (3, "S"), ("S", 1), ("S", 2)]


@pytest.mark.parametrize("sides, offset", product(SIDES, (-1, 0, 1)))
@pytest.mark.parametrize("is_program", [False, True])
@pytest.mark.share(32)
def test_right_or_refused(
    sides: tuple[int | str, int | str], offset: int, is_program: bool
) -> None:
    def model(x: Tensor) -> Tensor:
        return x.diagonal(offset, 0, 1) * 2

    class Model(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return model(x)

    def matrix(size: int) -> Tensor:
        return torch.randn([size if side == "S" else int(side) for side in sides])

    varies = {axis: Dim.AUTO(min=0, max=8) for axis, side in enumerate(sides) if side == "S"}
    x = matrix(4)
    if is_program:  # which is not captured again for other sizes
        program = torch.export.export(Model(), (x,), dynamic_shapes=(varies,))
        compiled = torch2mlir.compile(program, output_type="linalg-on-tensors")
    else:
        compiled = torch2mlir.compile(
            model, x, output_type="linalg-on-tensors", dynamic_shapes=(varies,)
        )
    for size in (5, 2, 1, 0, 3):
        x = matrix(size)
        try:
            expected = model(x)
        except RuntimeError:  # an offset beyond the matrix
            continue
        try:
            torch.testing.assert_close(compiled(x), expected)
        except InputError:
            assert is_program and size < 2
