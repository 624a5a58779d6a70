"""Sizes that vary in calls of models which take further arguments by any name (``**kwargs``).

PyTorch 2.13 compares ``dynamic_shapes`` with the arguments twice: with those of further names in a dictionary of their
own, and once it has traced the model beside the others, so that none fits. Here they are beside the others both times.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch._export import non_strict_utils
from torch.export import _trace, dynamic_shapes

_COMBINE = "_combine_args"
"""PyTorch's function for the arguments of a call by their names."""
_READERS: tuple[Any, ...] = (dynamic_shapes, _trace, non_strict_utils)


def beside_others(model: torch.nn.Module, entries: Any) -> Any:
    """Entries by the names of a model's arguments, those of further names among them; anything else as it is."""
    rest = _name_of_rest(model)
    if (
        rest is None
        or not isinstance(entries, Mapping)
        or not isinstance(entries.get(rest), Mapping)
    ):
        return entries
    return {name: each for name, each in entries.items() if name != rest} | dict(entries[rest])


def _name_of_rest(model: torch.nn.Module) -> str | None:
    try:
        parameters = inspect.signature(model.forward).parameters.values()
    except (ValueError, TypeError):  # a function of PyTorch's own
        return None
    return next((each.name for each in parameters if each.kind is each.VAR_KEYWORD), None)


@contextmanager
def further_names_beside_others(
    model: torch.nn.Module, kwargs: Mapping[str, Any]
) -> Iterator[None]:
    """While this lasts, PyTorch has the arguments of further names beside the others."""
    before: Callable[..., dict[str, Any]] = getattr(dynamic_shapes, _COMBINE)
    if not kwargs or _name_of_rest(model) is None:
        yield
        return

    def combined(called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        found = before(called, args, kwargs)
        return beside_others(model, found) if called is model else found

    for reader in _READERS:
        setattr(reader, _COMBINE, combined)
    try:
        yield
    finally:
        for reader in _READERS:
            setattr(reader, _COMBINE, before)
