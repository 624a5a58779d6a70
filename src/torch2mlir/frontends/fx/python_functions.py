"""Python's own functions, as a model calls them on tensors and sizes that stand for others while it is traced.

``len(x)`` is a plain number, whatever ``x`` says, so that a size that varies became that of the example.
``isinstance(n, int)`` and ``type(x) is torch.Tensor`` are false of what PyTorch's tracing has for them, and the model
went the other way in silence.

Python looks for a name among the global variables of a file before it takes its own function: while a model is traced,
ours stand there, in the files of the code that it calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor

from torch2mlir.frontends.called_code import files_with_names


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


class _Type:
    """``type``, which is a class as well: of a number or a tensor of tracing, the class of what it stands for."""

    def __call__(self, *of: Any, **keywords: Any) -> Any:
        kind = type(*of, **keywords)
        if len(of) > 1:
            return kind
        if kind in _PLAIN:
            return type(_PLAIN[kind])
        if kind in _TENSORS:
            return torch.nn.Parameter if isinstance(of[0], torch.nn.Parameter) else torch.Tensor
        return self if kind is type else kind

    def __instancecheck__(self, value: Any) -> bool:
        return isinstance(value, type)

    def __subclasscheck__(self, kind: Any) -> bool:
        return kind is self or issubclass(kind, type)

    def __mro_entries__(self, _bases: Any) -> tuple[type]:
        return (type,)

    def __getitem__(self, kind: Any) -> Any:
        return type[kind]

    def __or__(self, other: Any) -> Any:
        return type | other

    def __ror__(self, other: Any) -> Any:
        return other | type

    def __eq__(self, other: object) -> bool:
        return other is self or other is type

    def __hash__(self) -> int:
        return hash(type)

    def __getattr__(self, name: str) -> Any:
        return getattr(type, name)


_PLAIN: Mapping[type, Any] = {torch.SymInt: 0, torch.SymFloat: 0.0, torch.SymBool: False}
"""Values of the types that numbers of tracing stand for."""
_TENSORS = (FakeTensor, FunctionalTensor)
"""The tensors of tracing."""
_FUNCTIONS: Mapping[str, Any] = {
    "len": _len,
    "isinstance": _isinstance,
    "divmod": _divmod,
    "type": _Type(),
}


@contextmanager
def python_functions_of_sizes(model: Any) -> Iterator[None]:
    """While this lasts, the code that a model calls has functions of Python's that take what tracing has for numbers.

    Args:
        model: a module or a function.
    """
    spaces = files_with_names(model, frozenset(_FUNCTIONS))
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
