"""Calls that look like a captured one and are not: other zeros, another order of names, arguments that lie elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils import _pytree as pytree

import torch2mlir

X = torch.tensor([1.0, -2.0, 3.0])


@pytest.fixture(autouse=True)
def without_gradients() -> Any:
    with torch.no_grad():
        yield


def _by_name(x: Tensor, **others: Tensor) -> tuple[Tensor, list[str]]:
    for other in others.values():
        x = (x * 2 + other).tanh()
    return x, list(others)


@pytest.mark.parametrize("allow_tracing", [True, False])
def test_the_order_of_named_arguments_that_a_loop_sees(allow_tracing: bool) -> None:
    optimized = torch2mlir.optimize(_by_name, allow_tracing=allow_tracing)
    p, q = torch.randn(3), torch.randn(3)
    for named in ({"p": p, "q": q}, {"q": q, "p": p}) * 2:
        (x, names), (expected, order) = optimized(X, **named), _by_name(X, **named)
        torch.testing.assert_close(x, expected)
        assert names == order


def test_the_order_of_named_arguments_that_have_names() -> None:
    def f(x: Tensor, p: Tensor, q: Tensor) -> Tensor:
        return x * p - q

    optimized = torch2mlir.optimize(f)
    p, q = torch.randn(3), torch.randn(3)
    for named in ({"p": p, "q": q}, {"q": q, "p": p}):
        torch.testing.assert_close(optimized(X, **named), f(X, **named))
    assert len(optimized.captured_programs) == 1


class Divided(nn.Module):
    by = 0.0

    def forward(self, x: Tensor) -> Tensor:
        return (x + 1) / self.by


def _divided(x: Tensor, by: float) -> Tensor:
    return (x + 1) / by


def test_zeros_of_both_signs() -> None:
    optimized = torch2mlir.optimize(_divided)
    model = Divided()
    of_attribute = torch2mlir.optimize(model)
    for zero in (0.0, -0.0, 0.0):
        assert torch.equal(optimized(X, zero), _divided(X, zero))
        model.by = zero
        assert torch.equal(of_attribute(X), model(X))
    with pytest.raises(torch2mlir.InputError, match=r"fixed to 0\.0 at capture, got -0\.0"):
        torch2mlir.compile(_divided, X, 0.0)(X, -0.0)
    compiled, model.by = torch2mlir.compile(model, X), -0.0
    with pytest.warns(UserWarning, match=r"'by' is -0\.0 and was 0\.0"):
        compiled(X)


def _named_by_size(x: Tensor) -> dict[str, Tensor]:
    return {f"rows{x.shape[0]}": x * 2, "others": x}


def _text_of_size(x: Tensor) -> tuple[Tensor, str]:
    return x * 2, f"n{x.shape[0]}"


def _same(one: Any, other: Any) -> bool:
    leaves, spec = pytree.tree_flatten(one)
    others, of_other = pytree.tree_flatten(other)
    return spec == of_other and all(
        torch.equal(a, b) if isinstance(a, Tensor) else a == b for a, b in zip(leaves, others)
    )


@pytest.mark.parametrize("f", [_named_by_size, _text_of_size])
def test_texts_of_sizes(f: Callable[[Tensor], Any]) -> None:
    """They named PyTorch's symbol: ``"rowss33"``."""
    optimized = torch2mlir.optimize(f)
    for size in (3, 5, 3):
        assert _same(optimized(torch.ones(size)), f(torch.ones(size)))
    varies = ({0: torch.export.Dim.AUTO},)
    with pytest.raises(torch2mlir.CaptureError, match="a text of a number"):
        torch2mlir.compile(f, X, dynamic_shapes=varies)
    assert _same(torch2mlir.compile(f, X)(X), f(X))


