"""Types that hold tensors, made known to PyTorch: dataclasses and the caches of transformers."""

from __future__ import annotations

import copy
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import Any

import torch
import torch.fx._pytree as fx_pytree
from torch.utils import _pytree as pytree


def register_types(value: Any) -> None:
    """Registers the types among a value's parts that PyTorch would refuse as inputs or outputs.

    A dataclass whose fields its constructor takes, and a cache of transformers; others stay as they are.
    """
    known = 0
    while True:
        unknown = {type(leaf) for leaf in pytree.tree_leaves(value)} - pytree.SUPPORTED_NODES.keys()
        for kind in unknown:
            if knows_caches() and _is_cache(kind):
                _register_cache(kind)
            elif is_dataclass(kind) and all(field.init for field in fields(kind)):
                torch.export.register_dataclass(kind)
        if known == len(pytree.SUPPORTED_NODES):
            return
        known = len(pytree.SUPPORTED_NODES)


def unflattener(spec: pytree.TreeSpec) -> Callable[[Iterable[Any]], Any]:
    """What puts leaves together as they were; of PyTorch, which makes a tuple of a ``torch.Size``."""
    if not _has_size(spec):
        return lambda leaves: pytree.tree_unflatten(leaves, spec)
    return lambda leaves: _put_together(spec, iter(leaves))


def _has_size(spec: pytree.TreeSpec) -> bool:
    return spec.type is torch.Size or any(map(_has_size, spec.children()))


def _put_together(spec: pytree.TreeSpec, leaves: Iterator[Any]) -> Any:
    if spec.is_leaf():
        return next(leaves)
    parts = [_put_together(each, leaves) for each in spec.children()]
    if spec.type is torch.Size:
        return torch.Size(parts)
    one_level = pytree.tree_structure([None] * len(parts)).children()
    return pytree.tree_unflatten(parts, pytree.TreeSpec(spec.type, spec.context, one_level))


def knows_caches() -> bool:
    """Whether there can be caches of transformers: somebody has imported it."""
    return _CACHES in sys.modules


def is_cache(value: Any) -> bool:
    """Whether a value is a cache of transformers."""
    return _is_cache(type(value))


def is_part_of_cache(value: Any) -> bool:
    """Whether a value is a cache, a layer of one or another object of transformers' file of them."""
    return is_cache(value) or type(value).__module__ == _CACHES


def is_taken_apart(value: Any) -> bool:
    """Whether an object in a cache is a part of it, of whatever class: it has attributes of its own, which may change.

    Containers, modules, functions, classes and the configurations of models are not.
    """
    if is_part_of_cache(value):
        return True
    kind = type(value)
    if not hasattr(value, "__dict__") or isinstance(value, torch.nn.Module | Enum | _SYMBOLS):
        return False
    # others, containers among them, hold more than attributes, or cannot be two
    is_plain = kind.__new__ is object.__new__ and kind.__reduce__ is object.__reduce__
    return is_plain and not any(base.__module__ == _CONFIGURATIONS for base in kind.__mro__)


_SYMBOLS = torch.SymInt | torch.SymFloat | torch.SymBool
_CACHES = "transformers.cache_utils"
_CONFIGURATIONS = "transformers.configuration_utils"


def _is_cache(kind: type) -> bool:
    module = sys.modules.get(_CACHES)
    return module is not None and issubclass(kind, module.Cache)


def _register_cache(kind: type) -> None:
    """A cache is its tensors, and all else it is made of."""
    names = f"{kind.__module__}.{kind.__qualname__}"
    pytree.register_pytree_node(
        kind,
        _cache_flattened,
        _cache_restored,
        serialized_type_name=names,
        flatten_with_keys_fn=_cache_flattened_with_keys,
    )
    fx_pytree.register_pytree_flatten_spec(kind, lambda cache, spec: _cache_flattened(cache)[0])


class _Place(Enum):
    """What is in the places of tensors in what is left of an object without them."""

    TENSOR = "tensor"


_TENSOR = _Place.TENSOR


@dataclass(frozen=True)
class _Around:
    """One of the objects around a value, from the outermost one: a layer that knows its cache."""

    level: int


_PLAIN = (
    *(int, float, bool, str, type(None), torch.dtype, torch.device, type),
    *(_Place, _Around),
)


class _Rest:
    """What an object holds beside tensors. It is equal to another one if all plain values are.

    Args:
        kind: of the object.
        values: its attributes; containers are others than the object's, and tensors in them are :data:`_TENSOR`.
    """

    def __init__(self, kind: type, values: dict[str, Any]) -> None:
        self.kind = kind
        self.values = values

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Rest) and _compared(self) == _compared(other)

    def __hash__(self) -> int:
        return hash(self.kind)

    def __repr__(self) -> str:
        held = [name for name, value in self.values.items() if _has_tensors(value)]
        return f"{self.kind.__name__}({', '.join(held)})"


