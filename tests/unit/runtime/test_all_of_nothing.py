"""Whether all or any of no booleans hold, where IREE knows the booleans and not that there are none (see docs/engines.md)."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from repeated_calls import agrees_with_eager


@pytest.mark.share(4)
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
def test_booleans_that_are_one(output_type: str) -> None:
    def program(x: torch.Tensor, y: torch.Tensor) -> Any:
        no, yes = (torch.full((x.shape[0],), value) for value in (False, True))
        rows = torch.stack([x > 0, x == 1], 1)
        found = [no.all(), no.all(0, keepdim=True), yes.any(), yes.all(), no.any()]
        found += [rows.all(0), rows.all(1), rows.any(0), rows.all()]
        return *found, (x == y).all(), (x < y).all(), (x > 0).any(), (x.float() > y).all()

    agrees(program, output_type)


@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa"])
@pytest.mark.share(2)
def test_booleans_that_are_compared_with_themselves(output_type: str) -> None:
    """Any of none was what was on the stack: of IREE's threads, which nobody clears."""

    def program(x: torch.Tensor, y: torch.Tensor) -> Any:
        column = x[:, None]
        found = [(x != x).all(), (x == x).any(), (column != column).all(0), (y < y).all()]
        found += [
            (column == column).any(0),
            (column.expand(-1, 3) == column).any(0),
            (column == x).all(),
        ]
        return *found, (column != x).any(1), (column == x).all(1), (x + y).sum(), (x * y).sum()

    agrees(program, output_type)


def agrees(program: Any, output_type: str) -> None:
    sizes = iter([5, 0, 1, 0])

    def arguments() -> tuple[torch.Tensor, ...]:
        size = next(sizes)
        return torch.randint(-2, 3, (size,)), torch.randint(-2, 3, (size,))

    agrees_with_eager(
        program,
        arguments,
        output_type=output_type,
        engine="iree",
        dynamic_shapes=({0: torch.export.Dim("n", min=0, max=64)},) * 2,
    )
