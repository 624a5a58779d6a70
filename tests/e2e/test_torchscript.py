"""Cases through TorchScript, scripted and traced, on XLA, against eager PyTorch."""

from __future__ import annotations

import fnmatch
import warnings
import zlib
from collections.abc import Iterator
from copy import deepcopy

import pytest
import torch
from torch.utils import _pytree as pytree

import torch2mlir
from tests.e2e.agreement import assert_agrees
from tests.e2e.registry import Case, load_cases
from tests.e2e.scriptable import scriptable
from tests.e2e.torchscript_xfails import XFAILS
from torch2mlir import torchscript

SHARES = {"script": 40, "trace": 30}
"""Way to TorchScript -> one case in so many runs without ``--full``."""

CASES = load_cases()


def takes_tensors(case: Case) -> bool:
    """Whether all arguments are tensors by position, which is what TorchScript programs are compiled for."""
    args, kwargs = case.arguments()
    return not kwargs and all(isinstance(argument, torch.Tensor) for argument in args)


def runs(full: bool) -> Iterator[tuple[Case, str]]:
    """The cases and the ways to TorchScript."""
    for case in CASES.values():
        for way, share in SHARES.items():
            if (full or zlib.crc32(case.name.encode()) // 3 % share == 0) and takes_tensors(case):
                yield case, way


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "way" not in metafunc.fixturenames:
        return
    parameters = []
    for case, way in runs(metafunc.config.getoption("--full")):
        failures = [failure for failure in XFAILS if failure.holds(case.name, way)]
        marks = [pytest.mark.xfail(reason=f.reason, raises=f.raises, strict=True) for f in failures]
        parameters.append(
            pytest.param(case, way, id=f"{case.family}/{case.name}-{way}", marks=marks)
        )
    metafunc.parametrize("case, way", parameters)


def test_agrees_with_eager(case: Case, way: str) -> None:
    args, _ = case.arguments()
    eager = case.model()
    with torch.no_grad():
        expected = eager(*deepcopy(args))
    try:
        model = scriptable(case) if way == "script" else case.model()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = torchscript.capture(model, list(deepcopy(args)), use_tracing=way == "trace")
    except OSError as error:
        pytest.skip(f"no source to script: {error}")
    except torch2mlir.CaptureError as error:
        if not error.message.startswith(f"PyTorch cannot {way}"):
            raise
        pytest.skip(error.message.partition("\n")[0])
    compiled = torch2mlir.compile(program, output_type="stablehlo", engine="xla")
    # TorchScript's named results are plain tuples
    actual, wanted = pytree.tree_leaves(compiled(*args)), pytree.tree_leaves(expected)
    assert_agrees(actual, wanted, case.loose)


def test_expected_failures_name_cases_that_exist() -> None:
    for failure in XFAILS:
        ways = failure.configurations.split()
        assert set(ways) <= set(SHARES)
        for pattern in failure.cases.split():
            assert any(failure.holds(name, ways[0]) for name in fnmatch.filter(CASES, pattern))
