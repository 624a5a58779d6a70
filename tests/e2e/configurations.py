"""Where a case runs: every way from PyTorch to numbers that the product offers."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from tests.e2e.registry import Case


@dataclass(frozen=True)
class Configuration:
    """A dialect and the engine that runs it."""

    output_type: str
    engine: str

    @property
    def name(self) -> str:
        """As in the names of tests and in ``xfails.py``."""
        return f"{self.output_type.removesuffix('-on-tensors')}-{self.engine}"


CONFIGURATIONS = (
    Configuration("stablehlo", "xla"),
    Configuration("linalg-on-tensors", "reference"),
    Configuration("linalg-on-tensors", "iree"),
    Configuration("tosa", "iree"),
)

SLOW_ENGINES = {"iree"}
"""Engines whose compile costs 0.2 s and more; ``--full`` runs everything on them."""


def runs(case: Case, full: bool) -> Iterator[tuple[Configuration, str]]:
    """The configurations and modes of a case.

    Without ``full`` a slow engine gets one of the two modes, fixed by the case's name: half of the
    cases are static, half dynamic.
    """
    modes = ["static", "dynamic"] if case.dynamic else ["static"]
    for configuration in CONFIGURATIONS:
        if configuration.engine in SLOW_ENGINES and not full:
            yield configuration, modes[zlib.crc32(case.name.encode()) % len(modes)]
        else:
            for mode in modes:
                yield configuration, mode
