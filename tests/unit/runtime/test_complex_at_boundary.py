"""Complex arguments, weights and results of programs in dialects that have their parts only."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import torch2mlir
from tests.e2e.agreement import assert_agrees

TARGETS = {
    "tosa": {"output_type": "tosa", "engine": "iree"},
    "onnxruntime": {"output_type": "onnx", "engine": "onnxruntime"},
    "openvino": {"output_type": "onnx", "engine": "openvino"},
}
over_targets = pytest.mark.parametrize("target", TARGETS)


class Rotated(nn.Module):
    """Rotary frequencies in a buffer, a complex weight, and a constant of the code."""

    def __init__(self) -> None:
        super().__init__()
        angles = torch.linspace(-3, 3, 24).view(6, 4)
        self.register_buffer("frequencies", torch.polar(torch.ones(6, 4), angles))
        self.weight = nn.Parameter(torch.randn(4, 4, dtype=torch.complex64))

    def forward(self, x: Tensor) -> Tensor:
        turned = torch.view_as_complex(x.unflatten(-1, (4, 2))) * self.frequencies
        return torch.view_as_real(
            turned @ self.weight + torch.tensor([1 + 2j, 3 - 1j, 0, 1j])
        ).flatten(2)


@over_targets
def test_weights_are_followed(target: str) -> None:
    model = Rotated()
    with torch.no_grad():
        compiled = torch2mlir.compile(model, torch.randn(2, 6, 8), **TARGETS[target])
        for change in (
            lambda: None,
            lambda: model.frequencies.mul_(1j),
            lambda: model.register_parameter(
                "weight", nn.Parameter(torch.randn(4, 4, dtype=torch.complex64))
            ),
        ):
            change()
            x = torch.randn(2, 6, 8)
            assert_agrees(compiled(x), model(x), loose=4)


@over_targets
def test_arguments_and_results(target: str) -> None:
    def model(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        return x * y, x.real + y.imag, x.conj(), x + 2, y[0]

    def arguments(rows: int) -> tuple[Tensor, Tensor]:
        x, y = (torch.randn(rows, 5, dtype=torch.complex64) for _ in range(2))
        return x, y.t().contiguous().t()

    rows = torch.export.Dim("rows", min=1)
    compiled = torch2mlir.compile(
        model, *arguments(3), dynamic_shapes=({0: rows}, {0: rows}), **TARGETS[target]
    )
    for count in (3, 1, 7):
        x, y = arguments(count)
        assert_agrees(compiled(x, y), model(x, y))
        assert_agrees(compiled(x.conj(), y.conj()), model(x.conj(), y.conj()))
        assert_agrees(compiled(x[:1].expand(count, 5), y), model(x[:1].expand(count, 5), y))


@over_targets
def test_what_is_written_to(target: str) -> None:
    class Mean(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("mean", torch.zeros(4, dtype=torch.complex64))

        def forward(self, x: Tensor, kept: Tensor) -> Tensor:
            self.mean.lerp_(x.mean(0), 0.5)
            kept += 1j
            return x - self.mean

    ours, eager = Mean(), Mean()
    compiled = torch2mlir.compile(
        ours, torch.randn(3, 4, dtype=torch.complex64), torch.zeros(2, dtype=torch.complex64),
        **TARGETS[target],
    )  # fmt: skip
    for _ in range(3):
        x, kept = torch.randn(3, 4, dtype=torch.complex64), torch.zeros(2, dtype=torch.complex64)
        other = kept.clone()
        assert_agrees(compiled(x, kept), eager(x, other))
        assert_agrees((ours.mean, kept), (eager.mean, other))


@over_targets
def test_what_loops_carry(target: str) -> None:
    def model(x: Tensor) -> Tensor:
        def step(count: Tensor, z: Tensor) -> tuple[Tensor, Tensor]:
            return count + 1, torch.where(z.abs() > 2, z, z * z + x)

        return torch._higher_order_ops.while_loop(
            lambda count, z: count < 5, step, (torch.tensor(0), torch.zeros_like(x))
        )[1]

    if target == "openvino":
        pytest.skip("refuses loops")
    x = torch.randn(6, dtype=torch.complex64)
    compiled = torch2mlir.compile(model, x, **TARGETS[target])
    for _ in range(3):
        x = torch.randn(6, dtype=torch.complex64)
        assert_agrees(compiled(x), model(x), loose=9)


@over_targets
def test_saved_and_loaded(target: str, tmp_path: Path) -> None:
    model, x = Rotated(), torch.randn(2, 6, 8)
    with torch.no_grad():
        torch2mlir.save(torch2mlir.compile(model, x, **TARGETS[target]), tmp_path / "rotated")
        loaded = torch2mlir.load(tmp_path / "rotated")
        for _ in range(2):
            x = torch.randn(2, 6, 8)
            assert_agrees(loaded(x), model(x), loose=4)


def test_a_file_takes_and_gives_parts(tmp_path: Path) -> None:
    """As ``torch.view_as_real`` sees them, and as PyTorch's own exporter has them."""
    import onnxruntime

    weight = torch.randn(5, dtype=torch.complex64)

    def model(x: Tensor) -> Tensor:
        return x * weight

    x = torch.randn(3, 5, dtype=torch.complex64)
    torch2mlir.export_and_import(model, x, output_type="onnx").save(tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    (found,) = session.run(None, {session.get_inputs()[0].name: torch.view_as_real(x).numpy()})
    assert_agrees(torch.view_as_complex(torch.from_numpy(found)), model(x))


@over_targets
def test_quotients_of_large_and_small_numbers(target: str) -> None:
    """Their squares are infinite or zero."""

    def model(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        return x / y, y.reciprocal(), (1 + 2j) / y, torch.sigmoid(x.real + 0j)

    sizes = torch.tensor([1e-30, 1e-25, 1e-3, 1.0, 1e20, 1e30])
    x = torch.complex(sizes, sizes.flip(0) * 0.5)
    y = torch.complex(-sizes.roll(1), sizes.roll(2))
    compiled = torch2mlir.compile(model, x, y, **TARGETS[target])
    for one, other in ((x, y), (y * 2, x), (-x, x.conj())):
        for found, expected in zip(compiled(one, other), model(one, other), strict=True):
            pairs = (torch.view_as_real(t) for t in (found, expected))
            # engines take subnormal numbers, here products, for zero
            torch.testing.assert_close(*pairs, rtol=1e-4, atol=1e-33)
