"""A fixed share of ``python -m tests.fuzz.entrances --families constants``; ``--full`` takes many more."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.fuzz.entrances import Target, findings

FIRST_SEED = 31000000
PROGRAMS = 3
FULL = 128
"""How many times as many with ``--full``."""


@pytest.mark.parametrize("name", ["compile", "optimize"])
def test_agrees_with_eager(name: str, request: pytest.FixtureRequest) -> None:
    count = PROGRAMS * (FULL if request.config.getoption("--full") else 1)
    right = Counter[str]()
    target = Target("linalg-on-tensors", "reference")
    found = list(findings(FIRST_SEED, count, [name], right, target, families=["constants"]))
    assert not found, found[0]
    assert right[name] >= count // 2, right
