"""What PyTorch does around a module's code: hooks, modes. A capture is right as long as they are what they were."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from typing import Any, NamedTuple

import torch
from torch.nn.modules import module as modules
from torch.overrides import _get_current_function_mode_stack
from torch.utils._device import DeviceContext
from torch.utils.hooks import RemovableHandle

from torch2mlir.frontends.dictionary_writes import DictionaryWrites

_COME_AND_GO = __name__.partition(".")[0] + ".", "torch.nn.modules.lazy"
"""Where hooks are from that nobody puts back."""


class Hooks:
    """What is called around ``forward`` of a module and its parts, as it was at some time.

    Args:
        model: the module.
    """

    def __init__(self, model: torch.nn.Module) -> None:
        self._model = model
        self._hooks = _hooks(model)
        self._writes = DictionaryWrites([table for _, table in _tables_of_hooks(model) if table])
        self._next = RemovableHandle.next_id
        self._changed: str | None = None

    def changed(self) -> str | None:
        """The path of a module that has others now, None if none has; asked at every call."""
        if self._next != RemovableHandle.next_id or self._writes.since():  # one has come, or gone
            self._next, now = RemovableHandle.next_id, _hooks(self._model)
            paths = {**self._hooks, **now}
            others = (path for path in paths if self._hooks.get(path) != now.get(path))
            self._changed = next(others, None)
        return self._changed


class InstalledHooks:
    """All hooks of modules, and those that every module has, as they were at some time, to be put back.

    Models install hooks in their first call, and note that in a flag: where the flag is set back the hooks have to be.
    A capture's own hooks come and go as they like.

    Args:
        parts: the modules.
    """

    def __init__(self, parts: Iterable[torch.nn.Module]) -> None:
        holders = [vars(modules), *map(vars, parts)]
        live = (table for each in holders for name, table in each.items() if "_hooks" in name)
        tables = {id(table): table for table in live if isinstance(table, dict)}
        self._tables = [(table, dict(table)) for table in tables.values()]

    def changed(self) -> bool:
        """Whether one has come or gone."""
        others = [(now, then) for now, then in self._tables if now.keys() != then.keys()]
        own = _coming_and_going(others)
        return any((now.keys() ^ then.keys()) - own for now, then in others)

    def restore(self) -> None:
        """Takes those away that have come, and brings back those that have gone."""
        others = [(now, then) for now, then in self._tables if now.keys() != then.keys()]
        own = _coming_and_going(others)
        for now, then in others:
            kept = {key: hook for key, hook in now.items() if key in own}
            wanted = {key: hook for key, hook in then.items() if key not in own} | kept
            now.clear()
            now.update(wanted)


def _coming_and_going(tables: Iterable[tuple[dict[int, Any], dict[int, Any]]]) -> set[int]:
    """The numbers of hooks that are torch2mlir's, or of a module whose first call gives it weights, for good."""
    return {
        key
        for pair in tables
        for table in pair
        for key, hook in table.items()
        if str(getattr(hook, "__module__", "")).startswith(_COME_AND_GO)
    }


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


class Mode(NamedTuple):
    """A mode of PyTorch, and how it is told.

    Attributes:
        name: what it is called.
        ask: what it is now.
    """

    name: str
    ask: Callable[[], Hashable]


def _default_device() -> Hashable:
    # PyTorch holds another default device in a mode of this stack, and looks for it slowly
    if not torch._C._len_torch_function_stack():
        return None
    has_one = any(isinstance(mode, DeviceContext) for mode in _function_mode_stack())
    return torch.get_default_device() if has_one else None


def _function_modes() -> Hashable:
    if not torch._C._len_torch_function_stack():
        return "none"
    others = [
        type(mode).__qualname__
        for mode in _function_mode_stack()
        if not type(mode).__module__.startswith(("torch.", "torch2mlir."))
    ]
    return ", ".join(others) or "none"


def _function_mode_stack() -> list[Any]:
    return _get_current_function_mode_stack() if torch._C._len_torch_function_stack() else []


def _autocast() -> Hashable:
    return torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu")


AUTOCAST = Mode("autocast", _autocast)
_DEFAULTS = (
    Mode("the default dtype", torch.get_default_dtype),
    Mode("the default device", _default_device),
    Mode("the TorchFunctionMode", _function_modes),
)
GRAD_MODE = "is_grad_enabled"
_ASKED = {
    GRAD_MODE: Mode("grad mode", torch.is_grad_enabled),
    "is_inference_mode_enabled": Mode("inference mode", torch.is_inference_mode_enabled),
    "are_deterministic_algorithms_enabled": Mode(
        "the use of deterministic algorithms", torch.are_deterministic_algorithms_enabled
    ),
    "get_num_threads": Mode("the number of threads", torch.get_num_threads),
    "get_float32_matmul_precision": Mode(
        "the precision of products", torch.get_float32_matmul_precision
    ),
}
"""The function by which code asks for it -> a mode that no op by itself asks for."""


class Modes:
    """The modes of PyTorch that decide which ops a model's Python code calls, as they were at some time.

    Args:
        names: that the code has for things, of which some are for functions that ask; None if there is no code.
    """

    def __init__(self, names: Collection[str] | None) -> None:
        defaults = () if names is None else _DEFAULTS
        asked = [mode for name, mode in _ASKED.items() if name in (names or ())]
        self._modes = (AUTOCAST, *defaults, *asked)
        self._then = self._now()

    def _now(self) -> list[Hashable]:
        return [mode.ask() for mode in self._modes]

    def are_current(self) -> bool:
        """Whether a call would find the same."""
        return self._now() == self._then

    def changed(self) -> Iterator[tuple[Mode, Hashable, Hashable]]:
        """Those that are others, with what they were and what they are."""
        for mode, then, now in zip(self._modes, self._then, self._now(), strict=True):
            if now != then:
                yield mode, then, now
