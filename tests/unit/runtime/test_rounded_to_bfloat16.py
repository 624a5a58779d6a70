"""What has been rounded to bfloat16 is that number, wherever it is read: IREE left the rounding out (docs/engines.md)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from repeated_calls import Together, agrees_with_eager
from torch import Tensor
from torch.export import Dim

import torch2mlir

Program = Callable[[torch.Tensor], torch.Tensor]


def rounded(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.bfloat16).float()


PROGRAMS: dict[str, Program] = {
    "compared": lambda x: rounded(x) == x,
    "floor": lambda x: rounded(x).floor(),
    "ceil": lambda x: rounded(x).reshape(-1).ceil(),
    "round": lambda x: x.to(torch.bfloat16).round(),
    "places": lambda x: torch.floor(rounded(x) + 0.5).long(),
    "integer": lambda x: x.to(torch.bfloat16).int(),
    "remainder": lambda x: torch.div(rounded(x), 3, rounding_mode="floor"),
    "as_it_is": lambda x: rounded(x) - x,
}


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo", "onnx"])
@pytest.mark.share(8)
def test_the_rounding_is_seen(output_type: str, dynamic: bool) -> None:
    sizes = {name: ({0: Dim("rows"), 1: Dim("columns")},) for name in PROGRAMS}
    agrees_with_eager(
        Together(PROGRAMS),
        lambda: ({name: (torch.randn(4, 5) * 1000 + 0.37,) for name in PROGRAMS},),
        output_type=output_type,
        dynamic_shapes=(sizes,) if dynamic else None,
    )


def _looped(x: Tensor, y: Tensor) -> Any:
    start = (torch.tensor(0), x)
    return torch.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 0.7 + 0.3), start)[1]


COMPUTED: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "sums": lambda x, y: (x + 1000 - 1000, (x + 0.3) - 0.3 == x, x * 3 - x),
    "quotients": lambda x, y: (torch.floor(x / 3), x * 3 / 3 == x, (x / 7).ceil() - x / 7),
    "integers": lambda x, y: ((x * 10).int(), torch.ceil(x * 0.1 - 1), (x * 0.3).round().long()),
    "choices": lambda x, y: (torch.where(x * 0.7 + y > y, x, y - x * 0.1), (x * 0.7).argmax(1)),
    "sorted": lambda x, y: (torch.sort(x * 0.7 + 1, -1)[0], torch.topk(x * 0.3 + 1, 3)[0]),
    "loop": _looped,
}
CONFIGURATIONS = {
    "stablehlo-xla": ("stablehlo", "xla"),
    "stablehlo-iree": ("stablehlo", "iree"),
    "linalg-iree": ("linalg-on-tensors", "iree"),
    "tosa-iree": ("tosa", "iree"),
    "onnxruntime": ("onnx", "onnxruntime"),
}


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
@pytest.mark.parametrize("name", COMPUTED)
@pytest.mark.share(4)
def test_each_result_is_rounded(name: str, configuration: str) -> None:
    """IREE kept 32 bits from one operation to the next, so comparisons and integers were others."""
    program = COMPUTED[name]
    dialect, engine = CONFIGURATIONS[configuration]

    def arguments(draw: int) -> list[Tensor]:
        generator = torch.Generator().manual_seed(draw)
        drawn = torch.randn(2, 6, 40, generator=generator) * 20
        return [each.to(torch.bfloat16) for each in drawn]

    ours = torch2mlir.compile(program, *arguments(0), output_type=dialect, engine=engine)
    for draw in (0, 1, 0):
        torch.testing.assert_close(
            ours(*arguments(draw)), program(*arguments(draw)), rtol=0, atol=0
        )
