"""PyTorch's operator database against the checked-in table: an entry that changes its outcome, either way, fails.

``--full`` runs all entries; otherwise a share of them, fixed by their names, does.
"""

from __future__ import annotations

import zlib

import pytest

from tests.opdb import table
from tests.opdb.outcome import outcomes
from tests.opdb.programs import FURTHER, Entry, entries

SAMPLES = 2
SHARE = 112
"""One entry in so many runs without ``--full``."""
SHARE_OF_FURTHER = 400
_ROUNDED = "bicubic weights are half floats, rounded at other places: PyTorch's are as far off"
NOT_COMPARED = {
    **dict.fromkeys(("matrix_exp float16", "matrix_exp bfloat16"), "PyTorch's is NaN"),
    **dict.fromkeys(("grid_sampler_2d float16", "grid_sampler_2d bfloat16"), _ROUNDED),
}
"""Entries whose answers in eager mode are no measure, and why."""
_NEVER_IN_PROCESS = {"crash", "timeout"}

EXPECTED = table.read()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    full = metafunc.config.getoption("--full")
    if "further" in metafunc.fixturenames:
        further = [
            entry
            for entry in entries(FURTHER)
            if full or zlib.crc32(str(entry).encode()) % SHARE_OF_FURTHER == 0
        ]
        metafunc.parametrize("further", further, ids=str)
    if "entry" not in metafunc.fixturenames:
        return
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


def test_no_answer_in_another_dtype_is_wrong(further: Entry) -> None:
    """They are computed by the same decompositions: StableHLO stands for all dialects."""
    if str(further) in NOT_COMPARED:
        pytest.skip(NOT_COMPARED[str(further)])
    (found,) = outcomes(further, ["stablehlo"], SAMPLES).values()
    assert found.kind not in ("wrong", "bug"), found.reason


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
