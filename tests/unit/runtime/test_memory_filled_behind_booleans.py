"""IREE fills memory with numbers at aligned places only: behind odd numbers of booleans they lie elsewhere."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch._higher_order_ops.while_loop import while_loop

import torch2mlir


def _both(x: Tensor) -> tuple[Tensor, ...]:
    return x > 0.5, torch.ones(x.shape[0]), x > 0.3, torch.full((x.shape[0],), 3.5)


def _joined(x: Tensor) -> Tensor:
    return torch.cat([x[x > 0.5], torch.ones(3)])


def _narrow(x: Tensor) -> tuple[Tensor, ...]:
    bytes_ = (x * 9).to(torch.int8)
    return (
        bytes_ + 1,
        torch.full((x.shape[0],), 1.5, dtype=torch.float16),
        torch.cat([x, x[:1] + 2]),
    )


def _beside_a_loop(x: Tensor) -> tuple[Tensor, ...]:
    _, y = while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2), (torch.tensor(0), x))
    return y > 0.5, torch.ones(x.shape[0]), y


@pytest.mark.share(12)
@pytest.mark.parametrize(
    ("program", "dialect"),
    [
        (_both, "linalg-on-tensors"),
        (_both, "tosa"),
        (_both, "stablehlo"),
        (_joined, "linalg-on-tensors"),
        (_joined, "stablehlo"),
        (_narrow, "linalg-on-tensors"),
        (_narrow, "tosa"),
    ],
)
def test_odd_numbers_of_bytes_before(program, dialect: str) -> None:
    compiled = torch2mlir.compile(
        program,
        torch.rand(9),
        dynamic_shapes=({0: torch.export.Dim("n", min=2)},),
        output_type=dialect,
        engine="iree",
    )
    for size in (9, 4, 13, 7):
        x = torch.rand(size)
        torch.testing.assert_close(compiled(x), program(x))


def test_beside_a_loop_they_are_refused() -> None:
    """There every tensor lies right behind the one before (docs/engines.md)."""
    compiled = torch2mlir.compile(
        _beside_a_loop,
        torch.rand(9),
        dynamic_shapes=({0: torch.export.Dim("n", min=2)},),
        output_type="linalg-on-tensors",
    )
    for size in (8, 9, 16, 13):
        x = torch.rand(size)
        if size % 4 == 0:
            torch.testing.assert_close(compiled(x), _beside_a_loop(x))
            continue
        with pytest.raises(torch2mlir.EngineError, match="required alignment") as caught:
            compiled(x)
        assert caught.value.dialect == "linalg-on-tensors"
        assert caught.value.hint is not None and "optimize()" in caught.value.hint
