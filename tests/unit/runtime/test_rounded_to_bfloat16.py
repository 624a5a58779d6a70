"""What has been rounded to bfloat16 is that number, wherever it is read: IREE left the rounding out (docs/engines.md)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from repeated_calls import Together, agrees_with_eager
from torch.export import Dim

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
