"""The code that a model may call, and the Python files that it stands in.

It is followed by names, into installed packages too: what is called there is the model's as much as its own methods.
What the objects of a model hold is in :mod:`~torch2mlir.frontends.reached_objects`, which looks at values and so leaves
out what belongs to a library.
"""

from __future__ import annotations

import sys
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from itertools import islice
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import torch

from torch2mlir.frontends.reached_objects import OWN, functions_of, modules_named, nested

_MOST = 10_000
"""Functions, classes and objects. What a model names is not followed to the last one of a library."""
_MOST_ELEMENTS = 256
"""Of a container; the rest are data."""
_LEFT = frozenset({"torch", "torch2mlir", "numpy", "sympy"})
"""Packages that know of sizes that vary, beside Python's library."""


def files_with_names(model: Any, names: frozenset[str]) -> list[dict[str, Any]]:
    """The global variables of each file with code that a model may call and that has one of some names.

    Args:
        model: a module or a function.
    """
    return _Called(model, names).spaces


class _Called:
    """The code that a model may call: what is named by other such code, its own methods too.

    Attributes:
        spaces: of the files.
    """

    def __init__(self, model: Any, wanted: frozenset[str]) -> None:
        self.spaces = list[dict[str, Any]]()
        self._wanted = wanted
        # with the objects, whose numbers are theirs as long as they live
        self._seen = dict[int, Any]()
        self._names = {"forward"}
        self._unnamed = defaultdict[str, list[FunctionType]](list)
        self._waiting = deque[Any]([model])
        while self._waiting and len(self._seen) < _MOST:
            value = self._waiting.popleft()
            if not isinstance(value, _LEAVES) and id(value) not in self._seen:
                self._seen[id(value)] = value
                self._visit(value)

    def _visit(self, value: Any) -> None:
        if isinstance(value, MethodType):
            self._waiting += [value.__func__, value.__self__]
        elif isinstance(value, partial):
            self._waiting += [value.func, *value.args, *value.keywords.values()]
        elif isinstance(value, _CONTAINERS):
            self._waiting += _elements(value)
        elif isinstance(value, type):
            if not _is_left(value.__module__):
                self._visit_class(value)
        elif isinstance(value, FunctionType):
            if not _is_left(value.__module__):
                self._visit_function(value)
        elif isinstance(value, torch.nn.Module):
            self._waiting += [type(value), *_held_by_module(value)]
        elif not _is_left(type(value).__module__):
            self._waiting += [type(value), *_attributes(value).values()]

    def _visit_class(self, kind: type) -> None:
        self._waiting += kind.__mro__[1:]
        for function in functions_of(kind):
            name = function.__name__
            is_called = name in self._names or name.startswith("__")
            (self._waiting if is_called else self._unnamed[name]).append(function)

    def _visit_function(self, function: FunctionType) -> None:
        space, names = function.__globals__, _names(function.__code__)
        if not names.isdisjoint(self._wanted) and all(space is not each for each in self.spaces):
            self.spaces.append(space)
        for file in [space, *map(vars, modules_named(space, names, names).values())]:
            if not _is_left(file.get("__name__")):
                self._waiting += [file[name] for name in names if name in file]
        self._waiting += _called_around(function)
        for name in names - self._names:
            self._waiting += self._unnamed.pop(name, ())
        self._names |= names


_CONTAINERS = (list, tuple, dict)
_LEAVES = (
    *(torch.Tensor, str, bytes, bool, int, float, complex, type(None)),
    *(CodeType, ModuleType),
)


def _elements(held: Any) -> Iterable[Any]:
    """Of a container, or of an object of a class made from one, without asking that class."""
    if isinstance(held, dict):
        values: Iterable[Any] = dict.values(held)
    else:
        values = (list if isinstance(held, list) else tuple).__iter__(held)
    return list(islice(values, _MOST_ELEMENTS))


def _held_by_module(module: torch.nn.Module) -> Iterator[Any]:
    """Its modules, the hooks around its forward, and the attributes that not every module has."""
    for name, value in _attributes(module).items():
        if name not in OWN or name in ("_modules", "_forward_hooks", "_forward_pre_hooks"):
            yield value


def _attributes(value: Any) -> Mapping[str, Any]:
    """Those that an object holds itself, without asking its class for more."""
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return attributes if isinstance(attributes, dict) else {}


def _called_around(function: FunctionType) -> Iterator[Any]:
    """What a function has in variables around it, as one that decorates another, what it wraps, and defaults."""
    yield from (_content(cell) for cell in function.__closure__ or ())
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    yield vars(function).get("__wrapped__")


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing yet
        return None


@cache
def _names(code: CodeType) -> frozenset[str]:
    """What a function and those within have names for."""
    return frozenset[str]().union(*(part.co_names for part in nested(code)))


@cache
def _is_left(module: str | None) -> bool:
    """Whether a Python file's code does without: of PyTorch, Python's library, and what these compute with."""
    if module is None:
        return False
    package = module.partition(".")[0]
    return package in _LEFT or (package in sys.stdlib_module_names and package != "__main__")
