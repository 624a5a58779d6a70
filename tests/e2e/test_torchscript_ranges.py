"""Loops of TorchScript over ranges of sizes that vary, and of what another loop counts."""

# TorchScript reads annotations as they are written
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.export import Dim
from torch.testing import assert_close

import torch2mlir
from tests.e2e.configurations import TARGETS, require


def from_the_second(x: Tensor) -> Tensor:
    y = x[0] * 1
    for i in range(1, x.size(0)):
        y = y * 0.5 + x[i]
    return y


def backwards(x: Tensor) -> Tensor:
    y = torch.zeros_like(x[0])
    for i in range(x.size(0) - 1, -1, -1):
        y = y * 0.5 + x[i]
    return y


def every_second(x: Tensor) -> Tensor:
    y = torch.zeros_like(x[0])
    for i in range(0, x.size(0), 2):
        y = y * 0.5 + x[i]
    return y


def between(x: Tensor) -> Tensor:
    y = torch.zeros_like(x[0])
    for i in range(2, x.size(0) - 1):
        y = y * 0.5 + x[i]
    return y


def pairs(x: Tensor) -> Tensor:
    y = torch.zeros_like(x[0])
    for i in range(x.size(0)):
        for j in range(i + 1, x.size(0)):
            y = y + x[i] * x[j] * float(i)
    return y


def suppressed(x: Tensor) -> Tensor:
    """As non-maximum suppression of sorted boxes goes."""
    kept = torch.ones(x.size(0))
    for i in range(x.size(0)):
        if bool(kept[i] > 0):
            for j in range(i + 1, x.size(0)):
                if bool((x[i] - x[j]).abs().sum() < 1.5):
                    kept[j] = 0.0
    return kept


PROGRAMS = (from_the_second, backwards, every_second, between, pairs, suppressed)


@pytest.mark.share(15)
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("varies", [True, False])
@pytest.mark.parametrize("output_type, engine", [t for t in TARGETS if t[1] != "openvino"])
def test_as_many_turns_as_eager_mode(
    function: Callable[[Tensor], Tensor], varies: bool, output_type: str, engine: str
) -> None:
    require(engine)
    if engine == "iree" and function is suppressed:
        pytest.skip("IREE compiles no loop that hands on lines and looks at their elements")
    script = torch.jit.script(function)
    ours = torch2mlir.compile(
        script,
        torch.randn(4, 3),
        output_type=output_type,
        engine=engine,
        dynamic_shapes=({0: Dim.AUTO},) if varies else None,
    )
    for rows in (4, 2, 6, 1, 3) if varies else (4, 4, 4):
        x = torch.randn(rows, 3)
        assert_close(ours(x), script(x))
