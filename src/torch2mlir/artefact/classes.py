"""Classes of a model's arguments and results that the process which loads an optimized module does not know."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

CLASSES = "classes"
"""Their names, among the options of an optimized module."""


def classes_of(programs: Iterable[torch.export.ExportedProgram]) -> list[str]:
    """What PyTorch calls the registered classes in the structures of programs, in files of theirs."""
    found = {
        name
        for program in programs
        for spec in (program.call_spec.in_spec, program.call_spec.out_spec)
        if spec is not None
        for name in _names(spec)
    }
    return sorted(found)


def _names(spec: Any) -> Iterator[str]:
    if spec.is_leaf():
        return
    known = pytree.SUPPORTED_SERIALIZED_TYPES.get(spec.type)
    if known is not None and spec.type.__module__ not in ("builtins", "collections"):
        yield known.serialized_type_name
    for child in spec.children():
        yield from _names(child)


def stand_in_for(classes: Collection[str]) -> None:
    """Has PyTorch read structures with classes that are not registered: dicts, or tuples where parts have no names.

    A class that is imported later takes its place.
    """
    for name in set(classes) - pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE.keys():
        unknown = type(name.rpartition(".")[2], (), {})
        pytree.register_pytree_node(unknown, _parts, _plain, serialized_type_name=name)


def _parts(_: Any) -> tuple[list[Any], Any]:
    raise TypeError("there are no objects of a class that is not there")


def _plain(values: Iterable[Any], context: Any) -> Any:
    parts = list(values)
    are_named = isinstance(context, Sequence) and len(context) == len(parts)
    if are_named and all(isinstance(name, str) for name in context):
        return dict(zip(context, parts, strict=True))
    return tuple(parts)
