"""A compiled function called again and again with new values, against eager PyTorch, inputs and state looked at too."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree

import torch2mlir

NewArguments = Callable[[], tuple[Any, ...]]


def agrees_with_eager(
    model: Any, arguments: NewArguments, *, calls: int = 3, tolerance: float = 1e-4, **options: Any
) -> None:
    """Compiles a model and calls it with fresh arguments each time.

    Results (also those of earlier calls), inputs and the module's state must be what eager PyTorch leaves.
    """
    eager = copy.deepcopy(model)
    compiled = torch2mlir.compile(model, *arguments(), **options)
    if isinstance(model, torch.nn.Module):
        eager.load_state_dict(model.state_dict())
    kept = list[tuple[Any, Any]]()
    for _ in range(calls):
        args = arguments()
        theirs, ours = copy.deepcopy(args), copy.deepcopy(args)
        with torch.no_grad():
            kept.append((compiled(*ours), eager(*theirs)))
        _close((ours, _state(model)), (theirs, _state(eager)), tolerance)
        _close(*zip(*kept), tolerance)


def _state(model: Any) -> dict[str, torch.Tensor]:
    return dict(model.state_dict()) if isinstance(model, torch.nn.Module) else {}


def _close(actual: Any, expected: Any, tolerance: float) -> None:
    ours, theirs = pytree.tree_leaves(actual), pytree.tree_leaves(expected)
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs):
        torch.testing.assert_close(a, b, atol=tolerance, rtol=tolerance, equal_nan=True)