class Updating(nn.Module):
    """Writes to its buffer, which the argument may be."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("b", torch.ones(4))

    def forward(self, x: Tensor) -> Tensor:
        self.b.mul_(2).add_(1)
        return (x * 3 + 1).relu() + 2


class Written(Updating):
    """Reads its buffer, which the argument that is written may be."""

    def forward(self, x: Tensor) -> Tensor:
        x.mul_(2)
        return self.b[: x.shape[0]] * 3


@pytest.mark.parametrize("make", [Updating, Written])
def test_arguments_that_lie_in_a_buffer(make: Callable[[], Updating]) -> None:
    eager, model = make(), make()
    optimized = torch2mlir.optimize(model)
    takes: list[Callable[[Updating], Tensor]] = [
        *(lambda m: torch.ones(4), lambda m: m.b, lambda m: m.b[1:], lambda m: torch.ones(4)),
        *(lambda m: m.b, lambda m: torch.ones(2)),
    ]
    for take in takes:
        assert torch.equal(optimized(take(model)), eager(take(eager)))
        assert torch.equal(model.b, eager.b)
    first, eager = torch2mlir.optimize(make()), make()
    assert torch.equal(first(first.model.b), eager(eager.b))


def test_arguments_that_overlap_in_an_array() -> None:
    """Each has a storage of its own for PyTorch."""

    def f(a: Tensor, b: Tensor) -> Tensor:
        a.mul_(2).add_(1)
        return a + b

    def call(function: Callable[[Tensor, Tensor], Tensor], overlap: int) -> tuple[Tensor, Any]:
        array = np.arange(9, dtype=np.float32)
        result = function(*map(torch.from_numpy, (array[:4], array[4 - overlap : 8 - overlap])))
        return result, torch.from_numpy(array)

    optimized = torch2mlir.optimize(f)
    for overlap in (0, 2, 4, 0, 1):
        torch.testing.assert_close(call(optimized, overlap), call(f, overlap))


@pytest.mark.parametrize("has_examples", [True, False])
def test_a_lazy_module_counts_each_call_once(has_examples: bool) -> None:
    """What a trial materialized was not set back."""

    def make() -> nn.Sequential:
        return nn.Sequential(nn.LazyBatchNorm1d(), nn.ReLU())

    eager, model = make(), make()
    examples = (torch.randn(5, 4),) if has_examples else None
    optimized = torch2mlir.optimize(model, model_inputs=examples)
    for _ in range(4):
        x = torch.randn(5, 4)
        torch.testing.assert_close(optimized(x), eager(x))
        torch.testing.assert_close(model.state_dict(), eager.state_dict())
    assert optimized.captured_programs


class Pyramid(nn.Module):
    """Pieces of a picture at two sizes, each with a weight of its place: pictures have one size, and batches any."""

    def __init__(self) -> None:
        super().__init__()
        self.places = nn.Parameter(torch.randn(80))

    def forward(self, x: Tensor) -> Tensor:
        half = functional.max_pool2d(x, 3, 2, 1)
        levels = [half, functional.max_pool2d(half, 3, 2, 1)]
        pieces = torch.cat([level.flatten(2) for level in levels], 2) * self.places
        parts = pieces.split([level.shape[2] * level.shape[3] for level in levels], 2)
        fine, coarse = (p.reshape(each.shape) for p, each in zip(parts, levels, strict=True))
        return torch.cat([fine, functional.interpolate(coarse, scale_factor=2)], 1).tanh() + 1


def test_a_batch_varies_where_sizes_of_pictures_do_not() -> None:
    model = Pyramid()
    optimized = torch2mlir.optimize(model)
    for batch in (2, 3, 5, 2):
        x = torch.randn(batch, 3, 16, 16)
        torch.testing.assert_close(optimized(x), model(x))
    report = optimized.report()
    assert len(report.clusters) == 1 and not report.kept and not report.pytorch_calls
    with pytest.raises(RuntimeError):  # PyTorch's own, as for the model
        optimized(torch.randn(2, 3, 32, 32))
