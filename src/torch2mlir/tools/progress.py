"""What a command tells people while it works: its stages and their times, on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from rich.console import Console


@dataclass
class Stage:
    """One stage of a command.

    Attributes:
        name: what is being done.
        detail: what came out of it, filled in by the command.
        seconds: wall time, known when the stage is over.
    """

    name: str
    detail: str = ""
    seconds: float = 0.0


@dataclass
class Progress:
    """Shows a spinner for the running stage and leaves one line for each finished one."""

    quiet: bool = False
    stages: list[Stage] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._console = Console(stderr=True, quiet=self.quiet, highlight=False)
        self._start = time.perf_counter()

    @contextmanager
    def stage(self, name: str) -> Iterator[Stage]:
        """Time the body under ``name``; a failing stage leaves no line, its error speaks."""
        stage = Stage(name)
        start = time.perf_counter()
        with self._console.status(f"{name} ..."):
            yield stage
        stage.seconds = time.perf_counter() - start
        self.stages.append(stage)
        self._say(stage)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self._say(Stage("total", seconds=time.perf_counter() - self._start))
        sys.stderr.flush()

    def _say(self, stage: Stage) -> None:
        line = f"{stage.name:<10} {stage.seconds:8.2f} s  {stage.detail}".rstrip()
        self._console.print(line, markup=False, soft_wrap=True)
