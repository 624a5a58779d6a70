"""Classes of a model's arguments and results by name; the process that loads an artefact may not know them."""

from __future__ import annotations

import sys
from collections import namedtuple
from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

import torch
from torch.utils import _pytree as pytree

CLASSES = "classes"
"""Their names, among the options of an optimized module."""


def classes_of(specs: Iterable[Any]) -> list[str]:
    """What PyTorch calls the registered classes in structures, in files of theirs."""
    return sorted({name for spec in specs if spec is not None for name in _names(spec)})


def structures_of(programs: Iterable[torch.export.ExportedProgram]) -> list[Any]:
    """The structures of the arguments and results of programs."""
    calls = [program.call_spec for program in programs]
    return [spec for call in calls for spec in (call.in_spec, call.out_spec)]


def _names(spec: Any) -> Iterator[str]:
    if spec.is_leaf():
        return
    if has_name(spec) and (kind := _class(spec)).__module__ not in ("builtins", "collections"):
        yield pytree.SUPPORTED_SERIALIZED_TYPES[kind].serialized_type_name
    for child in spec.children():
        yield from _names(child)


def has_name(spec: Any) -> bool:
    """Whether PyTorch can write what holds the parts of a structure."""
    known = pytree.SUPPORTED_SERIALIZED_TYPES.get(_class(spec))
    return known is not None and known.serialized_type_name != pytree.NO_SERIALIZED_TYPE_NAME_FOUND


def _class(spec: Any) -> Any:
    return spec.context if spec.type is namedtuple else spec.type


def name_classes(spec: Any) -> None:
    """Has PyTorch write structures with named tuples, and with those that its functions return.

    A named tuple is known by its name and those of its parts: ``package:Pair(first,second)``.
    """
    if spec is None or spec.is_leaf():
        return
    if not has_name(spec):
        kind = _class(spec)
        if spec.type is namedtuple:
            _name(kind, f"{kind.__module__}:{kind.__qualname__}({','.join(kind._fields)})")
        elif kind.__module__ == _OF_PYTORCH:
            _name(kind, f"{_OF_PYTORCH}.{kind.__name__}")
    for child in spec.children():
        name_classes(child)


_OF_PYTORCH = "torch.return_types"


def _name(kind: Any, name: str) -> None:
    pytree.SUPPORTED_SERIALIZED_TYPES[kind] = pytree._SerializeNodeDef(kind, name, None, None)


def stand_in_for(classes: Collection[str]) -> None:
    """Has PyTorch read structures with classes that are not registered.

    Named tuples are ones of the same name and parts, the others dicts, or tuples where parts have no names. A class
    that is imported later takes its place.
    """
    for name in classes:
        last = name.rpartition(".")[2]
        if name.endswith(")"):
            kind = _named_tuple(name)
        elif name.startswith(_OF_PYTORCH) and hasattr(torch.return_types, last):
            kind = getattr(torch.return_types, last)
        elif name not in pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE:
            kind = _STAND_INS[name] = type(last, (), {})
            pytree.register_pytree_node(kind, _parts, _plain, serialized_type_name=name)
            continue
        else:
            continue
        _name(kind, name)
        pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE[name] = kind


def are_there(classes: Collection[str]) -> bool:
    """Whether this process has classes itself."""
    known = pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE
    return all(name in known and known[name] is not _STAND_INS.get(name) for name in classes)


_STAND_INS = dict[str, type]()


def _named_tuple(name: str) -> Any:
    """The class, where the module that defines it is imported and has it still; else one of the same name and parts."""
    path, _, parts = name.removesuffix(")").rpartition("(")
    module, _, qualified = path.partition(":")
    fields = tuple(parts.split(",")) if parts else ()
    try:
        found = attrgetter(qualified)(sys.modules[module])
    except (KeyError, AttributeError):
        found = None
    if getattr(found, "_fields", None) == fields:
        return found
    if name in pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE:  # of an artefact that was loaded before
        return pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE[name]
    return namedtuple(qualified.rpartition(".")[2], fields, rename=True)


def _parts(_: Any) -> tuple[list[Any], Any]:
    raise TypeError("there are no objects of a class that is not there")


def _plain(values: Iterable[Any], context: Any) -> Any:
    parts = list(values)
    are_named = isinstance(context, Sequence) and len(context) == len(parts)
    if are_named and all(isinstance(name, str) for name in context):
        return dict(zip(context, parts, strict=True))
    return tuple(parts)
