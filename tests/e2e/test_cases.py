"""Every case on every configuration, static and dynamic, against eager PyTorch."""

from __future__ import annotations

from copy import deepcopy
from functools import lru_cache

import pytest
import torch

import torch2mlir
from tests.e2e.agreement import assert_agrees
from tests.e2e.configurations import CONFIGURATIONS, Configuration, runs
from tests.e2e.registry import Case, load_cases
from tests.e2e.xfails import expected_failure, idle_entries
from torch2mlir.contract.core_ops import CORE_OPS
from torch2mlir.dialects.torch.core import OperatorOp

CASES = load_cases()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "configuration" not in metafunc.fixturenames:
        return
    full = metafunc.config.getoption("--full")
    parameters = []
    for case in CASES.values():
        for configuration, mode in runs(case, full):
            where = f"{configuration.name}-{mode}"
            failure = expected_failure(case.name, where)
            marks = (
                [pytest.mark.xfail(reason=failure.reason, raises=failure.raises, strict=True)]
                if failure
                else []
            )
            name = f"{case.family}/{case.name}-{where}"
            parameters.append(pytest.param(case, configuration, mode, id=name, marks=marks))
    metafunc.parametrize("case, configuration, mode", parameters)


@lru_cache(maxsize=8)
def _exported(name: str, mode: str) -> torch.export.ExportedProgram:
    return CASES[name].export(dynamic=mode == "dynamic")


def test_agrees_with_eager(case: Case, configuration: Configuration, mode: str) -> None:
    program = _exported(case.name, mode)
    if program.graph_signature.buffers:  # which it may change
        program = deepcopy(program)
    compiled = torch2mlir.compile(
        program, output_type=configuration.output_type, engine=configuration.engine
    )
    eager = case.model()
    for which in (0, 1) if mode == "dynamic" else (0,):
        args, kwargs = case.arguments(which)
        eager_args, eager_kwargs = deepcopy((args, kwargs))
        with torch.no_grad():
            expected = eager(*eager_args, **eager_kwargs)
        actual = compiled(*args, **kwargs)
        assert_agrees(actual, expected, case.loose)
        assert_agrees((args, kwargs), (eager_args, eager_kwargs), case.loose)
    assert_agrees(dict(program.named_buffers()), dict(eager.named_buffers()), case.loose)


def test_every_core_op_has_a_case() -> None:
    seen = set[str]()
    for case in CASES.values():
        try:
            module = torch2mlir.export_and_import(case.export(dynamic=False)).operation
        except torch2mlir.BackendContractError:
            continue  # it fails, or is expected to, on every configuration
        seen |= {op.op_name if isinstance(op, OperatorOp) else op.name for op in module.walk()}
    missing = sorted(CORE_OPS - seen)
    assert not missing, f"register a case for {', '.join(missing)}"


def test_expected_failures_name_cases_that_exist() -> None:
    modes = ("static", "dynamic")
    where = [
        (case, f"{configuration.name}-{mode}")
        for case in CASES
        for configuration in CONFIGURATIONS
        for mode in modes
    ]
    assert not list(idle_entries(where))
