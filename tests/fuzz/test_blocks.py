"""Products of the sizes that kernels compute in blocks, each program compiled alone; ``--full`` takes many more.

Other programs are compiled 32 at a time, and OpenVINO decides for all of them at once what it makes one kernel of.
"""

from __future__ import annotations

import pytest

from tests.fuzz import families  # noqa: F401 - registers the lines
from tests.fuzz.generate import generate
from tests.fuzz.program import BLOCKS
from tests.fuzz.trial import CONFIGURATIONS
from tests.fuzz.worker import Worker

PROGRAMS = {"onnx-openvino": 20, "onnx-onnxruntime": 3, "stablehlo-xla": 3}
"""Without ``--full``; one of others."""
FULL = 32
"""How many times as many with it."""
FIRST_SEED = 21
HALVES = "OpenVINO is not asked to run this: it computes half floats in 32 bits"


def test_agrees_with_eager(request: pytest.FixtureRequest) -> None:
    times = FULL if request.config.getoption("--full") else 1
    counts = {name: PROGRAMS.get(name, 1) * times for name in CONFIGURATIONS}
    worker, found, refused = Worker(), list[str](), list[str]()
    try:
        for number in range(max(counts.values())):
            program = generate(FIRST_SEED + number, ["blocks"], dynamic=False, sizes=BLOCKS)
            names = [name for name, count in counts.items() if number < count]
            for _, name, outcome in worker.ask([program], names):
                said = f"{name}: {outcome.kind}: {outcome.message}\n{program.report()}"
                if outcome.is_finding:
                    found.append(said)
                elif outcome.kind != "right" and HALVES not in outcome.message:
                    refused.append(said)
    finally:
        worker.stop()
    assert not found, f"{len(found)}\n" + "\n".join(found[:5])
    assert not refused, f"{len(refused)}\n" + "\n".join(refused[:5])
