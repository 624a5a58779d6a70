"""Programs checked in a process of their own, which may die or hang of them."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from tests.fuzz.check import check
from tests.fuzz.program import Program
from tests.fuzz.trial import Outcome

Answers = list[tuple[int, str, Outcome]]
PATIENCE, EACH = 60.0, 8.0
"""Seconds that an answer may take, and those that it may take more for every program and configuration."""


def _serve(connection: Connection, threads: int) -> None:
    os.environ["OMP_NUM_THREADS"] = str(threads)
    import warnings

    from tests.threads import use_threads

    warnings.simplefilter("ignore")
    use_threads(threads)
    with suppress(EOFError):  # whoever asked is gone
        while True:
            programs, names = connection.recv()
            connection.send(list(check(programs, names)))


class Worker:
    """A process that checks programs, started again when it has died.

    Args:
        threads: of the engines.
    """

    def __init__(self, threads: int = 1) -> None:
        self._threads = threads
        self._context = multiprocessing.get_context("spawn")
        self._process: Any = None

    def _start(self) -> None:
        self._connection, theirs = self._context.Pipe()
        self._process = self._context.Process(
            target=_serve, args=(theirs, self._threads), daemon=True
        )
        self._process.start()
        theirs.close()

    def ask(self, programs: Sequence[Program], names: Sequence[str]) -> Answers:
        """The outcomes; if the process dies or hangs of several programs, they are tried in halves."""
        if self._process is None:
            self._start()
        patience = PATIENCE + EACH * len(programs) * len(names)
        self._connection.send((list(programs), list(names)))
        try:
            if self._connection.poll(patience):
                answers: Answers = self._connection.recv()
                return answers
            ended = Outcome("hang", f"no answer in {patience:.0f} s")
        except (EOFError, ConnectionResetError):
            self._process.join()
            ended = Outcome("crash", f"the process ended with {self._process.exitcode}")
        self.stop()
        if len(names) > 1:
            return [answer for name in names for answer in self.ask(programs, [name])]
        if len(programs) == 1:
            return [(0, names[0], ended)]
        middle = len(programs) // 2
        first = self.ask(programs[:middle], names)
        second = self.ask(programs[middle:], names)
        return first + [(number + middle, name, outcome) for number, name, outcome in second]

    def stop(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None
