"""What cannot work, and why: one entry per reason, with the configurations and the cases it holds for.

An entry is strict: a case that passes although it is listed fails the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from torch2mlir.errors import EngineError, Torch2MLIRError, UnsupportedOpError

Raises = type[Exception] | tuple[type[Exception], ...]


@dataclass(frozen=True)
class ExpectedFailure:
    """A reason, and where it holds.

    Attributes:
        reason: one sentence.
        raises: what the failure looks like; another exception is a failure of the test.
        configurations: patterns of ``dialect-engine-mode``.
        cases: patterns of case names.
    """

    reason: str
    raises: Raises
    configurations: tuple[str, ...]
    cases: tuple[str, ...]

    def holds(self, case: str, configuration: str) -> bool:
        """Whether a case is expected to fail there."""
        return any(fnmatchcase(configuration, p) for p in self.configurations) and any(
            fnmatchcase(case, p) for p in self.cases
        )


def _expect(reason: str, raises: Raises, configurations: str, cases: str) -> ExpectedFailure:
    return ExpectedFailure(reason, raises, tuple(configurations.split()), tuple(cases.split()))


XFAILS: list[ExpectedFailure] = []


def expected_failure(case: str, configuration: str) -> ExpectedFailure | None:
    """The entry for a case on a configuration, if there is one."""
    return next((x for x in XFAILS if x.holds(case, configuration)), None)


def idle_entries(runs: list[tuple[str, str]]) -> Iterator[str]:
    """Case patterns that match no run."""
    for entry in XFAILS:
        for pattern in entry.cases:
            if not any(
                fnmatchcase(case, pattern) and entry.holds(case, configuration)
                for case, configuration in runs
            ):
                yield pattern


__all__ = ["XFAILS", "EngineError", "Torch2MLIRError", "UnsupportedOpError", "expected_failure"]
