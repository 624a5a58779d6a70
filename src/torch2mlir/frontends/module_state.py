"""What a captured program assumes of its module besides the inputs: Python attributes, parameters, modes of PyTorch.

A capture runs Python once. What that Python read from the module is fixed in the graph, so a later call is right only
if it reads the same; and a module that changes itself in Python when called cannot be captured that way at all.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn.modules import module as modules
from torch.utils.hooks import RemovableHandle

_PRIMITIVES = bool | int | float | str | None
_CONTAINERS = list | dict | set
_MISSING = object()
_dict_version = getattr(torch._C._dynamo.guards, "dict_version", None)
"""What Python counts writes to a dictionary with, as TorchDynamo's guards ask for it; not of every PyTorch."""
_OWN = frozenset(vars(torch.nn.Module())) - {"training"}
"""Attributes every module has; those that hold its tensors and modules are looked at one by one."""


def dict_versions(tables: Sequence[dict[Any, Any]]) -> list[int] | None:
    """Numbers that change when one of the dictionaries is written to; None if nobody counts that.

    For calls, which ask this of hundreds of dictionaries: what is in them lies in cold memory.
    """
    return None if _dict_version is None else [*map(_dict_version, tables)]


class Hooks:
    """What is called around ``forward`` of a module and its parts, as it was at some time.

    Args:
        model: the module.
    """

    def __init__(self, model: torch.nn.Module) -> None:
        self._model = model
        self._hooks = _hooks(model)
        self._tables = [table for _, table in _tables_of_hooks(model) if table]
        self._seen = self._state()
        self._changed: str | None = None

    def _state(self) -> tuple[Any, ...]:
        """Something that is another once a hook has come anywhere, or one of these has gone."""
        return RemovableHandle.next_id, dict_versions(self._tables)

    def changed(self) -> str | None:
        """The path of a module that has others now, None if none has; asked at every call."""
        state = self._state()
        if state != self._seen or state[1] is None:
            self._seen, now = state, _hooks(self._model)
            paths = {**self._hooks, **now}
            others = (path for path in paths if self._hooks.get(path) != now.get(path))
            self._changed = next(others, None)
        return self._changed


def _tables_of_hooks(model: torch.nn.Module) -> Iterator[tuple[str, dict[int, Any]]]:
    """The dictionaries of hooks, each with the path of its module."""
    yield "", modules._global_forward_hooks
    yield "", modules._global_forward_pre_hooks
    for path, module in model.named_modules():
        yield path, module._forward_hooks
        yield path, module._forward_pre_hooks


def _hooks(model: torch.nn.Module) -> dict[str, tuple[int, ...]]:
    """Path of a module -> the numbers of its hooks, if it has any."""
    found = dict[str, tuple[int, ...]]()
    for path, table in _tables_of_hooks(model):
        if table:
            found[path] = (*found.get(path, ()), *table)
    return found


