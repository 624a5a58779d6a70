"""Where a case runs: every way from PyTorch to numbers that the product offers."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from tests.e2e.registry import Case


@dataclass(frozen=True)
class Configuration:
    """A dialect and the engine that runs it.

    Attributes:
        output_type: the dialect.
        engine: the engine.
        share: one case in so many runs here without ``--full``.
    """

    output_type: str
    engine: str
    share: int = 1

    @property
    def name(self) -> str:
        """As in the names of tests and in ``xfails.py``."""
        return f"{self.output_type.removesuffix('-on-tensors')}-{self.engine}"


CONFIGURATIONS = (
    Configuration("stablehlo", "xla"),
    Configuration("linalg-on-tensors", "reference"),
    # the reference engine runs every case of this dialect; --full runs every case on every engine
    Configuration("linalg-on-tensors", "iree", share=8),
    Configuration("tosa", "iree", share=3),
    Configuration("onnx", "onnxruntime", share=3),
)

IN_ONE_MODE = {"iree", "onnxruntime", "reference"}
"""Engines that run a case either statically or dynamically; ``--full`` runs both."""


def modes_on(configuration: Configuration, name: str, full: bool) -> list[str]:
    """The modes of a dynamic program on a configuration.

    Without ``full`` all engines but one get one of the two, fixed by the program's name: half of the programs are
    static, half dynamic.
    """
    modes = ["static", "dynamic"]
    if configuration.engine in IN_ONE_MODE and not full:
        return [modes[zlib.crc32(name.encode()) % len(modes)]]
    return modes


def runs(case: Case, full: bool) -> Iterator[tuple[Configuration, str]]:
    """The configurations and modes of a case."""
    for configuration in CONFIGURATIONS:
        if not full and zlib.crc32(case.name.encode()) // 2 % configuration.share:
            continue
        for mode in modes_on(configuration, case.name, full) if case.dynamic else ["static"]:
            yield configuration, mode
