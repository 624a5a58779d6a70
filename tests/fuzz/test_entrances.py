"""A fixed share of ``python -m tests.fuzz.entrances``; ``--full`` takes many more."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.fuzz.entrances import ENTRANCES, findings

FIRST_SEED = 3140
PROGRAMS = 8
FULL = 32
"""How many times as many with ``--full``."""


@pytest.mark.parametrize("name", ENTRANCES)
def test_agrees_with_eager(name: str, request: pytest.FixtureRequest) -> None:
    count = PROGRAMS * (FULL if request.config.getoption("--full") else 1)
    right = Counter[str]()
    found = list(findings(FIRST_SEED, count, [name], right))
    assert not found, found[0]
    # half of them cannot be entered as they are: sizes that vary, lambdas, tensors of the CPU
    assert right[name] >= count // 4, right
