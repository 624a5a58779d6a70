"""Integers and booleans that rounded floats decide and no argument does: they are eager mode's on every engine."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim

import torch2mlir
from tests.e2e.agreement import assert_agrees
from torch2mlir.transforms.known_values import MOST_INTEGERS

CONFIGURATIONS = {
    "stablehlo-xla": ("stablehlo", "xla"),
    "stablehlo-iree": ("stablehlo", "iree"),
    "linalg-iree": ("linalg-on-tensors", "iree"),
    "linalg-reference": ("linalg-on-tensors", "reference"),
    "tosa-iree": ("tosa", "iree"),
    "onnxruntime": ("onnx", "onnxruntime"),
    "openvino": ("onnx", "openvino"),
}


def frames(x: Tensor) -> Any:
    """As videos are sampled: elements of ``linspace`` are rounded by a fused multiplication, or not."""
    found = []
    for count in (4, 7, 13, 33, 101):
        for last in (1.0, 3.0, 10.0, count - 1.0):
            found.append(torch.linspace(0, last, count).long())
            found.append((torch.linspace(-1, 1, count) * (count - 1) / 2).floor().long())
            found.append((torch.linspace(0, 1, count) * (count - 1)).long())
    return x + 1, torch.cat(found)


def steps(x: Tensor) -> Any:
    found = []
    for step in (0.1, 0.2, 0.7, 1 / 3):
        times = torch.arange(0, 20, step)
        found += [times.long(), (times * 10).long(), (times / step).long()]
        found.append((times >= torch.arange(times.shape[0]) * step).long())
    return x + 1, torch.cat(found)


def buckets(x: Tensor) -> Any:
    """As T5 has them of relative positions."""
    distances = torch.arange(1, 2049).float()
    found = []
    for exact, farthest, count in ((8, 128, 16), (16, 128, 32), (10, 1000, 20)):
        scaled = torch.log(distances / exact) / math.log(farthest / exact) * (count - exact)
        found.append(scaled.long())
    found += [torch.log2(distances).long(), torch.log10(distances).floor().long()]
    found.append((torch.sin(distances * math.pi / 6) * 2).round().long())
    return x + 1, torch.cat(found)


def sums(x: Tensor) -> Any:
    tenths = torch.full((2000,), 0.1)
    shares = torch.softmax(torch.ones(5, 10), 1).mul(10)
    return x + 1, tenths.cumsum(0).long(), tenths.reshape(20, 100).sum(1).long(), shares.long()


def places(x: Tensor) -> Any:
    waves = torch.cos(torch.arange(64.0) * math.pi / 8)
    return x + 1, torch.sigmoid(torch.arange(100.0)).argmax(), torch.sort(waves, stable=True)[1]


def boundaries(x: Tensor) -> Any:
    """Elements that are a boundary's lie on one side of it."""
    table = torch.linspace(0, 1, 11)
    return torch.bucketize(table.clone() + 0 * x.sum(), torch.linspace(0, 1, 11)), table >= x.abs()


PROGRAMS: dict[str, Callable[[Tensor], Any]] = {
    each.__name__: each for each in (frames, steps, buckets, sums, places, boundaries)
}


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.share(4)
def test_integers_of_known_floats(name: str, configuration: str) -> None:
    """Some were off by one, in silence."""
    dialect, engine = CONFIGURATIONS[configuration]
    program, x = PROGRAMS[name], torch.rand(1)
    ours = torch2mlir.compile(program, x, output_type=dialect, engine=engine)
    for value in (x, torch.rand(1), torch.full((1,), 0.3)):
        assert_agrees(ours(value), program(value))


@pytest.mark.parametrize("way", ["optimize", "torch.compile", "torch.jit.trace"])
@pytest.mark.parametrize("name", ["frames", "buckets"])
def test_through_other_entrances(name: str, way: str) -> None:
    program, x = PROGRAMS[name], torch.rand(1)
    ours: Callable[..., Any]
    if way == "optimize":
        ours = torch2mlir.optimize(program, model_inputs=(x,), engine="xla", min_cluster_size=1)
    elif way == "torch.compile":
        ours = torch.compile(program, backend="torch2mlir")
    else:
        ours = torch2mlir.compile(torch.jit.trace(program, x), x)
    for value in (x, torch.rand(1), x):
        assert_agrees(ours(value), program(value))


