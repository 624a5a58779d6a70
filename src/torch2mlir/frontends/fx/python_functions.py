"""Python's own functions, as a model calls them on tensors and sizes that stand for others while it is traced.

``len(x)`` is a plain number, whatever ``x`` says, so that a size that varies became that of the example.
``isinstance(n, int)`` is false of what PyTorch's tracing has for a size, and the model went the other way in silence.
Python looks for a name among the global variables of a file before it takes its own function: while a model is traced,
ours stand there, in the files of the code that it calls.
"""

from __future__ import annotations

import sys
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from threading import Lock
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any

import torch

from torch2mlir.frontends.reached_objects import functions_of, nested

_MOST = 5000
"""Functions. What a model names is not followed to the last one of a library."""
_LEFT = frozenset({"torch", "torch2mlir", "numpy", "sympy"})
"""Packages that know of sizes that vary, beside Python's library."""


def _len(x: Any, /) -> Any:
    """The size of the first dimension, as the tensor says it."""
    if isinstance(x, torch.Tensor) and type(x).__len__ is torch.Tensor.__len__ and x.dim():
        return x.shape[0]
    return len(x)


def _isinstance(value: Any, kind: Any, /) -> bool:
    """Numbers that vary are numbers."""
    stands_for = _PLAIN.get(type(value))
    return isinstance(value, kind) or (stands_for is not None and isinstance(stands_for, kind))


def _divmod(one: Any, other: Any, /) -> Any:
    """PyTorch's tracing has quotients and remainders, and not both at once."""
    if type(one) in _PLAIN or type(other) in _PLAIN:
        return one // other, one % other
    return divmod(one, other)


_PLAIN: Mapping[type, Any] = {torch.SymInt: 0, torch.SymFloat: 0.0, torch.SymBool: False}
"""Values of the types that numbers of tracing stand for."""
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "len": _len,
    "isinstance": _isinstance,
    "divmod": _divmod,
}


@contextmanager
def python_functions_of_sizes(model: Any) -> Iterator[None]:
    """While this lasts, the code that a model calls has functions of Python's that take what tracing has for numbers.

    Args:
        model: a module or a function.
    """
    spaces = _Called(model).spaces
    _given(spaces)
    try:
        yield
    finally:
        _taken_back(spaces)


_LOCK = Lock()
_holders = dict[int, int]()
"""How many captures need the functions in a file, in all threads."""


def _given(spaces: Iterable[dict[str, Any]]) -> None:
    with _LOCK:
        for space in spaces:
            _holders[id(space)] = _holders.get(id(space), 0) + 1
            for name, function in _FUNCTIONS.items():
                space.setdefault(name, function)


def _taken_back(spaces: Iterable[dict[str, Any]]) -> None:
    with _LOCK:
        for space in spaces:
            _holders[id(space)] -= 1
            if _holders[id(space)]:
                continue
            del _holders[id(space)]
            for name, function in _FUNCTIONS.items():
                if space.get(name) is function:
                    del space[name]


class _Called:
    """The code that a model may call: what is named by other such code, its own methods too.

    Attributes:
        spaces: global variables of files with code that has names for functions of Python's that are ours.
    """

    def __init__(self, model: Any) -> None:
        self.spaces = list[dict[str, Any]]()
        self._seen = set[int]()
        self._names = {"forward"}
        self._unnamed = defaultdict[str, list[FunctionType]](list)
        self._waiting = deque[Any]([model])
        while self._waiting and len(self._seen) < _MOST:
            value = self._waiting.popleft()
            value = getattr(value, "__func__", value)
            if id(value) not in self._seen:
                self._seen.add(id(value))
                self._visit(value)

    def _visit(self, value: Any) -> None:
        if isinstance(value, torch.nn.Module):
            held = [v if isinstance(v, _CODE) else type(v) for v in vars(value).values()]
            self._waiting += [*value.children(), *held, type(value)]
        elif _is_left(getattr(value, "__module__", None)):
            return
        elif isinstance(value, type):
            self._waiting += value.__mro__[1:]
            for function in functions_of(value):
                name = function.__name__
                is_called = name in self._names or name.startswith("__")
                (self._waiting if is_called else self._unnamed[name]).append(function)
        elif isinstance(value, FunctionType):
            self._visit_function(value)

    def _visit_function(self, function: FunctionType) -> None:
        space, names = function.__globals__, _names(function.__code__)
        if not names.isdisjoint(_FUNCTIONS) and all(space is not each for each in self.spaces):
            self.spaces.append(space)
        self._waiting += [space[name] for name in names if isinstance(space.get(name), _CODE)]
        self._waiting += _called_around(function)
        for name in names - self._names:
            self._waiting += self._unnamed.pop(name, ())
        self._names |= names


_CODE = (FunctionType, MethodType, type, torch.nn.Module)


def _called_around(function: FunctionType) -> Iterator[Any]:
    """The functions that a function has in variables around it, as one that decorates another, and what it wraps."""
    for cell in function.__closure__ or ():
        if isinstance(content := _content(cell), _CODE):
            yield content
    if isinstance(wrapped := getattr(function, "__wrapped__", None), FunctionType):
        yield wrapped


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
