"""Whether dictionaries have been written to, asked of all of them in one call of C++: for calls, which ask hundreds.

What is in the dictionaries is not read: it lies in cold memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

_guards = torch._C._dynamo.guards
_dict_version = getattr(_guards, "dict_version", None)
"""What Python counts writes to a dictionary with, as TorchDynamo's guards ask for it; not of every PyTorch."""
_SETTLED = 3
"""Looks in a row that find nothing, after which one guard is made of all versions."""


class DictionaryWrites:
    """Looks at dictionaries again and again.

    Args:
        tables: as they are now.
    """

    def __init__(self, tables: Sequence[dict[Any, Any]]) -> None:
        self._tables = list(tables)
        self._versions = self._now()
        self._looks = 0
        self._guard: Any = None

    def since(self) -> Sequence[int]:
        """The places of those that have been written to since the last look; of all where nobody counts that."""
        if self._guard is not None and self._guard.check(self._tables):
            return ()
        now, before = self._now(), self._versions
        if now is None or before is None:
            return range(len(self._tables))
        if now == before:
            self._looks += 1
            if self._looks == _SETTLED:
                self._guard = _guard(self._tables)
            return ()
        self._versions, self._looks, self._guard = now, 0, None
        return [place for place, version in enumerate(now) if version != before[place]]

    def _now(self) -> list[int] | None:
        return None if _dict_version is None else [*map(_dict_version, self._tables)]


def _guard(tables: Sequence[dict[Any, Any]]) -> Any:
    """What says of a list of these dictionaries whether all have their versions; None where PyTorch has no such."""
    try:
        from torch._dynamo.guards import GuardManagerType

        guard = _guards.RootGuardManager()
        for place, table in enumerate(tables):
            name = f"table {place}"
            each = guard.list_getitem_manager(place, name, table, GuardManagerType.GUARD_MANAGER)
            each.add_dict_version_guard(table, [name], None)
    except (AttributeError, ImportError, TypeError):
        return None
    return guard
