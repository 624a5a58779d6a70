"""The checked-in results: a line per entry, its outcome on each dialect, and the reason of every failure."""

from __future__ import annotations

from pathlib import Path

from tests.opdb.outcome import ENGINES, OK, SKIPPED, Outcome
from tests.opdb.pool import Results
from tests.opdb.programs import Entry

PATH = Path(__file__).with_name("results.tsv")
TARGETS = tuple(ENGINES)


def read() -> Results:
    """The results as checked in."""
    results: Results = {}
    for line in PATH.read_text().splitlines()[1:]:
        operator, dtype, *cells = line.split("\t")
        found = {}
        for target, cell in zip(TARGETS, cells, strict=True):
            kind, _, reason = cell.partition(": ")
            found[target] = Outcome(kind, reason)
        results[Entry(operator, dtype)] = found
    return results


def write(results: Results) -> None:
    """Replaces the checked-in results."""
    lines = ["\t".join(("operator", "dtype", *TARGETS))]
    for entry, found in results.items():
        cells = [_cell(found[target]) for target in TARGETS]
        lines.append("\t".join((entry.operator, entry.dtype, *cells)))
    PATH.write_text("\n".join(lines) + "\n")


def _cell(outcome: Outcome) -> str:
    reason = outcome.reason.replace("\t", " ")
    return f"{outcome.kind}: {reason}" if reason else outcome.kind


def totals(results: Results, targets: tuple[str, ...] = TARGETS) -> dict[str, tuple[int, int]]:
    """Target -> entries that agree, and all that eager PyTorch can run."""
    counts = {}
    for target in targets:
        kinds = [found[target].kind for found in results.values()]
        counts[target] = (kinds.count(OK), len(kinds) - kinds.count(SKIPPED))
    return counts
