"""A fixed share of the random programs of ``python -m tests.fuzz``; ``--full`` takes many more.

A program that eager or PyTorch's capture refuses says nothing, and one that a dialect refuses with an error of ours is right to.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest

from tests.fuzz import between, families  # noqa: F401 - registers the lines
from tests.fuzz.generate import generate
from tests.fuzz.trial import CONFIGURATIONS
from tests.fuzz.worker import Worker

PROGRAMS = 2
"""Programs without ``--full``."""
BETWEEN = 8
"""Programs on which the dialects are compared with each other, without ``--full``."""
FULL = 64
"""How many times as many with it; ``make fuzz`` takes others every day, an hour long."""
REFUSED = 0.5
"""The generator makes few programs that nobody takes: a larger share of refusals is a finding."""
MAY_REFUSE = {"onnx-openvino"}
"""Is not asked for half floats, f64, most integers and sorts: it computes them otherwise. A third is left."""
ON_EACH = ("linalg-reference", "tosa-iree", "stablehlo-xla")
"""One configuration of each dialect; Linalg on the engine that defines what is right."""


def test_agrees_with_eager(request: pytest.FixtureRequest) -> None:
    full = request.config.getoption("--full")
    worker, count, found = Worker(), PROGRAMS * (FULL if full else 1), list[str]()
    right = Counter[str]()
    try:
        for start in range(0, count, 16):
            programs = [generate(seed) for seed in range(start, min(start + 16, count))]
            for number, name, outcome in worker.ask(programs, list(CONFIGURATIONS)):
                right[name] += outcome.kind == "right"
                if outcome.is_finding:
                    said = f"{name}: {outcome.kind}: {outcome.message}"
                    found.append(f"{said}\n{programs[number].report()}")
    finally:
        worker.stop()
    assert not found, f"{len(found)} of {count}\n" + "\n".join(found[:5])
    asked = CONFIGURATIONS.keys() - MAY_REFUSE
    assert all(right[name] >= REFUSED * count for name in asked), right


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_dialects_agree_with_each_other(dynamic: bool, request: pytest.FixtureRequest) -> None:
    full = request.config.getoption("--full")
    count = BETWEEN * (FULL if full else 1) // 2
    compared = Counter[tuple[str, str]]()
    for start in range(0, count, between.DRAWN):
        first = between.FIRST_SEED + start
        many = min(between.DRAWN, count - start)
        tally = between.compare_seeds(first, many, ON_EACH, dynamic)
        assert not tally.found, tally.found[0]
        compared += tally.compared
    assert all(compared[pair] >= REFUSED * count for pair in combinations(ON_EACH, 2)), compared
