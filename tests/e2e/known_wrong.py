"""Wrong answers that are known and not yet avoided. Each is a defect: this list is to become empty.

Nothing else in the tests may expect a wrong answer (``xfails.py`` takes errors of ours only). An entry is strict: a case that
is right again fails the run until its entry is gone, and every run prints how many there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.e2e.xfails import matches


@dataclass(frozen=True)
class KnownWrong:
    """Who is wrong about what.

    Attributes:
        reason: one sentence.
        configurations: patterns of ``dialect-engine-mode``, ``lazy``, ``script`` and ``trace``, separated by spaces.
        cases: patterns of case names, separated by spaces.
    """

    reason: str
    configurations: str
    cases: str

    def holds(self, case: str, configuration: str) -> bool:
        """Whether a case is wrong there."""
        return matches(configuration, self.configurations) and matches(case, self.cases)


KNOWN_WRONG: tuple[KnownWrong, ...] = (
    KnownWrong(
        "a traced program keeps the places to split at of its example",
        "trace",
        "sized_tensor_split",
    ),
    KnownWrong(
        "PyTorch itself has no derivative of std on the lazy device, and says so in a warning only",
        "lazy",
        "moments_backward",
    ),
)


def marks(case: str, configuration: str) -> Iterator[pytest.MarkDecorator]:
    """The mark of a case that is known to be wrong."""
    for entry in KNOWN_WRONG:
        if entry.holds(case, configuration):
            yield pytest.mark.known_wrong
            yield pytest.mark.xfail(
                reason=f"KNOWN WRONG: {entry.reason}", raises=AssertionError, strict=True
            )
