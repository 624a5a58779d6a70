"""Sums of many elements are as near to the real ones as eager mode's, also on engines that add up one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor
from torch.export import Dim

import torch2mlir


def sums(line: Tensor, table: Tensor, images: Tensor) -> Sequence[Tensor]:
    """Of squares, so that nothing cancels: of everything, of lines, of columns, and of channels."""
    return (
        *((line * line).sum(), line.square().mean(), line.norm()),
        *((table * table).sum(1), (table * table).sum(0), (table.mT * table.mT).mean(1)),
        *((images * images).sum([0, 2, 3], keepdim=True), images.var([0, 2, 3])),
    )


def _numbers() -> tuple[Tensor, ...]:
    return torch.randn(300_000), torch.randn(20_000, 3), torch.randn(20, 3, 40, 40)


@pytest.mark.parametrize("is_dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
@pytest.mark.share(6)
def test_they_are_near_the_real_ones(output_type: str, is_dynamic: bool) -> None:
    n = Dim("n", min=2, max=1 << 20)
    sizes = ({0: n}, {0: Dim.AUTO}, {0: Dim.AUTO}) if is_dynamic else None
    numbers = _numbers()
    compiled = torch2mlir.compile(
        sums, *numbers, output_type=output_type, engine="iree", dynamic_shapes=sizes
    )
    _assert_near(compiled, numbers)


@pytest.mark.parametrize("engine", ["onnxruntime", "openvino"])
def test_engines_of_onnx(engine: str) -> None:
    numbers = _numbers()
    compiled = torch2mlir.compile(sums, *numbers, output_type="onnx", engine=engine)
    _assert_near(compiled, numbers)


@pytest.mark.parametrize("engine", ["onnxruntime", "openvino"])
def test_lines_that_cannot_be_cut(engine: str) -> None:
    """Their lengths are a prime, and twice one."""

    def sums(line: Tensor, table: Tensor) -> Sequence[Tensor]:
        return line.mean(), line.sum(), line.var(), table.mean(0, keepdim=True), table.sum((0, 1))

    numbers = torch.rand(100_003), torch.rand(2 * 20_011, 3)
    compiled = torch2mlir.compile(sums, *numbers, output_type="onnx", engine=engine)
    for _ in range(3):
        numbers = torch.rand(100_003), torch.rand(2 * 20_011, 3)
        for found, exact in zip(
            compiled(*numbers), sums(*(each.double() for each in numbers)), strict=True
        ):
            torch.testing.assert_close(found.double(), exact, rtol=1e-6, atol=0)


@pytest.mark.parametrize(("engine", "near"), [("onnxruntime", 2e-7), ("openvino", 2e-6)])
def test_of_unknown_sizes(engine: str, near: float) -> None:
    """Of everything, and of a narrow table; calls of few elements and none are in the same program."""

    def sums(line: Tensor, table: Tensor, images: Tensor) -> Sequence[Tensor]:
        return (
            *(line.mean(), line.square().sum(), line.var(), line.sum(0, keepdim=True)),
            *(table.sum(0), table.mean((0, 1)), table.mean(0, keepdim=True)),
            *(images.square().mean(), images.sum((0, 2, 3))),
        )

    unknown = ({0: Dim.AUTO}, {0: Dim.AUTO}, {0: Dim.AUTO, 2: Dim.AUTO, 3: Dim.AUTO})
    example = torch.rand(9), torch.rand(8, 3), torch.rand(3, 2, 6, 5)
    compiled = torch2mlir.compile(
        sums, *example, output_type="onnx", engine=engine, dynamic_shapes=unknown
    )
    for n in (500_003, 0, 1, 7, 1024):
        numbers = torch.rand(n), torch.rand(n, 3), torch.rand(2, 2, 300, 1 + n % 500)
        for found, exact in zip(
            compiled(*numbers), sums(*(each.double() for each in numbers)), strict=True
        ):
            assert found.shape == exact.shape
            torch.testing.assert_close(found.double(), exact, rtol=near, atol=0, equal_nan=True)


@pytest.mark.parametrize("is_dynamic", [False, True], ids=["static", "dynamic"])
def test_running_sums_of_onnxruntime(is_dynamic: bool) -> None:
    def sums(line: Tensor, table: Tensor) -> Sequence[Tensor]:
        return line.cumsum(0), table.cumsum(0), table.cumsum(1)

    unknown = ({0: Dim.AUTO}, {0: Dim.AUTO}) if is_dynamic else None
    numbers = torch.rand(100_000), torch.rand(20_000, 3)
    compiled = torch2mlir.compile(
        sums, *numbers, output_type="onnx", engine="onnxruntime", dynamic_shapes=unknown
    )
    for _ in range(3):
        numbers = torch.rand(100_000), torch.rand(20_000, 3)
        for found, expected in zip(compiled(*numbers), sums(*numbers), strict=True):
            torch.testing.assert_close(found, expected, rtol=2e-7, atol=0)


def _assert_near(compiled: Callable[..., Sequence[Tensor]], numbers: Sequence[Tensor]) -> None:
    exact = sums(*(each.double() for each in numbers))
    for found, expected in zip(compiled(*numbers), exact, strict=True):
        torch.testing.assert_close(found.double(), expected, rtol=1e-6, atol=0)
