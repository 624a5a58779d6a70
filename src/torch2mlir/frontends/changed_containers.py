"""Lists and dictionaries that a model is given and changes: a program takes the tensors in them, not the containers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils import _pytree as pytree

from torch2mlir.errors import CaptureError
from torch2mlir.frontends.pytrees import is_cache
from torch2mlir.frontends.watched_calls import calls_watched


@contextmanager
def containers_kept(model: torch.nn.Module) -> Iterator[None]:
    """While this lasts, a call of the model that appends to a list it is given, or sets a key, is refused.

    So it is for containers of others that PyTorch knows (``pytree.register_pytree_node``), as ``TensorDict``.

    Raises:
        CaptureError: in the call.
    """
    given = list[Any]()

    def at_start(_model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        given[:] = _contents(args, kwargs)

    def at_end(_model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], _: Any) -> None:
        leaves, spec = _contents(args, kwargs)
        if spec != given[1] or any(a is not b for a, b in zip(leaves, given[0], strict=True)):
            raise CaptureError(
                f"the model changes {_named(given[1], spec)} that it is given, which a compiled program would not do",
                hint="return what is new, or compile a function that calls the model with a copy: "
                "lambda batch: model(dict(batch)); torch.compile(model, backend='torch2mlir') takes it as it is",
            )

    with calls_watched(model, at_start, at_end):
        yield


def _contents(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], pytree.TreeSpec]:
    return pytree.tree_flatten((args, kwargs), _is_leaf)


def _is_leaf(value: Any) -> bool:
    """Whether nobody looks into a value: caches change in their own ways, and some containers make what they give."""
    if isinstance(value, list | dict | tuple):
        return False
    if is_cache(value) or type(value) not in pytree.SUPPORTED_NODES:
        return True
    flatten = pytree.SUPPORTED_NODES[type(value)].flatten_fn
    (one, spec), (other, again) = flatten(value), flatten(value)
    return spec != again or not all(a is b for a, b in zip(one, other, strict=True))


def _named(*specs: pytree.TreeSpec) -> str:
    """What may have been changed, by kind."""
    kinds = {
        each.type.__name__
        for spec in specs
        for each in _nodes(spec)
        if each.type is not None and not issubclass(each.type, list | dict | tuple)
    }
    return (
        f"a list, a dictionary or a {' or '.join(sorted(kinds))}"
        if kinds
        else "a list or dictionary"
    )


def _nodes(spec: pytree.TreeSpec) -> Iterator[pytree.TreeSpec]:
    yield spec
    for child in spec.children():
        yield from _nodes(child)
