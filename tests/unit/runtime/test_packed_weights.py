"""IREE: weights are brought into the order of the kernels once, for products of more than one row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from repeated_calls import Together
from torch import nn

import torch2mlir

dialects = pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa"])


class Block(nn.Module):
    """What products meet in a transformer: a norm before, an activation, a residual behind, two of one weight."""

    def __init__(self, bias: bool = True) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(32)
        self.up = nn.Linear(32, 48, bias=bias)
        self.down = nn.Linear(48, 32, bias=bias)
        self.mix = nn.Parameter(torch.randn(32, 64) / 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x + self.down(F.gelu(self.up(self.norm(x))))
        y = y + self.down(torch.relu(self.up(y * x[..., :1])))
        return y @ self.mix


def packed(compiled: Any) -> int:
    """How many products read a weight in tiles, all of which are made beforehand."""
    text = compiled.text()
    main = text.split("@main_prepare")[0]
    assert main.count("linalg.transpose") <= 2 * main.count("linalg.mmt4d")
    return int(main.count("linalg.mmt4d"))


@torch.no_grad()
def agrees(
    model: Callable[..., Any],
    compiled: Callable[..., Any],
    *sizes: int,
) -> None:
    for _ in range(3):
        x = torch.randn(sizes)
        torch.testing.assert_close(compiled(x), model(x), rtol=1e-5, atol=1e-4)


ROWS = (2, 3, 7, 8, 13, 197)


@dialects
@torch.no_grad()
@pytest.mark.share(2)
def test_rows(output_type: str) -> None:
    """A block with weights of its own for each number of rows, compiled as one."""
    models = {f"{rows} rows": Block() for rows in ROWS}

    def given() -> dict[str, tuple[torch.Tensor]]:
        return {f"{rows} rows": (torch.randn(1, rows, 32),) for rows in ROWS}

    together = Together(models)
    compiled = torch2mlir.compile(together, given(), engine="iree", output_type=output_type)
    assert packed(compiled) == 5 * len(ROWS)
    (program,) = compiled.programs.values()
    assert sum(each.dim() == 3 for each in program.prepared_values()) == 3 * len(ROWS)
    for _ in range(3):
        arguments = given()
        torch.testing.assert_close(  # which names the rows
            compiled(arguments), together(arguments), rtol=1e-5, atol=1e-4
        )


class OfOtherSizes(nn.Module):
    """Weights that are read as matrices of other sizes than their own: a column, and a view."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(32, 1, bias=False)
        self.mix = nn.Parameter(torch.randn(16, 32))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return self.gate(x), x @ self.mix.view(32, 16), x[..., :16] @ self.mix.t().reshape(16, 32)


@pytest.mark.share(2)
@dialects
@torch.no_grad()
def test_weights_of_other_sizes(output_type: str) -> None:
    model = OfOtherSizes()
    compiled = torch2mlir.compile(model, torch.randn(7, 32), engine="iree", output_type=output_type)
    agrees(model, compiled, 7, 32)


@pytest.mark.share(2)
@dialects
@torch.no_grad()
def test_changed_weights(output_type: str) -> None:
    model = Block(bias=False).eval()
    compiled = torch2mlir.compile(
        model, torch.randn(2, 5, 32), engine="iree", output_type=output_type
    )
    agrees(model, compiled, 2, 5, 32)
    model.up.weight.mul_(2)
    agrees(model, compiled, 2, 5, 32)
    model.down.weight = nn.Parameter(torch.randn(32, 48) / 6)
    agrees(model, compiled, 2, 5, 32)
    model.mix.data = (torch.randn(64, 32) / 6).t()
    agrees(model, compiled, 2, 5, 32)


@pytest.mark.share(2)
@dialects
@torch.no_grad()
def test_what_stays(output_type: str) -> None:
    """One row, a second operand of the call, few columns, other element types."""
    programs = {
        "one row": nn.Linear(32, 48),
        "few columns": nn.Linear(32, 5),
        "both of the call": torch.matmul,
        "half": nn.Linear(32, 48).half(),
        "bfloat16": nn.Linear(32, 48).bfloat16(),
    }
    tolerances = {"half": 2e-3, "bfloat16": 2e-2}

    def given() -> dict[str, tuple[torch.Tensor, ...]]:
        x = torch.randn(4, 32)
        return {
            "one row": (torch.randn(1, 32),),
            "few columns": (x,),
            "both of the call": (x.clone(), torch.randn(32, 48)),
            "half": (x.half(),),
            "bfloat16": (x.bfloat16(),),
        }

    together = Together(programs)
    compiled = torch2mlir.compile(together, given(), engine="iree", output_type=output_type)
    assert packed(compiled) == 0
    for _ in range(3):
        arguments = given()
        results, expected = compiled(arguments), together(arguments)
        for name in programs:
            tolerance = tolerances.get(name, 1e-5)
            torch.testing.assert_close(
                {name: results[name]}, {name: expected[name]}, rtol=tolerance, atol=10 * tolerance
            )


@pytest.mark.share(2)
@dialects
@torch.no_grad()
def test_columns_that_are_no_whole_tiles(output_type: str) -> None:
    class Head(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.turned = nn.Linear(32, 21)
            self.plain = nn.Parameter(torch.randn(21, 37) / 5)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return F.softmax(self.turned(x) @ self.plain, -1)

    model = Head().eval()
    compiled = torch2mlir.compile(model, torch.randn(6, 32), engine="iree", output_type=output_type)
    assert packed(compiled) == 2
    agrees(model, compiled, 6, 32)


@torch.no_grad()
def test_rows_that_vary() -> None:
    model = Block().eval()
    compiled = torch2mlir.compile(
        model,
        torch.randn(2, 5, 32),
        engine="iree",
        output_type="linalg-on-tensors",
        dynamic_shapes=({0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC},),
    )
    assert packed(compiled) == 0
    for sizes in ((2, 5, 32), (3, 1, 32), (2, 17, 32)):
        agrees(model, compiled, *sizes)


@pytest.mark.share(2)
@dialects
@torch.no_grad()
def test_infinite_weights_stay_in_their_rows(output_type: str) -> None:
    """Rows that fill a tile up are multiplied too, and cut off."""
    model = nn.Linear(32, 48).eval()
    model.weight[3, 4] = torch.inf
    model.weight[5, 6] = torch.nan
    x = torch.randn(5, 32)
    compiled = torch2mlir.compile(model, x, engine="iree", output_type=output_type)
    assert packed(compiled) == 1
    for _ in range(3):
        x = torch.randn(5, 32)
        torch.testing.assert_close(compiled(x), model(x), equal_nan=True)
