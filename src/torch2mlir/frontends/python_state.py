"""What a captured program assumes of Python: what the model's code could read when it ran.

A capture runs Python once. What that Python read is fixed in the graph, so a later call is right only if it would read
the same; and a model whose calls change what it reads cannot be captured that way at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any, NamedTuple

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.nn.parameter import is_lazy

from torch2mlir.frontends.dictionary_writes import DictionaryWrites
from torch2mlir.frontends.module_state import Hooks, InstalledHooks
from torch2mlir.frontends.python_tables import OfClass, OfModule, OfTensors, Table, members_of
from torch2mlir.frontends.reached_objects import Reached
from torch2mlir.same_values import is_same

_PRIMITIVES = bool | int | float | complex | str | bytes | None
_MISSING = object()


class Change(NamedTuple):
    """A value that is another than it was, or is one of both only.

    Attributes:
        table: what holds it.
        key: its name or place there.
        then, now: both, ``None`` where there was or is none.
    """

    table: Table
    key: Any
    then: Any
    now: Any


class PythonState:
    """What the code of a model can read besides elements of tensors, as it was at some time.

    Args:
        model: a module or a function.

    Attributes:
        reached: the objects.
    """

    def __init__(self, model: Callable[..., Any]) -> None:
        self.reached = Reached(model)
        dtypes = OfTensors("dtype", self.reached.kept)
        buffers = {
            path: tensor
            for path, tensor in self.reached.kept.items()
            if not isinstance(tensor, torch.nn.Parameter) and not is_lazy(tensor)
        }
        shapes = [OfTensors("shape", buffers)] if buffers else []
        self._watch = Watch([*self.reached.tables, dtypes, *shapes])
        self._hooks = Hooks(model) if isinstance(model, torch.nn.Module) else None
        held = (value for table in self.reached.tables for value in table.saved.values())
        self._generators = [(g, g.get_state()) for g in held if isinstance(g, torch.Generator)]
        self._installed = InstalledHooks(self.reached.modules)
        tensors = [*self.reached.tensors, *self.buffers()]
        self._versions = [(t, t._version) for t in tensors if not t.is_inference()]
        self._misses = [(cache, cache.cache_info().misses) for cache in self.reached.caches]

    def is_current(self) -> bool:
        """Whether a call would read the same."""
        if self._hooks is not None and self._hooks.changed() is not None:
            return False
        return not self._watch.changed()

    def changed(self, buffers: bool = False) -> list[str]:
        """The names of what is not equal to what it was, has come or has gone.

        Of ``buffers`` that were tensors only if they are asked for: a program writes to those.
        """
        hooks = ["hooks of modules"] if self._installed.changed() else []
        moved = [g for g, state in self._generators if not torch.equal(g.get_state(), state)]
        return [*map(name_of, self.changes(buffers)), *hooks, *["a torch.Generator" for _ in moved]]

    def changes(self, buffers: bool = False) -> list[Change]:
        """As :meth:`changed`, what it was and is."""
        changes = changes_of(self.reached.tables, same)
        kept = () if buffers else ("_buffers",)
        return [each for each in changes if not _is_tensor_in(kept, each)]

    def has_cached(self) -> bool:
        """Whether a function's cache has got something that it had not."""
        return any(cache.cache_info().misses != misses for cache, misses in self._misses)

    def written(self) -> list[torch.Tensor]:
        """The tensors that have been written to, but for parameters, and the buffers in the place of others."""
        known = {id(tensor) for tensor, _ in self._versions}
        others = [buffer for buffer in self.buffers() if id(buffer) not in known]
        return self.written_in_place() + others

    def written_in_place(self) -> list[torch.Tensor]:
        """The tensors that have been written to, but for parameters."""
        return [tensor for tensor, version in self._versions if tensor._version != version]

    def buffers(self) -> list[torch.Tensor]:
        """The buffers that modules have now, each once."""
        found = (b for m in self.reached.modules for b in m._buffers.values())
        made = (b for b in found if isinstance(b, torch.Tensor) and not is_lazy(b))
        return list({id(b): b for b in made}.values())

    def restore(self, keep: Sequence[str] = ()) -> None:
        """Puts back what has changed, but for tensors that modules hold in tables that are to ``keep`` theirs.

        Of a function's cache nothing is put back: one that has got more is emptied, for what a trace has left in it are
        tensors without elements. These are dropped from an installed library's dictionaries as well.
        """
        for cache, misses in self._misses:
            if cache.cache_info().misses != misses:
                cache.cache_clear()
        for live in self.reached.library_tables:
            fake = [key for key, value in list(live.items()) if _has_fake(value)]
            for key in fake:
                del live[key]
        self._installed.restore()
        for generator, state in self._generators:
            generator.set_state(state)
        for table in self.reached.tables:
            changes = list(changes_of([table]))
            kept = {each.key: each.now for each in changes if _is_tensor_in(keep, each)}
            if len(kept) < len(changes):
                table.write(table.saved | kept)


