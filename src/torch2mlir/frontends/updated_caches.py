"""Caches of transformers that a model changes as Python objects: other tensors in a ``DynamicCache`` than were in it.

A program has no objects. Where the changed cache is part of the model's result, a call of the compiled program can put
what the result holds into the caller's object, and the object into the result, as eager mode has it. Tensors that are
written to where they lie, as a ``StaticCache``'s, are arguments that a program updates and need nothing here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils import _pytree as pytree

from torch2mlir.errors import CaptureError
from torch2mlir.frontends.pytrees import is_cache, is_taken_apart, knows_caches
from torch2mlir.frontends.watched_calls import calls_watched

ARE_ONE = "two arguments are one cache, or caches of the same layers, which a program takes for two"
GIVE_COPIES = "give the cache once, or copies"
Pairs = list[tuple[int, int, bool]]
"""Of caches that a result has from the arguments: the places among the caches of both, and whether they are changed."""


@contextmanager
def changes_watched(model: torch.nn.Module, pairs: Pairs) -> Iterator[None]:
    """While this lasts, notes which caches a call of the model changes, or gives back.

    Raises:
        CaptureError: by the call, if a changed cache is not part of the result.
    """
    before = list[tuple[list[Any], pytree.TreeSpec]]()

    def at_start(_model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        before[:] = [pytree.tree_flatten(cache) for cache in _caches(args, kwargs)]

    def at_end(_model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        made = _found(result)
        pairs.clear()
        for place, (cache, (old, known)) in enumerate(
            zip(_caches(args, kwargs), before, strict=True)
        ):
            new, spec = pytree.tree_flatten(cache)
            is_changed = spec != known or any(a is not b for a, b in zip(new, old, strict=True))
            places = [i for i, other in enumerate(made) if other is cache]
            if not places and is_changed:
                raise CaptureError(
                    f"the model changes an argument, a {type(cache).__name__}, and does not return it",
                    hint="make the cache part of the model's result, or use a StaticCache, which is written in place",
                )
            pairs.extend((place, where, is_changed and where == places[0]) for where in places)

    with calls_watched(model, at_start, at_end):
        yield


def check_apart(args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Refuses caches that are given twice.

    Raises:
        CaptureError: two are one, or have layers in common.
    """
    if knows_caches() and share_parts(args, kwargs):
        raise CaptureError(ARE_ONE, hint=GIVE_COPIES)


def share_parts(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether two caches among arguments are one, or have layers in common."""
    held = list[int]()
    for cache in _caches(args, kwargs):
        layers = getattr(cache, "layers", ())
        held += {id(cache), id(layers), *map(id, layers)} if layers else {id(cache)}
    return len(set(held)) < len(held)


def update_caches(result: Any, args: Sequence[Any], kwargs: Mapping[str, Any], pairs: Pairs) -> Any:
    """The result of a call with the caller's own caches in it, changed to what the result had in their places."""
    given, made = _caches(args, kwargs), _found(result)
    own = dict[int, Any]()
    for place, where, is_changed in pairs:
        cache, new = given[place], made[where]
        own[id(new)] = _changed(cache, new, {}) if is_changed else cache
    return pytree.tree_map(lambda leaf: own.get(id(leaf), leaf), result, is_leaf=is_cache)


def _changed(old: Any, new: Any, done: dict[int, Any]) -> Any:
    """The old object, list or dictionary with what is in a new one of its kind; else what is new.

    Args:
        old: of the caller's cache.
        new: in its place.
        done: what has become of new objects: a layer may know its cache.
    """
    if old is new or type(old) is not type(new):
        return _adopted(new, done)
    if id(new) in done:
        return done[id(new)]
    if isinstance(old, list):
        kept = [_changed(*pair, done) for pair in zip(old, new, strict=False)]
        old[:] = [*kept, *(_adopted(each, done) for each in new[len(old) :])]
        return old
    one, other = (vars(old), vars(new)) if is_taken_apart(old) else (old, new)
    if not isinstance(one, dict):
        return new
    done[id(new)] = old
    found = {key: _changed(one.get(key), each, done) for key, each in other.items()}
    one.clear()
    one.update(found)
    return old


def _adopted(new: Any, done: dict[int, Any]) -> Any:
    """What is new, knowing the old objects in the places of those that have become them."""
    if id(new) in done:
        return done[id(new)]
    if is_taken_apart(new):
        done[id(new)] = new
        vars(new).update({name: _adopted(each, done) for name, each in vars(new).items()})
    elif isinstance(new, list):
        new[:] = [_adopted(each, done) for each in new]
    return new


def _caches(args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    return _found((list(args), [kwargs[name] for name in sorted(kwargs)]))


def _found(value: Any) -> list[Any]:
    return [leaf for leaf in pytree.tree_leaves(value, is_leaf=is_cache) if is_cache(leaf)]