def _compared(value: Any) -> Any:
    """What two objects of which programs are made have in common: plain values, and where others are."""
    if isinstance(value, _Rest):
        return value.kind, _compared(value.values)
    if isinstance(value, dict):
        return type(value), tuple((key, _compared(each)) for key, each in value.items())
    if isinstance(value, list | tuple | deque):
        return type(value), tuple(map(_compared, value))
    return (type(value), value) if isinstance(value, _PLAIN) else type(value)


def has_symbols(spec: pytree.TreeSpec) -> bool:
    """Whether a cache in a structure has a size that varies among its plain values."""
    own = isinstance(spec.context, _Rest) and _has_symbols(spec.context)
    return own or any(map(has_symbols, spec.children()))


def _has_symbols(value: Any) -> bool:
    return isinstance(value, _SYMBOLS) or any(map(_has_symbols, _parts(value)))


def _has_tensors(value: Any) -> bool:
    return value is _TENSOR or any(map(_has_tensors, _parts(value)))


def _parts(value: Any) -> Iterable[Any]:
    """What a container holds, or an object that was taken apart."""
    if isinstance(value, _Rest):
        return value.values.values()
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list | tuple | deque) else ()


def _like(value: Any, part: Callable[[Any, Any], Any]) -> Any:
    """A container of the same class with other parts; None for what is no container.

    Args:
        value: it.
        part: gives a part for another one and its place.
    """
    if type(value) in (list, tuple):
        return type(value)(part(each, place) for place, each in enumerate(value))
    if isinstance(value, tuple):
        is_named = hasattr(value, "_fields")
        return type(value)(*(part(*each[::-1]) for each in enumerate(value))) if is_named else None
    if isinstance(value, list | deque):
        parts = [part(each, place) for place, each in enumerate(value)]
        line = copy.copy(value)
        line.clear()
        line.extend(parts)
        return line
    if not isinstance(value, dict):
        return None
    members = {key: part(each, key) for key, each in value.items()}
    if type(value) is dict:
        return members
    made = copy.copy(value)
    made.update(members)
    return made


class _Apart:
    """Takes a cache apart: its containers are made anew, and there are no tensors in them.

    Attributes:
        found: the tensors, with the paths to them.
    """

    def __init__(self) -> None:
        self.found: list[tuple[str, torch.Tensor]] = []
        self._around: list[Any] = []

    def of(self, value: Any, path: str = "") -> Any:
        """What is left of a value.

        Args:
            value: an object, a container or anything else.
            path: to it.
        """
        if isinstance(value, torch.Tensor):
            self.found.append((path, value))
            return _TENSOR
        if (container := _like(value, lambda part, at: self.of(part, f"{path}.{at}"))) is not None:
            return container
        if not is_taken_apart(value):
            return value
        if (level := next((n for n, e in enumerate(self._around) if e is value), None)) is not None:
            return _Around(level)
        self._around.append(value)
        parts = {name: self.of(each, f"{path}.{name}") for name, each in vars(value).items()}
        self._around.pop()
        return _Rest(type(value), parts)


def _with_tensors(value: Any, leaves: Iterator[Any], around: tuple[Any, ...] = ()) -> Any:
    """The value again, of these tensors."""
    if value is _TENSOR:
        return next(leaves)
    if isinstance(value, _Around):
        return around[value.level]
    container = _like(value, lambda part, _place: _with_tensors(part, leaves, around))
    if container is not None:
        return container
    if not isinstance(value, _Rest):
        return value
    made: Any = object.__new__(value.kind)
    for name, each in value.values.items():
        made.__dict__[name] = _with_tensors(each, leaves, (*around, made))
    return made


def _cache_flattened(cache: Any) -> tuple[list[Any], _Rest]:
    """The tensors of a cache, of its layers and of the caches in it, and all else that it consists of."""
    apart = _Apart()
    rest = apart.of(cache)
    return [tensor for _, tensor in apart.found], rest


def _cache_flattened_with_keys(cache: Any) -> tuple[list[Any], Any]:
    apart = _Apart()
    rest = apart.of(cache)
    return [(pytree.MappingKey(path.removeprefix(".")), each) for path, each in apart.found], rest


def _cache_restored(leaves: Iterable[Any], context: _Rest) -> Any:
    return _with_tensors(context, iter(leaves))
