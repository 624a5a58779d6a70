"""A fixed share of ``python -m tests.fuzz.gradients``; ``--full`` takes many more."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.fuzz.entrances import Target
from tests.fuzz.gradients import findings
from tests.fuzz.trial import CONFIGURATIONS

FIRST_SEED = 16_000_100
PROGRAMS = 12
FULL = 24
"""How many times as many with ``--full``."""


@pytest.mark.share(2)
@pytest.mark.parametrize("on", ["stablehlo-xla", "onnx-onnxruntime"])
def test_agrees_with_eager(on: str, request: pytest.FixtureRequest) -> None:
    count = PROGRAMS * (FULL if request.config.getoption("--full") else 1)
    tally, target = Counter[str](), Target(*CONFIGURATIONS[on])
    found = list(findings(FIRST_SEED, count, target, tally))
    assert not found, found[0]
    # integers want no gradients, those of half floats are not compared
    assert tally["right"] >= count // 6, tally
