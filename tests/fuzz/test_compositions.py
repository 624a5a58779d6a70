"""Random programs on the three dialects against eager PyTorch; ``--full`` draws many more."""

from __future__ import annotations

import warnings

import pytest
import torch
from hypothesis import HealthCheck, Phase, given, note, settings

import torch2mlir
from tests.e2e.agreement import assert_agrees
from tests.fuzz.compositions import Composition, compositions

EXAMPLES = {"stablehlo": 40, "linalg-on-tensors": 60, "tosa": 20}
"""Programs per dialect without ``--full``."""
FULL = 15
"""How many times as many with it."""
ENGINES = {"stablehlo": "xla", "linalg-on-tensors": "reference", "tosa": "iree"}
LOOSE = 8.0
"""Errors add up over the steps of a program."""


@pytest.mark.parametrize("output_type", ENGINES)
def test_agrees_with_eager(output_type: str, request: pytest.FixtureRequest) -> None:
    full = request.config.getoption("--full")

    @settings(
        max_examples=EXAMPLES[output_type] * (FULL if full else 1),
        derandomize=not full,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(compositions())
    def agrees(drawn: tuple[Composition, tuple[torch.Tensor, ...]]) -> None:
        program, inputs = drawn
        note(f"{program} of {[(x.dtype, tuple(x.shape)) for x in inputs]}")
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            expected = program(*inputs)
            exported = torch.export.export(program, inputs)
            compiled = torch2mlir.compile(
                exported, output_type=output_type, engine=ENGINES[output_type]
            )
            assert_agrees(compiled(*inputs), expected, LOOSE)

    agrees()