class ModuleState:
    """What a module's Python attributes, parameters, buffers and submodules were at some time."""

    def __init__(self, model: torch.nn.Module) -> None:
        self._objects = list[tuple[dict[str, Any], str, Any]]()
        self._values = list[tuple[dict[str, Any], str, Any]]()
        self._contents = list[tuple[dict[str, Any], str, Any, Any]]()
        self._keys = list[tuple[dict[str, Any], frozenset[str]]]()
        self._without = list[tuple[dict[str, Any], str]]()
        self._tables = list[dict[str, Any]]()
        self._versions = list[int]()
        self._hooks = Hooks(model)
        for module in model.modules():
            if not isinstance(module, torch.jit.ScriptModule):  # its attributes are the script's
                self._look_at(module)

    def _look_at(self, module: torch.nn.Module) -> None:
        attributes = vars(module)
        tables = (module._parameters, module._buffers, module._modules)
        self._tables += [attributes, *tables]
        for table in tables:
            self._objects += [(table, name, value) for name, value in table.items()]
        self._keys.append((attributes, frozenset(attributes)))
        if "forward" not in attributes:
            self._without.append((attributes, "forward"))
        for name, value in attributes.items():
            if name in _OWN:
                continue
            if isinstance(value, _PRIMITIVES | tuple):
                self._values.append((attributes, name, value))
            elif isinstance(value, _CONTAINERS):
                self._contents.append((attributes, name, value, copy.copy(value)))
            else:
                self._objects.append((attributes, name, value))

    def is_current(self) -> bool:
        """Whether a call would read the same; asked at every call, so tables nobody has written to are not read."""
        versions = dict_versions(self._tables)
        if versions is None or versions != self._versions:
            if not self._attributes_are_current():
                return False
            self._versions = versions or []
        if self._hooks.changed() is not None:
            return False
        return all(
            _same(table.get(name, _MISSING), saved) for table, name, _, saved in self._contents
        )

    def _attributes_are_current(self) -> bool:
        if any(name in table for table, name in self._without):
            return False
        return all(
            table.get(name, _MISSING) is value for table, name, value in self._objects
        ) and all(_same(table.get(name, _MISSING), value) for table, name, value in self._values)

    def changed(self) -> list[str]:
        """The names of attributes and parameters that are not what they were, have come or have gone.

        Not of buffers that were tensors: a program writes to those.
        """
        buffers = {id(table) for table in self._tables[2::4]}
        tables = [
            (table, name, value)
            for table, name, value in (*self._objects, *self._values)
            if id(table) not in buffers or value is None
        ]
        names = [name for table, name, value in tables if not _same(table.get(name), value)]
        names += [n for table, n, _, saved in self._contents if not _same(table.get(n), saved)]
        for table, keys in self._keys:
            names += sorted(set(table) ^ keys)
        return names

    def keys_are_current(self) -> bool:
        """Whether no attribute has come or gone."""
        return all(frozenset(table) == keys for table, keys in self._keys)

    def restore(self) -> None:
        """Puts back what has changed."""
        for table, keys in self._keys:
            for name in set(table) - keys:
                del table[name]
        for table, name, value in (*self._objects, *self._values):
            table[name] = value
        for table, name, live, saved in self._contents:
            table[name] = live
            if not _same(live, saved):
                live.clear()
                live.extend(saved) if isinstance(live, list) else live.update(saved)


def _same(now: Any, then: Any) -> bool:
    """Whether two values are one object, equal numbers or texts, or containers of such."""
    if now is then:
        return True
    if type(now) is not type(then):
        return False
    if isinstance(now, _PRIMITIVES | set):
        return bool(now == then)
    if isinstance(now, list | tuple):
        return len(now) == len(then) and all(map(_same, now, then))
    if isinstance(now, dict):
        return now.keys() == then.keys() and all(_same(now[key], then[key]) for key in then)
    return False


def modes() -> Hashable:
    """The modes of PyTorch that decide which ops a module's Python code calls."""
    return (
        torch.is_autocast_enabled("cpu"),
        torch.get_autocast_dtype("cpu"),
        torch.get_default_dtype(),
        # PyTorch holds another default device in a mode of this stack, and looks for it slowly
        torch.get_default_device() if torch._C._len_torch_function_stack() else None,
    )


@contextmanager
def undone(
    model: torch.nn.Module, parameters: Iterable[torch.Tensor] = ()
) -> Iterator[ModuleState]:
    """A trial: what happens to a module's buffers and attributes, and to random numbers, is undone after it.

    Args:
        model: the module.
        parameters: those of its parameters that the trial may write to; a copy of all would take as much memory again.
    """
    state = ModuleState(model)
    tensors = [*model.buffers(), *parameters]
    saved = [tensor.detach().clone() for tensor in tensors]
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        try:
            yield state
        finally:
            state.restore()
            put_back(tensors, saved)


def put_back(tensors: Sequence[torch.Tensor], saved: Sequence[torch.Tensor]) -> None:
    """Writes to tensors what they were, where they are something else and have not been resized."""
    for tensor, value in zip(tensors, saved, strict=True):
        if tensor.shape == value.shape and not torch.equal(tensor, value):
            tensor.copy_(value)


def cloned(value: Any) -> Any:
    """Arguments that a trial may write to, sharing memory among themselves as the given ones do."""
    return copy.deepcopy(
        torch.utils._pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.detach(), value)
    )
