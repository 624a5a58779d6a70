"""Where a case runs: every way from PyTorch to numbers that the product offers."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.e2e.registry import Case

TARGETS = [
    ("linalg-on-tensors", "iree"),
    ("stablehlo", "xla"),
    ("tosa", "iree"),
    ("onnx", "onnxruntime"),
    ("onnx", "openvino"),
]
"""Every dialect on the engines that take sizes as they come."""
ROUNDED_MEANS = {("layer_norm_of_equal_numbers", "openvino")}
"""Cases in which all deviations are the rounding of a mean, which PyTorch's kernel happens to have exactly.

Of numbers that differ, OpenVINO's layer norm is as near to the result in f64 as PyTorch's.
"""
_PACKAGES = {"xla": "jax", "iree": "iree.compiler"}


def require(engine: str) -> None:
    """Skips a test where an engine is not installed."""
    pytest.importorskip(_PACKAGES.get(engine, engine))


@dataclass(frozen=True)
class Configuration:
    """A dialect and the engine that runs it.

    Attributes:
        output_type: the dialect.
        engine: the engine.
        share: one case in so many runs here without ``--full``, in one of its two modes.
        turn: which of these it is; shares with other turns have no case in common.
        modes: of a program of unknown sizes, those that run.
    """

    output_type: str
    engine: str
    share: int = 1
    turn: int = 0
    modes: tuple[str, ...] = ("static", "dynamic")

    @property
    def name(self) -> str:
        """As in the names of tests and in ``xfails.py``."""
        return f"{self.output_type.removesuffix('-on-tensors')}-{self.engine}"


# What users get by default comes first, and what was wrong most often runs most. The reference engine is for finding out who
# is wrong when one of them is; seconds per case on an idle core: XLA 0.2, IREE 0.5 on Linalg and 0.8 on TOSA, reference 0.05.
CONFIGURATIONS = (
    Configuration("linalg-on-tensors", "iree", share=56),
    Configuration("stablehlo", "xla", share=48, turn=1),
    Configuration("tosa", "iree", share=144),
    # IREE refuses most of StableHLO's dynamic ops
    Configuration("stablehlo", "iree", share=240, turn=1, modes=("static",)),
    Configuration("onnx", "onnxruntime", share=128),
    Configuration("linalg-on-tensors", "reference", share=128),
)


def modes_on(configuration: Configuration, name: str, full: bool) -> list[str]:
    """The modes of a dynamic program on a configuration.

    Without ``full`` it is one of the two, fixed by the names: half of the programs are static, half dynamic, and a program
    that is static on one engine may be dynamic on the next.
    """
    modes = [*configuration.modes]
    if full:
        return modes
    return [modes[zlib.crc32(f"{name} {configuration.name}".encode()) % len(modes)]]


def runs(case: Case, full: bool) -> Iterator[tuple[Configuration, str]]:
    """The configurations and modes of a case."""
    for configuration in CONFIGURATIONS:
        if (
            not full
            and (zlib.crc32(case.name.encode()) // 2 + configuration.turn) % configuration.share
        ):
            continue
        for mode in modes_on(configuration, case.name, full) if case.dynamic else ["static"]:
            yield configuration, mode