class Watch:
    """Looks at tables again and again, for calls: a dictionary that nobody has written to is not read.

    Args:
        tables: as they were when they were reached.
    """

    def __init__(self, tables: Sequence[Table]) -> None:
        by_dictionary = dict[int, tuple[dict[Any, Any], list[Table]]]()
        self._others = list[Table]()
        for table in tables:
            if (live := table.versioned) is None:
                self._others.append(table)
            else:
                by_dictionary.setdefault(id(live), (live, []))[1].append(table)
        self._tables = [of_one for _, of_one in by_dictionary.values()]
        self._writes = DictionaryWrites([live for live, _ in by_dictionary.values()])
        self._changed = list[Table]()

    def changed(self) -> list[Table]:
        """The tables that are not as they were."""
        written = [table for place in self._writes.since() for table in self._tables[place]]
        if not (written or self._changed or any(not each.is_untouched() for each in self._others)):
            return []
        known = {id(table): table for table in (*self._changed, *written, *self._others)}
        self._changed = [table for table in known.values() if not _is_current(table)]
        return self._changed


class Methods:
    """The methods of the user's classes that a model is made of, as they were at some time.

    Args:
        model: a module or a function.
    """

    def __init__(self, model: Callable[..., Any]) -> None:
        self._tables = [each for each in Reached(model).tables if isinstance(each, OfClass)]

    def are_current(self) -> bool:
        """Whether a call would run the same; attributes of classes that are no functions do not count."""
        changes = changes_of(self._tables)
        return not any(
            isinstance(value, FunctionType) for c in changes for value in (c.then, c.now)
        )


def _has_fake(value: Any) -> bool:
    return isinstance(value, FakeTensor) or (
        isinstance(value, tuple | list) and any(isinstance(each, FakeTensor) for each in value)
    )


def _is_current(table: Table) -> bool:
    return table.is_untouched() or next(changes_of([table]), None) is None


def is_one(now: Any, then: Any) -> bool:
    """Whether two values are one object, or equal numbers or texts: equal containers may part later."""
    return now is then or (isinstance(then, _PRIMITIVES | tuple) and same(now, then))


def changes_of(
    tables: Sequence[Table], is_same: Callable[[Any, Any], bool] = is_one
) -> Iterator[Change]:
    """What is not as it was."""
    for table in tables:
        then, now = table.saved, table.entries()
        for key, value in then.items():
            if (found := now.get(key, _MISSING)) is not value and not is_same(found, value):
                yield Change(table, key, value, None if found is _MISSING else found)
        for key in now.keys() - then.keys():
            yield Change(table, key, None, now[key])


def name_of(change: Change) -> str:
    """By which code reaches it, or where it is."""
    return change.table.name_of(change.key) or change.table.path_of(change.key)


def _is_tensor_in(kinds: Sequence[str], change: Change) -> bool:
    """Whether it is of a parameter or buffer that was a tensor."""
    table = change.table
    return isinstance(table, OfModule) and table.kind in kinds and change.then is not None


def same(now: Any, then: Any) -> bool:
    """Whether two values are one object, equal numbers or texts, or containers of such."""
    if now is then:
        return True
    if type(now) is not type(then):
        return False
    if isinstance(now, _PRIMITIVES | set):
        return is_same(now, then)
    if isinstance(now, list | tuple):
        one, other = members_of(now), members_of(then)
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(now, dict):
        get = dict.__getitem__
        is_alike = members_of(now) == members_of(then)  # a loop sees their order
        return is_alike and all(same(get(now, key), get(then, key)) for key in members_of(then))
    return False
