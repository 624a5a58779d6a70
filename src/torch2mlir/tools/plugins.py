"""``--load my_passes.py``: passes, dialects and lowerings of the user's own.

Every :class:`~xdsl.passes.ModulePass` with a ``name`` that the file defines becomes a pass of that name, every
:class:`~xdsl.ir.Dialect` in it is known to the parser; lowerings and decompositions register themselves.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType

from xdsl.ir import Dialect
from xdsl.passes import ModulePass

from torch2mlir.tools.source import import_source

SUFFIX = "a Python file or module with passes, dialects or lowerings"


@dataclass
class Plugins:
    """What the loaded files bring."""

    passes: dict[str, Callable[[], type[ModulePass]]] = field(default_factory=dict)
    dialects: dict[str, Callable[[], Dialect]] = field(default_factory=dict)

    def load(self, where: str) -> None:
        """Adds what ``where``, ``my_passes.py`` or ``package.module``, defines.

        Raises:
            InputError: there is no such file or module, or it fails.
        """
        module = import_source(where, hint=f"name {SUFFIX}")
        for found in _passes_in(module):
            self.passes[found.name] = lambda found=found: found  # type: ignore[misc]
        for value in vars(module).values():
            if isinstance(value, Dialect):
                self.dialects[value.name] = lambda value=value: value  # type: ignore[misc]


def _passes_in(module: ModuleType) -> list[type[ModulePass]]:
    return [
        value
        for value in vars(module).values()
        if inspect.isclass(value)
        and issubclass(value, ModulePass)
        and value.__module__ == module.__name__
        and isinstance(getattr(value, "name", None), str)
    ]
