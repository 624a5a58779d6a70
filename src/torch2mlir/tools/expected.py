"""``--verify-diagnostics``: the diagnostics a file announces in its comments, as mlir-opt reads them.

``// expected-error @+1 {{text}}`` announces an error on the next line whose message contains the text; ``@-2``,
``@above``, ``@below`` and ``@unknown`` say other places, and ``expected-error-re`` has regular expressions in inner
``{{..}}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from torch2mlir.tools.diagnostics import Diagnostic, Place

_EXPECTED = re.compile(
    r"expected-(?P<severity>error|warning|remark|note)(?P<regex>-re)?\s*"
    r"(@(?P<place>[+-]\d+|above|below|unknown))?\s*\{\{(?P<text>.*)\}\}[^}]*$"
)
_INNER = re.compile(r"\{\{(.*?)\}\}")


@dataclass
class Expectation:
    """One announced diagnostic; ``line`` is None for one without a place."""

    severity: str
    line: int | None
    announced_at: int
    pattern: re.Pattern[str]
    text: str

    def matches(self, severity: str, line: int | None, message: str) -> bool:
        """Whether it announces this one."""
        return (
            self.severity == severity
            and self.line == line
            and self.pattern.search(message) is not None
        )


def expectations(text: str, first_line: int = 1) -> list[Expectation]:
    """What a text announces; its first line has the number ``first_line``."""
    found, lines = list[Expectation](), text.split("\n")
    bare = [re.sub(r"//.*", "", line).strip() for line in lines]
    for index, line in enumerate(lines):
        match = _EXPECTED.search(line)
        if match is None:
            continue
        pattern = (
            "".join(
                part if odd else re.escape(part)
                for part, odd in zip(_INNER.split(match["text"]), _alternately())
            )
            if match["regex"]
            else re.escape(match["text"])
        )
        target = _target(match["place"], index, bare)
        found.append(
            Expectation(
                match["severity"],
                None if target is None else target + first_line,
                index + first_line,
                re.compile(pattern),
                match["text"],
            )
        )
    return found


def _alternately() -> Iterable[bool]:
    while True:
        yield False
        yield True


def _target(place: str | None, index: int, bare: list[str]) -> int | None:
    """The index of the line that is meant; above and below skip lines that only comment."""
    if place == "unknown":
        return None
    if place == "above":
        return next((i for i in range(index - 1, -1, -1) if bare[i]), index)
    if place == "below":
        return next((i for i in range(index + 1, len(bare)) if bare[i]), index)
    return index + int(place or 0)


def unmet(
    expected: Iterable[Expectation], produced: Iterable[Diagnostic], file: str
) -> list[Diagnostic]:
    """What differs between announced and produced diagnostics: nothing if the file is right."""
    open_, wrong = list(expected), list[Diagnostic]()
    for diagnostic in produced:
        here = diagnostic.place.file == file and diagnostic.place.line > 0
        line = diagnostic.place.line if here else None
        announced = next(
            (e for e in open_ if e.matches(diagnostic.severity, line, diagnostic.message)), None
        )
        if announced is None:
            message = f"unexpected {diagnostic.severity}: {diagnostic.message}"
            wrong.append(Diagnostic(message, diagnostic.place))
        else:
            open_.remove(announced)
        for note in diagnostic.notes:  # they need not be announced, but may be
            match = next((e for e in open_ if e.matches("note", line, note)), None)
            if match is not None:
                open_.remove(match)
    wrong += [
        Diagnostic(
            f'expected {e.severity} "{e.text}" was not produced', Place(file, e.announced_at)
        )
        for e in open_
    ]
    return wrong
