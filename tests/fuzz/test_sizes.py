"""A fixed share of ``python -m tests.fuzz.sizes``; ``--full`` takes many more."""

from __future__ import annotations

import pytest

from tests.fuzz.sizes import ENTRANCES, Tally, findings, program_of

FIRST_SEED = 40_000
PROGRAMS = 4
FULL = 96
"""How many times as many with ``--full``."""


@pytest.mark.share(4)
@pytest.mark.parametrize("name", ENTRANCES)
def test_agrees_with_eager(name: str, request: pytest.FixtureRequest) -> None:
    count = PROGRAMS * (FULL if request.config.getoption("--full") else 1)
    tally, found = Tally(), list[str]()
    target = {"output_type": "linalg-on-tensors", "engine": "reference"}
    for seed in range(FIRST_SEED, FIRST_SEED + count):
        program = program_of(seed)
        said = findings(program, name, target, tally)
        found += [f"{each}\n{program.report()}" for each in said]
    assert not found, found[0]
    assert tally.calls[name, "right"] >= 2 * count, tally.calls
