"""Numbers beside tensors of a dtype that cannot hold them: computed with, or infinite, as in eager PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.unit.runtime.repeated_calls import Together, agrees_with_eager

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

on_every_target = pytest.mark.parametrize(
    "output_type, engine",
    [
        ("stablehlo", "xla"),
        ("linalg-on-tensors", "iree"),
        ("tosa", "iree"),
        ("onnx", "onnxruntime"),
    ],
)


@pytest.mark.share(6)
@on_every_target
def test_numbers_that_a_dtype_cannot_hold(output_type: str, engine: str) -> None:
    if engine == "onnxruntime":
        pytest.importorskip("onnxruntime")

    def argument() -> torch.Tensor:
        return torch.cat([torch.tensor([0.4, -0.25]), torch.randn(2)]).half()

    agrees_with_eager(
        Together(PROGRAMS),
        lambda: ({name: (argument(),) for name in PROGRAMS},),
        tolerance=None,
        output_type=output_type,
        engine=engine,
    )


def _beside_bytes(x: torch.Tensor) -> list[torch.Tensor]:
    """Each of these wraps around where the dtype cannot hold it: -4 is 252 as a uint8."""
    numbers = [-4, -1, 255, 300, -300]
    wrapped = [n for n in numbers if torch.tensor(n).to(x.dtype)]
    quotients = [torch.div(x, n, rounding_mode="trunc") for n in wrapped]
    return [
        *quotients,
        *[x % n for n in wrapped],
        *[torch.fmod(x, n) for n in wrapped],
        *[x // n for n in wrapped],
        *[(x * n + n) // 2 for n in numbers],
        *[(n - x) % 7 for n in numbers],
    ]


@pytest.mark.share(6)
@on_every_target
def test_integers_that_a_dtype_cannot_hold(output_type: str, engine: str) -> None:
    if engine == "onnxruntime":
        pytest.importorskip("onnxruntime")
    dtypes = {str(dtype): dtype for dtype in (torch.int8, torch.uint8)}
    agrees_with_eager(
        Together({name: _beside_bytes for name in dtypes}),
        lambda: ({name: (_bytes(dtype),) for name, dtype in dtypes.items()},),
        tolerance=0,
        output_type=output_type,
        engine=engine,
    )


def _bytes(dtype: torch.dtype) -> torch.Tensor:
    return torch.randint(-128, 255, (9,)).to(dtype)
