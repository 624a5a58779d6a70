"""What a model is called with and what it returns, seen by functions while a capture calls it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

AtStart = Callable[[Any, tuple[Any, ...], dict[str, Any]], None]
AtEnd = Callable[[Any, tuple[Any, ...], dict[str, Any], Any], None]


@contextmanager
def calls_watched(model: torch.nn.Module, at_start: AtStart, at_end: AtEnd) -> Iterator[None]:
    """While this lasts, every call of the model goes through two hooks.

    Args:
        model: the model.
        at_start: given the model, its arguments and keyword arguments.
        at_end: the same and the result.
    """
    handles = [
        model.register_forward_pre_hook(at_start, with_kwargs=True),
        model.register_forward_hook(at_end, with_kwargs=True),
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
