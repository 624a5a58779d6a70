"""Python numbers computed from tensors, as results, as operands and as positions: equal to eager's, type by type."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

import torch2mlir
from torch2mlir.errors import CaptureError, Torch2MLIRError


def of_integers(a: torch.Tensor, b: torch.Tensor) -> Any:
    x, y = int(a), b.item()
    assert isinstance(y, int)
    return (
        (x + y, x - y, x * y, x / y, x // y, x % y, -x, x**2, abs(x)),
        (x == y, x != y, x < y, x <= y, x > y, x >= y),
        (max(x, y), min(x, y), sum([x, y, 3]), float(x), math.sqrt(y * y)),
        (torch.tensor(x), torch.full((2,), y), torch.sym_max(a.item(), y)),
    )


def of_floats(a: torch.Tensor, b: torch.Tensor) -> Any:
    x, y = float(a), b.item()
    return (
        (x + y, x - y, x * y, x / y, -x, x**2, abs(x), float(a.abs())),
        (x == y, x != y, x < y, x <= y, x > y, x >= y),
        (max(x, y), min(x, y), math.sqrt(x * x)),
        (math.floor(x), math.ceil(x), math.trunc(x), round(y), int(a), int(b)),
        (torch.tensor(x), torch.scalar_tensor(y), torch.full((2,), x), a * y + x),
    )


def of_both(a: torch.Tensor, b: torch.Tensor) -> Any:
    x, y = int(a), float(b)
    return x + y, x * y, y * x, y > x, x != y, y - x, b * x, a.to(torch.float32) * y


def of_a_vector(v: torch.Tensor) -> Any:
    return (
        (int(v.sum()), float(v.mean()), v.std().item(), int(v.argmax()) * 2, v[0].item()),
        (bool((v > 0).all()), bool(torch.isfinite(v).all())),
        ((v > 0).long().tolist(), len(v.nonzero())),
    )


def at_positions(v: torch.Tensor, n: torch.Tensor) -> Any:
    i = int(n)
    return v[i], v.narrow(0, i, 2), v.roll(i, 0), v.roll(-i, 0), v.clamp(max=float(n))


def as_sizes(v: torch.Tensor, n: torch.Tensor) -> Any:
    i = int(n)
    return (
        torch.arange(i),
        torch.arange(i, i + 3),
        v[:i],
        v.repeat(i),
        v.expand(i, 6),
        v.view(i, -1),
    )


def _integers(*values: int) -> tuple[torch.Tensor, ...]:
    return tuple(torch.tensor(value) for value in values)


def _floats(*values: float) -> tuple[torch.Tensor, ...]:
    return tuple(torch.tensor(value, dtype=torch.float64) for value in values)


PROGRAMS: dict[str, tuple[Any, list[Any]]] = {
    "of_integers": (of_integers, [_integers(7, 2), _integers(-7, 3), _integers(7, -4)]),
    "of_floats": (of_floats, [_floats(2.5, 0.5), _floats(-7.25, -2.5), _floats(1e9, 3.5)]),
    "of_both": (of_both, [(torch.tensor(n), torch.tensor(x)) for n, x in ((2, 0.5), (-3, 2.0), (4, 4.0))]),
    "of_a_vector": (of_a_vector, [(torch.tensor(v),) for v in ([1.0, 2, 3], [0.0, -1, 5], [4.0, 0, 7])]),
    "at_positions": (at_positions, [(torch.randn(6), n) for n in _integers(1, 4, 2)]),
    "as_sizes": (as_sizes, [(torch.randn(6), n) for n in _integers(2, 3, 1)]),
}  # fmt: skip


REFUSED = {
    ("as_sizes", "stablehlo"): "depends on the elements",
    ("as_sizes", "tosa"): "no size can depend on the elements",
    ("of_a_vector", "tosa"): "no size can depend on the elements",
    ("of_floats", "tosa"): "Python float only known at run time",
    ("of_both", "tosa"): "Python float only known at run time",
}
"""What a dialect or its engine cannot do, and the words of the error that says so."""


@pytest.mark.parametrize("output_type", ["stablehlo", "linalg-on-tensors", "tosa"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers(name: str, output_type: str) -> None:
    program, calls = PROGRAMS[name]
    if (reason := REFUSED.get((name, output_type))) is not None:
        with pytest.raises(Torch2MLIRError, match=reason):
            torch2mlir.compile(program, *calls[0], output_type=output_type)
        return
    compiled = torch2mlir.compile(program, *calls[0], output_type=output_type)
    for arguments in calls:
        actual, expected = compiled(*arguments), program(*arguments)
        for mine, other in zip(_leaves(actual), _leaves(expected), strict=True):
            assert type(mine) is type(other)
            torch.testing.assert_close(mine, other, equal_nan=True)


def _leaves(value: Any) -> list[Any]:
    return torch.utils._pytree.tree_leaves(value)


@pytest.mark.parametrize("function", [math.log, math.exp, lambda x: not x])
def test_what_pytorch_does_not_capture_is_said(function: Any) -> None:
    with pytest.raises(CaptureError, match="data-dependent"):
        torch2mlir.compile(lambda x: function(x.item()), torch.tensor(3.0))


def test_bits_of_numbers_are_refused() -> None:
    with pytest.raises(torch2mlir.Torch2MLIRError):
        torch2mlir.compile(lambda x, y: int(x) & int(y), *_integers(6, 3))
