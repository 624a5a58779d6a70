"""Arguments of a call in the arrangement a program was captured with, and what is wrong with those that do not fit."""

from __future__ import annotations

import inspect
from collections import namedtuple
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from torch.utils import _pytree as pytree

from torch2mlir.errors import InputError
from torch2mlir.same_values import is_same

TreeSpec = pytree.TreeSpec

_HINT = "call it as the model is called, with arguments structured as at capture"


def arranged(
    spec: TreeSpec,
    parameters: inspect.Signature | None,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments as positional and named as they were at capture, as Python's call rules allow.

    Args:
        spec: of ``(args, kwargs)`` at capture.
        parameters: the model's own; without them the arguments stay as they are.
        args: positional arguments of the call.
        kwargs: named arguments of the call.

    Raises:
        InputError: the model does not take such arguments, or another one than its default for what was left out.
    """
    positional, named = spec.child(0), spec.child(1)
    count, names = positional.num_children, list(named.context or ())
    if (len(args), set(kwargs)) == (count, set(names)) or not _is_plain(parameters):
        return tuple(args), {name: kwargs[name] for name in _order(names, kwargs)}
    assert parameters is not None
    try:
        bound = parameters.bind(*args, **kwargs)
    except TypeError as error:
        taken = ", ".join([*list(parameters.parameters)[:count], *names])
        raise InputError(
            f"the program takes {count + len(names)} inputs ({taken}), got {len(args) + len(kwargs)}: {error}",
            hint=_HINT,
        ) from None
    given = set(bound.arguments)
    bound.apply_defaults()
    values = {**bound.arguments}
    for name, parameter in parameters.parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            extra = values.pop(name)
            given = (given - {name}) | set(extra)
            values.update(extra)
    in_order = list(parameters.parameters)[:count]
    for name in given - set(in_order) - set(names):
        default = getattr(parameters.parameters.get(name), "default", inspect.Parameter.empty)
        if not is_same(values[name], default):
            raise InputError(
                f"'{name}' was left at its default at capture, got {_shown(values[name])}",
                hint=f"give '{name}' an example when the program is compiled",
            )
    missing = [name for name in (*in_order, *names) if name not in values]
    if missing:
        raise InputError(f"the argument '{missing[0]}' is missing", hint=_HINT)
    return tuple(values[name] for name in in_order), {name: values[name] for name in names}


def _is_plain(parameters: inspect.Signature | None) -> bool:
    """Whether each positional argument has a name."""
    kinds = [p.kind for p in parameters.parameters.values()] if parameters is not None else None
    return kinds is not None and inspect.Parameter.VAR_POSITIONAL not in kinds


def _order(names: Sequence[str], kwargs: Mapping[str, Any]) -> Sequence[str]:
    return names if set(names) == set(kwargs) else list(kwargs)


class Rearrangement(NamedTuple):
    """Where a value is arranged otherwise than a captured one, though it has the same leaves.

    Attributes:
        kind: ``order`` of a dictionary, or ``type`` of a list or tuple.
        path: of the value.
        what: it is, in words.
    """

    kind: str
    path: str
    what: str


def flattened(
    spec: TreeSpec, value: Any, path: str, others: list[Rearrangement] | None = None
) -> Iterator[Any]:
    """The leaves of a value in the order of a captured structure.

    Dictionaries may have their keys in another order, and lists and tuples stand for each other.

    Args:
        spec: the structure.
        value: of a call.
        path: where it is.
        others: gets where it is arranged otherwise.

    Raises:
        InputError: the value has another structure; says where.
    """
    if spec.is_leaf():
        yield value
        return
    if spec.type is None:
        raise InputError(f"{path} was None at capture, got {_shown(value)}", hint=_HINT)
    if others is not None:
        others += _rearranged(spec, value, path)
    for child, (item, place) in zip(spec.children(), _items(spec, value, path), strict=True):
        yield from flattened(child, item, place, others)


def _rearranged(spec: TreeSpec, value: Any, path: str) -> Iterator[Rearrangement]:
    if isinstance(value, Mapping) and isinstance(spec.type, type) and issubclass(spec.type, dict):
        if list(value) != list(_keys(spec.context)):
            yield Rearrangement("order", path, "in another order")
    elif spec.type in (list, tuple) and type(value) is not spec.type:
        yield Rearrangement("type", path, f"another type ({type(value).__name__})")


def _items(spec: TreeSpec, value: Any, path: str) -> list[tuple[Any, str]]:
    """The children of a value and where they are."""
    kind, context = spec.type, spec.context
    if kind is namedtuple:
        kind = context
        if not isinstance(value, kind) and (
            type(value) is not tuple or len(value) != len(spec.children())
        ):
            raise InputError(f"{path} should be a {kind.__name__}, got {_shown(value)}", hint=_HINT)
        return [(item, f"{path}.{name}") for item, name in zip(value, kind._fields, strict=True)]
    if issubclass(kind, dict):
        if not isinstance(value, Mapping) or set(value) != set(_keys(context)):
            keys = ", ".join(map(repr, _keys(context)))
            raise InputError(
                f"{path} should be a dictionary with the keys {keys}, got {_shown(value)}",
                hint=_HINT,
            )
        return [(value[key], f"{path}[{key!r}]") for key in _keys(context)]
    if kind in (list, tuple):
        if not isinstance(value, list | tuple) or len(value) != spec.num_children:
            count = spec.num_children
            raise InputError(
                f"{path} should be a {kind.__name__} of {count}, got {_shown(value)}", hint=_HINT
            )
        return [(item, f"{path}[{index}]") for index, item in enumerate(value)]
    if type(value) is not kind:
        raise InputError(f"{path} should be a {kind.__name__}, got {_shown(value)}", hint=_HINT)
    children, found = pytree.SUPPORTED_NODES[kind].flatten_fn(value)
    if found != context or len(children) != spec.num_children:
        raise InputError(
            f"{path} is a {kind.__name__} of other contents than at capture", hint=_HINT
        )
    return [(item, f"{path}[{index}]") for index, item in enumerate(children)]


def _keys(context: Any) -> Sequence[Any]:
    """The keys in a dictionary's context; a default dictionary has its factory before them."""
    return context[1] if len(context) == 2 and isinstance(context[1], list) else context


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, Mapping):
        return f"a dictionary with the keys {', '.join(map(repr, value))}"
    text = repr(value)
    return text if len(text) < 60 and "\n" not in text else f"a {type(value).__name__}"
