"""A fixed share of ``python -m tests.fuzz.models``; ``--full`` takes many more."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.fuzz.models import ENTRANCES, finding, model_of

FIRST_SEED = 20_000
MODELS = 3
FULL = 86
"""How many times as many with ``--full``."""


@pytest.mark.share(4)
@pytest.mark.parametrize("name", ENTRANCES)
def test_agrees_with_eager(name: str, request: pytest.FixtureRequest) -> None:
    count = MODELS * (FULL if request.config.getoption("--full") else 1)
    tally, found = Counter[tuple[str, str]](), list[str]()
    for seed in range(FIRST_SEED, FIRST_SEED + count):
        model = model_of(seed)
        if said := finding(model, name, tally):
            found.append(f"{said}\n{model.report()}")
    assert not found, found[0]
    assert tally[name, "right"] >= count, tally
