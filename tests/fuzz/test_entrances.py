"""A fixed share of ``python -m tests.fuzz.entrances``; ``--full`` takes many more."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.fuzz.entrances import ENTRANCES, MUST_VARY, Target, findings
from tests.fuzz.trial import CONFIGURATIONS

FIRST_SEED = 3140
PROGRAMS = 2
FULL = 129
"""How many times as many with ``--full``."""


ON = {
    "compile": "linalg-iree",
    "torch.compile": "stablehlo-xla",
    "optimize": "tosa-iree",
    "torchscript": "linalg-iree",
    "lazy": "stablehlo-xla",
    "artefact": "linalg-iree",
    "buckets": "stablehlo-xla",
}


@pytest.mark.share(4)
@pytest.mark.parametrize("name", ENTRANCES)
def test_agrees_with_eager(name: str, request: pytest.FixtureRequest) -> None:
    count = PROGRAMS * (FULL if request.config.getoption("--full") else 1)
    right = Counter[str]()
    target, dynamic = Target(*CONFIGURATIONS[ON[name]]), True if name in MUST_VARY else None
    # what compiles may not be refused once it is saved
    names = ["compile", name] if name == "artefact" else [name]
    found = list(findings(FIRST_SEED, count, names, right, target, dynamic=dynamic))
    assert not found, found[0]
    # half of them cannot be entered as they are: sizes that vary, lambdas, tensors of the CPU, padding that matters
    assert right[name] >= count // 4, right
