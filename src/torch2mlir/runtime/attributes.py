"""A compiled function goes on with what was so when its model was captured: who changes that is told.

What the model's Python code reads is one such thing; hooks, another ``forward`` and PyTorch's modes are others.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection
from typing import Any

import torch

from torch2mlir.callers import frames_of_ours
from torch2mlir.frontends.module_state import AUTOCAST, Hooks, Mode, Modes
from torch2mlir.frontends.python_state import Watch, changes_of
from torch2mlir.frontends.python_tables import Elements, OfEnvironment, OfModule, Table
from torch2mlir.frontends.reached_objects import Reached, functions_of, nested
from torch2mlir.program import Program

_LISTING = {"buffers", "named_buffers", "named_parameters", "parameters", "state_dict"}
"""By which code gets tensors of which it has no names."""
_SHOWN = bool | int | float | str | None | tuple


class ObjectNotice:
    """Looks at each call whether what a model's code reads is what it was at capture, and warns of it once.

    These are attributes of modules and of other objects that the code of a class among them has a name for, what is in
    lists and dictionaries there, variables and global variables of functions, ``training``, other modules and a
    ``forward`` of a single one. Tensors that are parameters or buffers are followed, see ``model_state``.

    Args:
        reached: from a module or a function.
        program: has just been captured from that.
    """

    def __init__(self, reached: Reached, program: Program) -> None:
        tables = list(reached.tables)
        if program.reads_elements:
            states = program.signature.written_state
            written = {state.tensor.untyped_storage()._cdata for state in states}
            tables += [
                Elements(path, tensor)
                for path, tensor in zip(reached.paths, reached.tensors, strict=True)
                if tensor.untyped_storage()._cdata not in written
            ]
        kinds = {type(table.owner) for table in tables} | {
            table.owner for table in tables if isinstance(table.owner, type)
        }
        names = {kind: _names(kind) for kind in kinds}
        asked = kinds if "training" in reached.names else ()  # by a function, perhaps
        self._asks_for_training = {k for k, known in names.items() if "training" in known}.union(
            asked
        )
        self._names = frozenset({"forward"}).union(reached.names, *names.values()) - {"training"}
        self._watch: Watch | None = Watch([table for table in tables if self._may_matter(table)])

    def _may_matter(self, table: Table) -> bool:
        if isinstance(table, OfModule):
            is_listed = not self._names.isdisjoint(_LISTING)
            return (table.kind == "_modules" and bool(table.saved)) or is_listed
        if isinstance(table, OfEnvironment):  # of which a variable may be set that was not
            return True
        # what nobody reads may be followed by an attribute that takes the place of the class's
        return table.versioned is not None or any(self._is_read(table, key) for key in table.saved)

    def _is_read(self, table: Table, key: Any) -> bool:
        """Whether the code of a model reads a value."""
        name = table.name_of(key)
        if isinstance(table, OfModule) and table.kind != "_modules":
            return key not in table.saved  # another tensor under a name is followed
        if isinstance(table, OfModule) or table.owner is None or name.startswith("__"):
            return True
        if name == "training" and isinstance(table.owner, torch.nn.Module):
            return type(table.owner) in self._asks_for_training
        return name in self._names

    def check(self) -> None:
        """Warns where the model's own call may be another computation."""
        if self._watch is None or not (tables := self._watch.changed()):
            return
        changes = changes_of(tables)
        changed = next((each for each in changes if self._is_read(each.table, each.key)), None)
        if changed is None:
            return
        self._watch = None
        now, then = changed.now, changed.then
        are_shown = isinstance(now, _SHOWN) and isinstance(then, _SHOWN)
        was = f"is {now!r} and was {then!r}" if are_shown else "is another than"
        if isinstance(changed.table, Elements):
            was = "has been written, of which the code reads numbers that are as they were"
        warnings.warn(
            f"the model's '{changed.table.path_of(changed.key)}' {was} when it was compiled, and the compiled function "
            "goes on with that: compile the model again, or set it back",
            stacklevel=frames_of_ours() + 1,
        )


class HookNotice:
    """Looks at each call whether a model has the hooks that it had at capture, and warns of it once.

    Args:
        model: that a program has just been captured from.
    """

    def __init__(self, model: torch.nn.Module) -> None:
        self._hooks: Hooks | None = Hooks(model)

    def check(self) -> None:
        """Warns where the model's own call may be another computation."""
        if self._hooks is None or (changed := self._hooks.changed()) is None:
            return
        self._hooks = None
        where = f"the model's '{changed}'" if changed else "the model"
        warnings.warn(
            f"{where} has other hooks than when it was compiled, and the compiled function goes on without: "
            "compile the model again",
            stacklevel=frames_of_ours() + 1,
        )


class ModeNotice:
    """Looks at each call whether PyTorch's modes are what they were at capture, and warns of each once.

    Args:
        names: that the code of the model has for things, from which a program has just been captured; None of no code.
    """

    def __init__(self, names: Collection[str] | None) -> None:
        self._modes = Modes(names)
        self._told = set[Mode]()

    def check(self) -> None:
        """Warns where the model's own call may be another computation."""
        if self._modes.are_current():
            return
        for mode, then, now in self._modes.changed():
            if mode in self._told:
                continue
            self._told.add(mode)
            warnings.warn(
                f"{mode.name} is {_shown(now, mode)} and was {_shown(then, mode)} when the function was compiled, and "
                f"it goes on so: compile it under the {mode.name.removeprefix('the ')} it is called in",
                stacklevel=frames_of_ours() + 1,
            )


def _shown(state: Any, mode: Mode) -> str:
    if isinstance(state, bool):
        return "on" if state else "off"
    return f"on ({state})" if mode is AUTOCAST else str(state)


def _names(kind: type) -> frozenset[str]:
    """The attributes that the code of a class has names for, once an object of it is made."""
    classes = (each for each in kind.__mro__ if each is not torch.nn.Module and each is not object)
    codes = (function.__code__ for each in classes for function in functions_of(each))
    return frozenset(name for code in codes for each in nested(code) for name in each.co_names)