class Positions(nn.Module):
    """As OPT makes them of a mask of ones: OpenVINO was not asked to make integers of such floats."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(20, 4)

    def forward(self, x: Tensor) -> Tensor:
        mask = torch.ones(x.shape[0], x.shape[1])
        places = (mask.cumsum(1) * mask - 1).long()
        return self.table(places + 2) + x


@pytest.mark.parametrize("engine", ["openvino", "onnxruntime"])
def test_positions_of_a_mask_of_ones(engine: str) -> None:
    model = Positions().eval()
    with torch.no_grad():
        ours = torch2mlir.compile(model, torch.randn(2, 9, 4), output_type="onnx", engine=engine)
        for _ in range(3):
            x = torch.randn(2, 9, 4)
            assert_agrees(ours(x), model(x))


def _text(program: Callable[..., Any], *args: Tensor, **options: Any) -> str:
    return str(torch2mlir.compile(program, *args, **options).text())


def test_long_floats_stay_computed() -> None:
    """A literal of them would be larger than the program, and rounding them otherwise is within floats' tolerance."""
    x = torch.randn(3, 1)
    assert "sine" in _text(lambda x: torch.sin(torch.arange(9000.0)) + x, x)
    assert "sine" not in _text(lambda x: torch.sin(torch.arange(90.0)) + x, x)


def test_what_is_larger_than_a_literal_may_be_stays_computed() -> None:
    side = math.isqrt(MOST_INTEGERS) + 1
    x = torch.randn(1)
    made = _text(lambda x: (torch.sin(torch.arange(side * side) / 7) * 9).long() + x, x)
    assert "sine" in made


def test_broadcasts_of_known_values_stay() -> None:
    made = _text(lambda x: torch.linspace(0, 1, 7).expand(64, 7).contiguous() + x, torch.randn(1))
    assert "dense<" in made
    assert "64x7xf32>" in made
    assert len(made) < 4000


def test_exact_values_stay_computed() -> None:
    """Masks of positions are the same however they are computed."""
    made = _text(lambda x: torch.ones(64, 64).tril() * x, torch.randn(1))
    assert len(made) < 4000


def test_sizes_that_vary_are_not_known() -> None:
    ours = torch2mlir.compile(
        lambda x: (torch.arange(x.shape[0]) / 7).long() + x.long(),
        torch.arange(21.0),
        output_type="linalg-on-tensors",
        dynamic_shapes=({0: Dim.AUTO},),
    )
    for size in (21, 5, 70):
        x = torch.arange(float(size))
        assert_agrees(ours(x), (torch.arange(size) / 7).long() + x.long())


def test_weights_are_not_known() -> None:
    """They may be others in a later call."""

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("table", torch.linspace(0, 1, 9))

        def forward(self, x: Tensor) -> Tensor:
            return (torch.log(self.table + 1) * 9).long() + x  # type: ignore[operator]

    model, x = Model(), torch.randn(9)
    ours = torch2mlir.compile(model, x)
    assert_agrees(ours(x), model(x))
    model.table.mul_(3)  # type: ignore[operator]
    assert_agrees(ours(x), model(x))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_numbers_of_the_program_keep_their_digits(dtype: torch.dtype) -> None:
    """As floats of 32 bits doubles would lose half of theirs."""
    numbers = [0.1, 1 / 3, 1e-7, 123.456789012345]

    def program(x: Tensor) -> Any:
        table = torch.tensor(numbers, dtype=dtype)
        scaled = torch.exp(torch.full((4,), 0.1, dtype=dtype)) * 3
        return (table * 1e3).floor().long() + x.long(), torch.log(table) + x, scaled + x

    x = torch.zeros(4, dtype=dtype)
    ours = torch2mlir.compile(program, x, output_type="linalg-on-tensors")
    for _ in range(3):
        torch.testing.assert_close(ours(x), program(x), rtol=0, atol=0)


def test_random_numbers_are_drawn_in_each_call() -> None:
    def program(x: Tensor) -> Tensor:
        return (torch.rand(64) * 1000).long() + x

    x = torch.zeros(64)
    ours = torch2mlir.compile(program, x)
    assert not torch.equal(ours(x), ours(x))
