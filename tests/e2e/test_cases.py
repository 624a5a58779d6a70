"""Every case on every configuration, static and dynamic, against eager PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import torch2mlir
from tests.e2e.calls import Comparison
from tests.e2e.configurations import CONFIGURATIONS, Configuration, runs
from tests.e2e.registry import Case, load_cases
from tests.e2e.xfails import ExpectedFailure, expected_failure, idle_entries
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


def test_agrees_with_eager(case: Case, configuration: Configuration, mode: str) -> None:
    program = case.exported(dynamic=mode == "dynamic")
    compiled = torch2mlir.compile(
        program,
        output_type=configuration.output_type,
        engine=configuration.engine,
        guard=True,  # prepared weights and captured constants are looked at too
    )
    three_calls(case, program, compiled).call(case.calls(mode == "dynamic"))


def three_calls(
    case: Case, program: torch.export.ExportedProgram, compiled: Callable[..., Any]
) -> Comparison:
    """A compiled case beside eager, with what either of them holds."""
    eager = case.model()
    eager_state = {**dict(eager.named_parameters()), **dict(eager.named_buffers())}
    held = {**program.constants, **program.state_dict}
    state = {name: value for name, value in held.items() if isinstance(value, torch.Tensor)}
    return Comparison(compiled, eager, state, eager_state, case.loose, case.signed_zeros)


def test_every_core_op_has_a_case(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--full"):
        pytest.skip("captures every case once more: make nightly")
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


def test_wrong_answers_are_not_expected() -> None:
    with pytest.raises(TypeError, match="a wrong answer cannot be expected"):
        ExpectedFailure("a difference in the last digit", AssertionError, "tosa-iree-*", "exp")
