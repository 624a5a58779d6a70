"""Types that hold tensors, made known to PyTorch: dataclasses and the caches of transformers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
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
    return "transformers.cache_utils" in sys.modules


def is_cache(value: Any) -> bool:
    """Whether a value is a cache of transformers."""
    return _is_cache(type(value))


def _is_cache(kind: type) -> bool:
    module = sys.modules.get("transformers.cache_utils")
    return module is not None and issubclass(kind, module.Cache)


def _register_cache(kind: type) -> None:
    """A cache is its layers' tensors, and all else it is made of."""
    names = f"{kind.__module__}.{kind.__qualname__}"
    pytree.register_pytree_node(
        kind,
        _cache_flattened,
        lambda leaves, context: _cache_restored(kind, leaves, context),
        serialized_type_name=names,
        flatten_with_keys_fn=_cache_flattened_with_keys,
    )
    fx_pytree.register_pytree_flatten_spec(kind, lambda cache, spec: _cache_flattened(cache)[0])


class _Rest:
    """What an object holds beside tensors. It is equal to another one if all plain values are."""

    def __init__(self, kind: type, tensors: Sequence[str], values: dict[str, Any]) -> None:
        self.kind = kind
        self.tensors = tuple(tensors)
        self.values = values

    def _compared(self) -> tuple[Any, ...]:
        plain = (int, float, bool, str, type(None), torch.dtype, torch.device, type)
        shown = {k: v for k, v in self.values.items() if isinstance(v, plain)}
        return self.kind, self.tensors, tuple(sorted(shown.items(), key=lambda item: item[0]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Rest) and self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash((self.kind, self.tensors))

    def __repr__(self) -> str:
        return f"{self.kind.__name__}({', '.join(self.tensors)})"

    def with_tensors(self, leaves: Iterable[Any]) -> Any:
        """The object again."""
        made: Any = object.__new__(self.kind)
        made.__dict__.update(self.values)
        made.__dict__.update(zip(self.tensors, leaves, strict=True))
        return made


def _taken_apart(value: Any) -> tuple[list[torch.Tensor], _Rest]:
    tensors = {k: v for k, v in vars(value).items() if isinstance(v, torch.Tensor)}
    rest = {k: v for k, v in vars(value).items() if k not in tensors}
    return list(tensors.values()), _Rest(type(value), list(tensors), rest)


def _cache_flattened(cache: Any) -> tuple[list[Any], Any]:
    """The tensors of each layer, and the rest of the cache and of each layer."""
    leaves, rests = list[Any](), list[_Rest]()
    for layer in cache.layers:
        tensors, rest = _taken_apart(layer)
        leaves += tensors
        rests.append(rest)
    own = {k: v for k, v in vars(cache).items() if k != "layers"}
    return leaves, (_Rest(type(cache), [], own), tuple(rests))


def _cache_flattened_with_keys(cache: Any) -> tuple[list[Any], Any]:
    leaves, context = _cache_flattened(cache)
    keys: list[Any] = [
        pytree.MappingKey(f"layers.{index}.{name}")
        for index, rest in enumerate(context[1])
        for name in rest.tensors
    ]
    return list(zip(keys, leaves, strict=True)), context


def _cache_restored(kind: type, leaves: Iterable[Any], context: Any) -> Any:
    own, rests = context
    values = list(leaves)
    cache = own.with_tensors(())
    cache.layers = list[Any]()
    for rest in rests:
        count = len(rest.tensors)
        cache.layers.append(rest.with_tensors(values[:count]))
        values = values[count:]
    return cache
