"""Reductions that are given a tensor of another dtype to write to compute in that one, as PyTorch's do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

import torch2mlir

F16, F32, F64, BF16, I64 = (
    *(torch.float16, torch.float32, torch.float64),
    *(torch.bfloat16, torch.int64),
)
Program = Callable[[Tensor, Tensor], Tensor]
PROGRAMS: dict[str, tuple[Program, torch.dtype, torch.dtype, float]] = {
    "sum": (lambda x, y: torch.sum(x, 0, out=y), F16, F32, 4e4),
    "sum in bfloat16": (lambda x, y: torch.sum(x, 0, out=y), BF16, F32, 1.0),
    "sum of whole parts": (lambda x, y: torch.sum(x, 0, out=y), F32, I64, 1.9),
    "nansum": (lambda x, y: torch.nansum(x, 0, out=y), F16, F32, 4e4),
    "prod": (lambda x, y: torch.prod(x[:3], 0, out=y), F16, F32, 400.0),
    "var": (lambda x, y: torch.var(x + 1e5, 0, out=y), F32, F64, 300.0),
    "std": (lambda x, y: torch.std(x + 1e5, 0, out=y), F32, F64, 300.0),
    "mean": (lambda x, y: torch.mean(x, 0, out=y), F16, F32, 4e4),
    "made within": (
        lambda x, y: torch.sum(x, 0, out=torch.empty_like(y)),
        BF16,
        F32,
        1.0,
    ),
}


@pytest.mark.share(6)
@pytest.mark.parametrize("output_type", ["onnx", "stablehlo"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_computed_in_the_dtype_that_is_written(name: str, output_type: Any) -> None:
    program, given, written, scale = PROGRAMS[name]

    def arguments() -> tuple[Tensor, Tensor]:
        return (torch.rand(200, 2) * scale).to(given), torch.zeros(2, dtype=written)

    ours = torch2mlir.compile(program, *arguments(), output_type=output_type)
    for _ in range(3):
        x, y = arguments()
        ours_y = y.clone()
        assert_close(ours(x, ours_y), program(x, y))
        assert_close(ours_y, y)


@pytest.mark.parametrize("program", [torch.var, torch.std])
def test_complex_numbers_keep_their_imaginary_part(program: Any) -> None:
    def written(x: Tensor, y: Tensor) -> Tensor:
        return program(x, 1, out=y) * 1  # type: ignore[no-any-return]

    example = torch.randn(3, 4, dtype=torch.complex64)
    ours = torch2mlir.compile(written, example, torch.zeros(3), output_type="onnx")
    for _ in range(3):
        x, y, other = torch.randn(3, 4, dtype=torch.complex64), torch.zeros(3), torch.zeros(3)
        assert_close(ours(x, y), written(x, other))
        assert_close(y, other)


@pytest.mark.share(2)
@pytest.mark.parametrize("output_type", ["onnx", "stablehlo"])
def test_logsumexp(output_type: Any) -> None:
    """PyTorch takes exponentials in the operand's dtype and adds them up in the other."""
    ours = torch2mlir.compile(
        lambda x, y: torch.logsumexp(x, 0, out=y),
        torch.zeros(300, 2, dtype=F16),
        torch.zeros(2),
        output_type=output_type,
    )
    for _ in range(3):
        x, y = torch.randn(300, 2).to(F16), torch.zeros(2)
        assert_close(ours(x, y), torch.logsumexp(x.float(), 0))
        assert_close(y, torch.logsumexp(x, 0, out=torch.zeros(2)), rtol=1e-3, atol=1e-3)
