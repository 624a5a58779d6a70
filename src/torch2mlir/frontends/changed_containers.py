"""Lists and dictionaries that a model is given and changes: a program takes the tensors in them, not the containers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils import _pytree as pytree

from torch2mlir.errors import CaptureError
from torch2mlir.frontends.watched_calls import calls_watched

_CONTAINERS = (list, dict, tuple)
"""Objects of other kinds (caches) change in their own ways."""


@contextmanager
def containers_kept(model: torch.nn.Module) -> Iterator[None]:
    """While this lasts, a call of the model that appends to a list it is given, or sets a key, is refused.

    Raises:
        CaptureError: in the call.
    """
    given = list[Any]()

    def at_start(_model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        given[:] = _contents(args, kwargs)

    def at_end(_model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], _: Any) -> None:
        leaves, spec = _contents(args, kwargs)
        if spec != given[1] or any(a is not b for a, b in zip(leaves, given[0], strict=True)):
            raise CaptureError(
                "the model changes a list or dictionary that it is given, which a compiled program would not do",
                hint="return what is new, or compile a function that calls the model with a copy: "
                "lambda batch: model(dict(batch)); torch.compile(model, backend='torch2mlir') takes it as it is",
            )

    with calls_watched(model, at_start, at_end):
        yield


def _contents(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], pytree.TreeSpec]:
    return pytree.tree_flatten((args, kwargs), lambda value: not isinstance(value, _CONTAINERS))
