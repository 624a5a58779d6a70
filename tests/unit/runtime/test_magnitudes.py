"""Absolute values of what others read too: OpenVINO computed them in the memory of a joined tensor and of constants."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import torch2mlir

ENDS = torch.arange(-4.0, 4.0)


def _of_joined(x: Tensor) -> tuple[Tensor, ...]:
    joined = torch.cat([x.sin(), x.cos()])
    return joined.abs() - joined, (-joined).abs() - joined, joined


def _of_views(x: Tensor) -> tuple[Tensor, ...]:
    rows = torch.stack([x.sin(), x.cos()])
    columns, line = rows.t(), rows.flatten()
    return columns.abs() - columns, line.abs() - line, rows[:1].abs() * rows


def _of_parts(x: Tensor) -> tuple[Tensor, ...]:
    first = x.sin()
    joined = torch.cat([first, x.cos()])
    left, right = joined.chunk(2)
    return joined + torch.cat([first.abs()] * 2), left.abs() - left + right.abs() * right


def _of_constants(x: Tensor) -> tuple[Tensor, ...]:
    joined = torch.cat([ENDS, x])
    return ENDS.abs() + ENDS * x, joined.abs() - joined, x * torch.bartlett_window(8)


def _of_integers(x: Tensor) -> tuple[Tensor, ...]:
    joined = (torch.cat([x, -x]) * 1000).int()
    return joined.abs() - joined, joined


def _of_zeros(x: Tensor) -> Tensor:
    joined = torch.cat([x * 0, x * -0.0])
    return 1 / joined.abs() + joined


FUNCTIONS = [_of_joined, _of_views, _of_parts, _of_constants, _of_integers, _of_zeros]


@pytest.mark.parametrize("varies", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("engine", ["openvino", "onnxruntime"])
@pytest.mark.share(2)
def test_others_read_what_was_there(
    engine: str, function: Callable[[Tensor], Tensor | tuple[Tensor, ...]], varies: bool
) -> None:
    if varies and function is _of_constants:
        pytest.skip("its constants have eight elements")
    sizes = ({0: torch.export.Dim.DYNAMIC},) if varies else None
    compiled = torch2mlir.compile(
        function, torch.randn(8), dynamic_shapes=sizes, output_type="onnx", engine=engine
    )
    for _ in range(4):
        x = torch.randn(8)
        torch.testing.assert_close(compiled(x), function(x))


@pytest.mark.parametrize("length", [5, 7, 9])
def test_running_log_sum_exp_of_short_lines(length: int) -> None:
    compiled = torch2mlir.compile(
        lambda x: x.logcumsumexp(0), torch.randn(length), output_type="onnx", engine="openvino"
    )
    for _ in range(20):
        x = torch.randn(length)
        torch.testing.assert_close(compiled(x), x.logcumsumexp(0))
