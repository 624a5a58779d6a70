"""Numbers beside tensors of a dtype that cannot hold them: computed with, or infinite, as in eager PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import torch2mlir

PROGRAMS: dict[str, Callable[[torch.Tensor], Any]] = {
    "computed in f32": lambda x: (x * 1e5, x + 1e5, 1e5 - x.clamp(-1, 1) * 6e4, x / 1e5, x % 1e5),
    "a mask of large numbers": lambda x: (1 - (x > 0).to(x.dtype)) * -1e9,
    "attention": lambda x: (x[:, None] + (x > 0).to(x.dtype) * -1e9).softmax(-1),
    "chosen": lambda x: (torch.where(x > 0, x, -1e9), torch.where(x > 0, 1e9, x)),
    "compared": lambda x: (x < 1e5, x > -1e9, x == 1e6, x / 0 == 1e6, x * 0 + 6e4 < 7e4),
    "full": lambda x: x + torch.full((4,), 1e5),
    "of bf16": lambda x: (x.bfloat16() * 3.4e38, x.bfloat16() * 1e39, x.bfloat16() + 1e39),
    "of f32": lambda x: (x.float() * 1e39, x.float() < 1e39, x.float() + 1e300),
}


@pytest.mark.parametrize(
    "output_type, engine",
    [
        ("stablehlo", "xla"),
        ("linalg-on-tensors", "iree"),
        ("tosa", "iree"),
        ("onnx", "onnxruntime"),
    ],
)
@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers_that_a_dtype_cannot_hold(name: str, output_type: str, engine: str) -> None:
    if engine == "onnxruntime":
        pytest.importorskip("onnxruntime")
    program = PROGRAMS[name]

    def argument() -> torch.Tensor:
        return torch.cat([torch.tensor([0.4, -0.25]), torch.randn(2)]).half()

    compiled = torch2mlir.compile(program, argument(), output_type=output_type, engine=engine)
    for _ in range(3):
        x = argument()
        torch.testing.assert_close(compiled(x), program(x))
