"""Tensors that a model holds outside of parameters and buffers: caches, counters, constants in its objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch

_DEEPEST = 8
"""Containers within containers that are looked into."""


@contextmanager
def unregistered_state_kept(model: Callable[..., Any]) -> Iterator[None]:
    """Gives tensors that PyTorch does not know to be state their elements back.

    ``torch.export`` works on copies of parameters and buffers, but writes that need no input, like
    ``self.cache.length += 1``, happen to other tensors while it traces.
    """
    before = [(t, t._version, t.detach().clone()) for t in unregistered_tensors(model)]
    try:
        yield
    finally:
        with torch.no_grad():
            for tensor, version, elements in before:
                if tensor._version != version:
                    tensor.copy_(elements)


def unregistered_tensors(model: Callable[..., Any]) -> list[torch.Tensor]:
    """The tensors that can be reached from a model's attributes, or from what a function refers to.

    One of them may be a buffer too: PyTorch replaces it where it is registered, and not where an object holds it.
    """
    seen = set[int]()
    modules = list(model.modules()) if isinstance(model, torch.nn.Module) else []
    roots = list[Any]()
    for module in modules:
        seen.add(id(module))
        hidden = ("_parameters", "_buffers", "_modules")
        roots.append({k: v for k, v in vars(module).items() if k not in hidden})
    if not modules:
        cells = getattr(model, "__closure__", None) or ()
        for cell in cells:
            try:
                roots.append(cell.cell_contents)
            except ValueError:  # the variable has no value yet
                continue
        roots.append(getattr(model, "__self__", None))
    found = list[torch.Tensor]()
    _visit(roots, seen, found, _DEEPEST)
    return found


def _visit(value: Any, seen: set[int], found: list[torch.Tensor], depth: int) -> None:
    if isinstance(value, str | bytes | int | float | type | None) or id(value) in seen or not depth:
        return
    seen.add(id(value))
    if isinstance(value, torch.nn.Module):
        found.extend(unregistered_tensors(value))
    elif isinstance(value, torch.Tensor):
        if type(value) is torch.Tensor and value.layout is torch.strided and not value.is_meta:
            found.append(value)
    elif isinstance(value, Mapping):
        for item in list(value.values()):
            _visit(item, seen, found, depth - 1)
    elif isinstance(value, list | tuple | set):
        for item in value:
            _visit(item, seen, found, depth - 1)
    elif hasattr(value, "__dict__") and not callable(value):
        _visit(vars(value), seen, found, depth - 1)
