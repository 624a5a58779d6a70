"""Runs the ``// RUN: torch2mlir-opt ... %s | filecheck %s`` lines of ``.mlir`` files.

The two tools run in this process, so that a file costs milliseconds; the lines are the ones lit
would run in a shell.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from filecheck.main import main as filecheck

from torch2mlir.tools.opt import main as opt

RUN = "// RUN:"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix == ".mlir":
        return MlirFile.from_parent(parent, path=file_path)
    return None


class MlirFile(pytest.File):
    """A file; each of its RUN lines is a test."""

    def collect(self) -> Iterator[pytest.Item]:
        lines = self.path.read_text().splitlines()
        commands = [text.removeprefix(RUN).strip() for text in lines if text.startswith(RUN)]
        if not commands:
            raise self.CollectError(f"{self.path} has no RUN line")
        for index, command in enumerate(commands):
            yield MlirTest.from_parent(self, name=f"run{index}", command=command)


class MlirTest(pytest.Item):
    """One RUN line."""

    def __init__(self, *, command: str, **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self.command = command

    def runtest(self) -> None:
        left, _, right = self.command.partition("|")
        tool, *arguments = shlex.split(left.replace("%s", str(self.path)))
        checker, *checks = shlex.split(right.replace("%s", str(self.path)))
        if (tool, checker) != ("torch2mlir-opt", "filecheck"):
            raise ValueError(f"cannot run '{self.command}'")
        printed = self._run(lambda: opt(arguments))
        self._run(lambda: filecheck([checker, *checks]), printed)

    def _run(self, tool: Callable[[], Any], given: str = "") -> str:
        out, err, stdin = StringIO(), StringIO(), sys.stdin
        sys.stdin = StringIO(given)
        try:
            with redirect_stdout(out), redirect_stderr(err):
                code = tool()
        except SystemExit as end:
            code = end.code
        finally:
            sys.stdin = stdin
        if code:
            raise MismatchError(f"{self.command}\n{err.getvalue()}{out.getvalue()}\n{given}")
        return out.getvalue()

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *_: object) -> str:
        """The tool's own message, without Python's traceback."""
        if isinstance(excinfo.value, MismatchError):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the test is, for pytest."""
        return self.path, 0, self.command


class MismatchError(Exception):
    """A tool failed, or its output is not what the file says."""
