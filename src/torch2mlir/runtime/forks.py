"""Forked processes: the threads of an engine's library stayed behind, and who waits for one waits for ever."""

from __future__ import annotations

import os
from collections.abc import Callable

from torch2mlir.errors import EngineError

_HINT = (
    "start processes with multiprocessing.get_context('spawn') or 'forkserver' (a DataLoader has "
    "multiprocessing_context), or fork before anything is compiled or loaded"
)


class _Forks:
    """How many forks lie between the first process and this one."""

    count = 0


def _count_one() -> None:
    _Forks.count += 1


class ThreadsOf:
    """The threads of an engine's library, as long as the process is the one that started them.

    Args:
        engine: what it is called.
    """

    def __init__(self, engine: str) -> None:
        self._engine = engine
        self._forks = _Forks.count

    def check(self, doing: str) -> None:
        """Looks whether they are there.

        Args:
            doing: what would wait for them.

        Raises:
            EngineError: this process was forked since.
        """
        if self._forks != _Forks.count:
            raise EngineError(
                f"{self._engine} {doing} in a process that was forked after it had started: its threads are not there",
                hint=_HINT,
            )


def in_forked_process(begin_anew: Callable[[], None]) -> None:
    """Has a function called first thing in every process that is forked from this one."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=begin_anew)


in_forked_process(_count_one)
