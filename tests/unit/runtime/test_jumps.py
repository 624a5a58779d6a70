"""Floats that become integers or truths are rounded as in eager mode: quotients, sums of products, sums of sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.export import Dim

import torch2mlir
from tests.e2e.agreement import assert_agrees
from torch2mlir.errors import EngineError

CONFIGURATIONS = {
    "stablehlo-xla": ("stablehlo", "xla"),
    "stablehlo-iree": ("stablehlo", "iree"),
    "linalg-iree": ("linalg-on-tensors", "iree"),
    "linalg-reference": ("linalg-on-tensors", "reference"),
    "tosa-iree": ("tosa", "iree"),
    "onnxruntime": ("onnx", "onnxruntime"),
    "openvino": ("onnx", "openvino"),
}
NUMBERS = (3, 7, 10, 0.1, 0.3, 0.01, 1 / 3)


def _each(code: Callable[[Any], Tensor]) -> Tensor:
    return torch.stack([code(number) for number in NUMBERS])


def by_number(x: Tensor, y: Tensor) -> Any:
    return _each(lambda n: torch.floor(x / n)), _each(lambda n: (x * n / n).int())


def by_tensor(x: Tensor, y: Tensor) -> Any:
    quotient = x / y[:, None]
    twice = torch.ceil((x / 0.01) / (y[:, None].abs() + 1))
    return torch.floor(quotient), quotient == torch.floor(quotient), torch.ceil(quotient + 1), twice


def rests(x: Tensor, y: Tensor) -> Any:
    return _each(lambda n: x / n - torch.floor(x / n)), _each(lambda n: torch.floor(x / n) * n == x)


def sums_of_products(x: Tensor, y: Tensor) -> Any:
    return (
        _each(lambda n: torch.ceil(x * n - 1)),
        _each(lambda n: torch.floor(1 - x * n)),
        _each(lambda n: x * n - n * 7 > 0),
        torch.sign(x * y[:1] - x * 0.3),
    )


def places(x: Tensor, y: Tensor) -> Any:
    """As images are sampled at normalized places."""

    def place(size: float) -> Tensor:
        normalized = (x % size) / size * 2 - 1 + 1 / size
        return torch.floor(((normalized + 1) * size - 1) / 2)

    return _each(place)


def quantized(x: Tensor, y: Tensor) -> Any:
    scale = y.abs().amax() / 127.5
    return torch.round(x / scale + 3).clamp(-128, 127), torch.round((x - 64) * 0.5 / 0.1)


def tables(x: Tensor, y: Tensor) -> Any:
    """A quotient chooses rows of a table."""
    table = torch.arange(4000.0).reshape(-1, 2)
    return table[(x / 3).clamp(0, 1999).int()], F.one_hot((x / 49).long() % 5, 5)


def functions(x: Tensor, y: Tensor) -> Any:
    """Roots of squares, logarithms of powers and powers of integers are integers."""
    whole, few = (x % 40).round(), (x % 9).round()
    powers = torch.stack([2.0**few, 10.0**few, torch.pow(whole, torch.tensor(2.0)), 3.0**few])
    roots = torch.stack(
        [torch.sqrt(whole * whole), (whole * whole) ** 0.5, torch.hypot(3 * few, 4 * few)]
    )
    logarithms = torch.stack(
        [torch.log2(2.0**few), torch.log10(10.0**few), torch.log(x / x.clamp(1))]
    )
    return torch.floor(powers), torch.floor(roots), torch.floor(logarithms), 2.0**-few == 0.125


def slopes(x: Tensor, y: Tensor) -> Any:
    """These do not jump, and are rounded as engines like."""
    shifted = x / 7 - 3
    return F.leaky_relu(shifted), torch.where(shifted > 0, shifted, 0.0), F.elu(shifted)


PROGRAMS: dict[str, Callable[[Tensor, Tensor], Any]] = {
    each.__name__: each
    for each in (
        *(by_number, by_tensor, rests, sums_of_products, places, quantized, tables, slopes),
        functions,
    )
}
REFUSED = {("openvino", "tables"), ("openvino", "places"), ("openvino", "functions")}
"""OpenVINO is asked for no remainders of floats and for no integers of floats that may leave 32 bits."""


def _arguments(draw: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(draw)
    return torch.arange(512.0) + 100 * draw, torch.randn(9, generator=generator) + 0.3


@pytest.mark.parametrize("sizes", ["static", "dynamic"])
@pytest.mark.parametrize("configuration", CONFIGURATIONS)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.share(8)
def test_floats_that_jump(name: str, configuration: str, sizes: str) -> None:
    """Some were the integer before or after, in silence."""
    dialect, engine = CONFIGURATIONS[configuration]
    program = PROGRAMS[name]
    if sizes == "dynamic" and dialect == "stablehlo":
        pytest.skip(
            "XLA compiles for each size, and IREE takes no reshapes of stacks whose sizes vary"
        )
    dynamic = ({0: Dim.AUTO}, {0: Dim.AUTO}) if sizes == "dynamic" else None
    options = {"output_type": dialect, "engine": engine, "dynamic_shapes": dynamic}
    if (engine, name) in REFUSED:
        with pytest.raises(EngineError, match="OpenVINO is not asked to run this"):
            torch2mlir.compile(program, *_arguments(0), **options)(*_arguments(0))
        return
    ours = torch2mlir.compile(program, *_arguments(0), **options)
    for draw in (0, 1, 0):
        x, y = _arguments(draw)
        if sizes == "dynamic" and draw:
            x = x[:300]
        assert_agrees(ours(x, y), program(x, y))


def test_what_does_not_jump_is_left() -> None:
    """A softmax is divided by its sum as fast as XLA can, and a slope is not compared twice."""
    x = torch.randn(8, 16)
    assert "barrier" not in torch2mlir.compile(lambda x: torch.softmax(x / 3, -1), x).text()
    text = torch2mlir.compile(lambda x: F.leaky_relu(x * 0.3 + 1), x).text()
    assert text.count("compare") == 1
    kept = torch2mlir.compile(lambda x: torch.floor(x * 0.3 + 1) + torch.floor(x / 3), x).text()
    assert "barrier" in kept
    assert "compare" in kept


@pytest.mark.parametrize("way", ["optimize", "torch.compile"])
def test_floats_that_jump_in_clusters(way: str) -> None:
    x, y = _arguments(0)
    ours: Callable[..., Any]
    if way == "optimize":
        ours = torch2mlir.optimize(
            sums_of_products, model_inputs=(x, y), engine="xla", min_cluster_size=1
        )
    else:
        ours = torch.compile(sums_of_products, backend="torch2mlir")
    for draw in (0, 1, 0):
        arguments = _arguments(draw)
        assert_agrees(ours(*arguments), sums_of_products(*arguments))
