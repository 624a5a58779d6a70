"""Programs of unknown sizes with loops beside other work on the tensors that the loops take, called again and again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch.export import Dim

import torch2mlir
from torch2mlir.errors import EngineError

Program = Callable[[torch.Tensor], tuple[torch.Tensor, ...]]
SIZES = ((3, 6), (2, 9), (5, 4), (2, 17), (2, 5))


def nucleus(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """What sampling from the likeliest tokens does: sorts twice, and reads both orders and the logits afterwards."""
    values, order = x.sort(1, descending=True)
    beyond = values.softmax(1).cumsum(1) > 0.9
    beyond = torch.cat([torch.zeros_like(beyond[:, :1]), beyond[:, :-1]], 1)
    removed = torch.zeros_like(beyond).scatter(1, order, beyond)
    return x.masked_fill(removed, float("-inf")), x.gather(1, order), x.argsort(1).argsort(1)


def running(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Running extrema of rows of several lengths, and what is read of the rows by position."""
    lengths = (x > 0).sum(1).clamp(min=1)
    places = torch.arange(x.shape[1])
    inside = places[None] < lengths[:, None]
    reversed_rows = x.gather(1, torch.where(inside, lengths[:, None] - 1 - places, places[None]))
    last = x.gather(1, (lengths - 1)[:, None])
    return reversed_rows, last, x.masked_fill(~inside, float("-inf")).cummax(1).values


def ranks(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Rows by their group, and their places within it."""
    group = x.argmax(1) % 3
    counted = F.one_hot(group, 3)
    order = group.argsort(stable=True)
    starts = torch.cumsum(counted.sum(0), 0) - counted.sum(0)
    place = torch.arange(x.shape[0]) - starts[group[order]]
    return x[order], place, torch.zeros(3, x.shape[1]).index_add(0, group, x)


def attended(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """A mask of positions that is counted as well as used."""
    size = x.shape[1]
    mask = torch.arange(size)[:, None] >= torch.arange(size)[None]
    scores = (x[:, :, None] * x[:, None]).masked_fill(~mask, -1e4)
    return scores.softmax(-1) @ x[:, :, None], mask.sum(1), torch.ones(size, size).tril().sum(0)


NO_ORDER = pytest.mark.xfail(
    raises=EngineError,
    strict=True,
    reason="IREE finds no order for sorts of unknown sizes beside scatters through TOSA",
)


@pytest.mark.parametrize(
    ("program", "output_type"),
    [
        pytest.param(program, dialect, marks=NO_ORDER)
        if program is nucleus and dialect == "tosa"
        else (program, dialect)
        for program in (nucleus, running, ranks, attended)
        for dialect in ("linalg-on-tensors", "tosa", "stablehlo", "onnx")
    ],
)
@pytest.mark.share(24)
def test_programs_with_loops_run_at_any_size(program: Program, output_type: str) -> None:
    shapes = ({0: Dim.AUTO, 1: Dim.AUTO},)
    compiled = torch2mlir.compile(
        program, torch.randn(3, 6), output_type=output_type, dynamic_shapes=shapes
    )
    for size in SIZES:
        x = torch.randn(size)
        torch.testing.assert_close(compiled(x), program(x), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("engine", ["onnxruntime", "openvino"])
def test_fewer_iterations_than_none_are_none(engine: str) -> None:
    """OpenVINO takes a trip count of -1 for a loop without end."""

    def added(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        for i in range(int(n.item())):
            x = x + i
        return x

    compiled = torch2mlir.compile(
        added, torch.randn(4), torch.tensor(2), output_type="onnx", engine=engine
    )
    for count in (2, 0, 5, -1, -7):
        x, n = torch.randn(4), torch.tensor(count)
        assert torch.equal(compiled(x, n), added(x, n))
