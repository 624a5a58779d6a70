"""TorchScript programs that take parts of a tensor one by one, of sizes that vary: a call of other parts is refused.

How many parts there are was decided by the example, and calls with other numbers had results where PyTorch raises.
"""

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


def rows(x: Tensor) -> Tensor:
    a, b, c = x.unbind(0)
    return a + b * c


def rows_in_branch(x: Tensor) -> Tensor:
    if bool(x.sum() > 0):
        a, b, c = x.unbind(0)
        return a + b * c
    return x[0]


def last_row(x: Tensor) -> Tensor:
    return x.unbind(0)[3] * 2


def row_from_end(x: Tensor) -> Tensor:
    return x.unbind(0)[-2] * 2


def zipped(x: Tensor) -> Tensor:
    found: list[Tensor] = []
    for part, count in zip(x.split([2, 1], 0), [2, 1]):
        found.append(part.topk(count, 1)[0].reshape(-1))
    return torch.cat(found)


def halves(x: Tensor) -> Tensor:
    a, b = x.split(2)
    return a.sum(0) + b.mean(0) * 2


def second_of_split(x: Tensor) -> Tensor:
    return x.split(2)[1] * 2


def thirds(x: Tensor) -> Tensor:
    a, b, c = x.chunk(3)
    return torch.cat([c, a, b])


def lengths(x: Tensor) -> tuple[Tensor, Tensor]:
    a, b = x.split([2, 3])
    return b, a


def second_length(x: Tensor) -> Tensor:
    return x.split([2, 3])[1] * 2


def rest(x: Tensor) -> Tensor:
    a, b = x.split([1, x.shape[0] - 1])
    return b * a


CASES = {
    rows: 3,
    rows_in_branch: 3,
    last_row: 5,
    row_from_end: 3,
    zipped: 3,
    halves: 4,
    second_of_split: 4,
    thirds: 6,
    lengths: 5,
    second_length: 5,
    rest: 4,
}
"""Program -> how many rows its example has."""


@pytest.mark.share(9)
@torch.no_grad()
@pytest.mark.parametrize("program", CASES, ids=lambda each: each.__name__)
@pytest.mark.parametrize("capture", ["script", "trace"])
@pytest.mark.parametrize("output_type", ["stablehlo", "linalg-on-tensors", "tosa", "onnx"])
@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
def test_right_or_refused(program: Callable[[Tensor], Any], capture: str, output_type: Any) -> None:
    torch.manual_seed(0)
    example = torch.rand(CASES[program], 4)
    script: Any = torch.jit.script(program)
    if capture == "trace":
        script = torch.jit.trace(program, example)
    compiled = torch2mlir.compile(
        script, example, dynamic_shapes=({0: Dim.AUTO},), output_type=output_type
    )
    right = 0
    for count in (*range(1, 8), CASES[program]):
        x = torch.rand(count, 4)
        try:
            result = compiled(x)
        except (
            Torch2MLIRError
        ):  # PyTorch raises too, or the parts are of other lengths than a program has
            continue
        assert_close(result, script(x), equal_nan=True)
        right += 1
    assert right
