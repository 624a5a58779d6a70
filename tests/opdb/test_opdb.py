"""PyTorch's operator database against the checked-in table: an entry that changes its outcome, either way, fails.

``--full`` runs all entries; otherwise a share of them, fixed by their names, does.
"""

from __future__ import annotations

import zlib

import pytest

from tests.opdb import table
from tests.opdb.outcome import outcomes
from tests.opdb.programs import Entry, entries

SAMPLES = 2
SHARE = 112
"""One entry in so many runs without ``--full``."""
_NEVER_IN_PROCESS = {"crash", "timeout"}

EXPECTED = table.read()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "entry" not in metafunc.fixturenames:
        return
    full = metafunc.config.getoption("--full")
    chosen = [
        entry
        for entry, found in EXPECTED.items()
        if (full or zlib.crc32(str(entry).encode()) % SHARE == 0)
        and not any(outcome.kind in _NEVER_IN_PROCESS for outcome in found.values())
    ]
    metafunc.parametrize("entry", chosen, ids=str)


@pytest.mark.share(4)
def test_the_outcome_is_the_one_on_record(entry: Entry) -> None:
    found = outcomes(entry, table.TARGETS, SAMPLES)
    changed = [
        f"{target}: {outcome.kind} ({outcome.reason}), on record {EXPECTED[entry][target].kind}"
        for target, outcome in found.items()
        if outcome.kind != EXPECTED[entry][target].kind
    ]
    assert not changed, "; ".join(changed)


def test_every_entry_is_on_record_and_no_other() -> None:
    assert set(EXPECTED) == set(entries())


def test_every_failure_has_a_reason() -> None:
    unexplained = [
        f"{entry} on {target}"
        for entry, found in EXPECTED.items()
        for target, outcome in found.items()
        if outcome.kind not in (table.OK, table.SKIPPED) and not outcome.reason
    ]
    assert not unexplained
