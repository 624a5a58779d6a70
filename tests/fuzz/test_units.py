"""A unit of random programs gives what each of them gives, also where some of them are cut out of it."""

from __future__ import annotations

import pytest
import torch

from tests.fuzz import families  # noqa: F401 - registers the lines
from tests.fuzz.between import FAMILIES
from tests.fuzz.generate import generate
from tests.fuzz.trial import Trial
from tests.fuzz.units import CapturedUnit, export_unit, unit_arguments

CHECKED, OTHER = 2_000_081, 2_000_000
"""Seeds: a program with an assertion about elements, and one of the same key."""


@pytest.mark.parametrize("kept", [(0, 1), (0,), (1,)], ids=["both", "the checked one", "the other"])
def test_a_unit_is_compiled_for_one_configuration_after_the_other(kept: tuple[int, ...]) -> None:
    """What a program asserts is a result of one configuration's: another's calls all failed, so that each was compiled alone."""
    trials = [Trial(generate(seed, FAMILIES, False)) for seed in (CHECKED, OTHER)]
    group = list(enumerate(trials))
    unit = CapturedUnit(group, export_unit(group))
    members = [group[place] for place in kept]
    for name in ("linalg-reference", "stablehlo-xla", "linalg-reference"):
        for wanted in (group, members):
            compiled = unit.compiled(name, wanted)
            checks = compiled.function.program.signature.checks
            assert bool(checks) == (group[0] in wanted)
            for turn, call in enumerate(trials[0].calls):
                results = compiled.function(*unit_arguments(group, call))
                for number, trial in wanted:
                    expected = trial.calls[turn].results
                    for found, eager in zip(results[number], expected, strict=True):
                        torch.testing.assert_close(found, eager, equal_nan=True)
