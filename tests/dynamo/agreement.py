"""A function through torch.compile beside eager PyTorch: results, strides, inputs, gradients and the generator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree

from torch2mlir import dynamo


def compiled(
    function: Callable[..., Any], options: dict[str, Any] | None = None, **rest: Any
) -> Any:
    return torch.compile(function, backend=dynamo.backend, options=options, **rest)


def assert_close(actual: Any, expected: Any, tolerance: float = 1e-5) -> None:
    actual, expected = pytree.tree_leaves(actual), pytree.tree_leaves(expected)
    assert len(actual) == len(expected)
    for a, b in zip(actual, expected, strict=True):
        if isinstance(b, torch.Tensor):
            # a sum's error is that of its largest terms, also where they cancel
            atol = tolerance * max(1.0, _largest(b))
            torch.testing.assert_close(a, b, rtol=tolerance, atol=atol)
            assert a.stride() == b.stride()
        else:
            assert a == b


def _largest(tensor: torch.Tensor) -> float:
    """The largest finite magnitude of floats; 0 for others."""
    if not tensor.is_floating_point():
        return 0.0
    finite = tensor.detach()[tensor.detach().isfinite()]
    return float(finite.abs().max()) if finite.numel() else 0.0


def fresh(arguments: Any) -> list[Any]:
    return [
        a.detach().clone().requires_grad_(a.requires_grad) if isinstance(a, torch.Tensor) else a
        for a in arguments
    ]


def assert_same(
    function: Callable[..., Any],
    *arguments: Any,
    tolerance: float = 1e-5,
    options: dict[str, Any] | None = None,
    fallbacks: int = 0,
    **rest: Any,
) -> None:
    """Three calls, under three seeds and on three inputs, equal eager's in all that can be seen."""
    other = compiled(function, options, **rest)
    for seed in range(3):
        torch.manual_seed(seed)
        scaled = [
            a * (1 + seed / 4) if isinstance(a, torch.Tensor) and a.dtype.is_floating_point else a
            for a in arguments
        ]
        scaled = [
            s.detach().requires_grad_(a.requires_grad) if isinstance(a, torch.Tensor) else s
            for s, a in zip(scaled, arguments, strict=True)
        ]
        ours, theirs = fresh(scaled), fresh(scaled)
        torch.manual_seed(seed)
        actual = other(*ours)
        after = torch.get_rng_state()
        torch.manual_seed(seed)
        expected = function(*theirs)
        assert torch.equal(after, torch.get_rng_state())
        assert_close(actual, expected, tolerance)
        assert_close(
            [t.detach() for t in ours if isinstance(t, torch.Tensor)],
            [t.detach() for t in theirs if isinstance(t, torch.Tensor)],
            tolerance,
        )
        backward(actual)
        backward(expected)
        assert_close(gradients(ours), gradients(theirs), tolerance)
    assert dynamo.metrics().fallbacks.total() == fallbacks, dynamo.metrics()


def backward(results: Any) -> None:
    tensors = [
        t for t in pytree.tree_leaves(results) if isinstance(t, torch.Tensor) and t.requires_grad
    ]
    if tensors:
        sum((t * t).float().sum() for t in tensors).backward()  # type: ignore[union-attr]


def gradients(arguments: list[Any]) -> list[Any]:
    return [a.grad for a in arguments if isinstance(a, torch.Tensor) and a.requires_grad]
