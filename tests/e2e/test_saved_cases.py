"""Every case as a program that was saved and loaded again, against eager PyTorch."""

from __future__ import annotations

from pathlib import Path

import pytest

import torch2mlir
from tests.e2e.calls import Comparison
from tests.e2e.configurations import TARGETS, Configuration, modes_on
from tests.e2e.registry import Case, load_cases
from tests.e2e.xfails import expected_failure
from torch2mlir.errors import ArtefactError

CASES = load_cases()
CONFIGURATIONS = [Configuration(*target) for target in TARGETS if target[1] != "openvino"]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "configuration" not in metafunc.fixturenames:
        return
    full = metafunc.config.getoption("--full")
    metafunc.parametrize(
        "case, configuration, mode",
        [
            pytest.param(case, each, mode, id=f"{case.family}/{case.name}-{each.name}-{mode}")
            for case in CASES.values()
            for each in CONFIGURATIONS
            for mode in (modes_on(each, case.name, full) if case.dynamic else ["static"])
            if not expected_failure(case.name, f"{each.name}-{mode}")
        ],
    )


@pytest.mark.share(900)
def test_agrees_with_eager(
    case: Case, configuration: Configuration, mode: str, tmp_path: Path
) -> None:
    compiled = torch2mlir.compile(
        case.exported(dynamic=mode == "dynamic"),
        output_type=configuration.output_type,
        engine=configuration.engine,
    )
    calls = case.calls(mode == "dynamic")
    if compiled.engine.needs_static_shapes:
        for args, kwargs in calls:
            compiled.compile_like(*args, **kwargs)
    try:
        torch2mlir.save(compiled, tmp_path / "case")
    except ArtefactError as error:
        pytest.skip(str(error).partition("\n")[0])
    loaded = torch2mlir.load(tmp_path / "case")
    # a loaded function shows its state in its results only
    beside = Comparison(loaded, case.model(), {}, {}, case.loose, case.signed_zeros)
    beside.call(calls)
