"""Whether all of no booleans hold, where IREE knows the booleans and not that there are none (see docs/engines.md)."""

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


def test_booleans_that_are_compared_with_themselves() -> None:
    def program(x: torch.Tensor, y: torch.Tensor) -> Any:
        return (x != x).all(), (x == x).any(), (x[:, None] != x[:, None]).all(0), (y < y).all()

    agrees(program, "linalg-on-tensors")


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
