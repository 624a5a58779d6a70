"""Every zoo model on every configuration, static and dynamic, against eager PyTorch."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import pytest
import torch

import torch2mlir
from tests.e2e.agreement import assert_agrees
from tests.e2e.configurations import CONFIGURATIONS, Configuration, modes_on
from tests.models.resized import other_inputs
from zoo import MODELS, ZooModel

ON_TOSA = ("bert-base", "gpt2", "resnet50", "vit-base")
"""Models that run on TOSA without ``--full``; it takes IREE longest."""
ON_STABLEHLO_ON_IREE = ("bert-base", "llama", "resnet50")
"""Models that run through StableHLO on IREE without ``--full``: nobody gets that by default."""
SLOW_ON_IREE = ("convnext-tiny", "distilbert", "mobilenet-v2", "swin-tiny", "t5-small")
"""Models that run through Linalg on IREE with ``--full`` alone: what they are made of others have, too."""
LOOSE = 50.0
"""Factor on the tolerances of single ops: the models are tens of layers deep."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    full = metafunc.config.getoption("--full")
    parameters = [
        pytest.param(name, configuration, mode, id=f"{name}-{configuration.name}-{mode}")
        for name in MODELS
        for configuration in CONFIGURATIONS
        for mode in modes_on(configuration, name, full)
        if full or _is_of_the_share(name, configuration)
    ]
    metafunc.parametrize("name, configuration, mode", parameters)


def _is_of_the_share(name: str, configuration: Configuration) -> bool:
    if configuration.output_type == "tosa":
        return name in ON_TOSA
    if (configuration.output_type, configuration.engine) == ("stablehlo", "iree"):
        return name in ON_STABLEHLO_ON_IREE
    return configuration.engine != "iree" or name not in SLOW_ON_IREE


@lru_cache(maxsize=2)
def _exported(name: str, mode: str) -> tuple[ZooModel, torch.export.ExportedProgram]:
    entry = MODELS[name](size="small")
    return entry, entry.export(dynamic=mode == "dynamic")


@pytest.mark.share(48)
def test_agrees_with_eager(name: str, configuration: Configuration, mode: str) -> None:
    entry, program = _exported(name, mode)
    compiled = torch2mlir.compile(
        program, output_type=configuration.output_type, engine=configuration.engine
    )
    calls: list[tuple[Any, Any]] = [(entry.args, entry.kwargs)]
    if mode == "dynamic":
        calls.append(other_inputs(entry))
    for args, kwargs in calls:
        with torch.no_grad():
            expected = entry.model(*args, **kwargs)
        assert_agrees(compiled(*args, **kwargs), expected, LOOSE)
