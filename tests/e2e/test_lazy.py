"""Cases on PyTorch's lazy device, computed by XLA, against eager PyTorch."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from copy import deepcopy

import pytest
import torch
from torch.utils import _pytree as pytree

from tests.e2e.agreement import assert_agrees
from tests.e2e.lazy_xfails import XFAILS
from tests.e2e.registry import Case, load_cases
from torch2mlir import lazy

SHARE = 16
"""One case in so many runs without ``--full``."""

CASES = load_cases()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" not in metafunc.fixturenames:
        return
    full = metafunc.config.getoption("--full")
    parameters = []
    for case in CASES.values():
        if not full and zlib.crc32(case.name.encode()) // 7 % SHARE:
            continue
        marks = [
            pytest.mark.xfail(reason=failure.reason, raises=failure.raises, strict=True)
            for failure in XFAILS
            if failure.holds(case.name, "lazy")
        ]
        parameters.append(pytest.param(case, id=f"{case.family}/{case.name}", marks=marks))
    metafunc.parametrize("case", parameters)


@pytest.fixture(scope="module")
def device() -> Iterator[torch.device]:
    with lazy.device(engine="xla") as opened:
        yield opened


@pytest.fixture(autouse=True)
def dynamo_forgets() -> Iterator[None]:
    """Dynamo never again compiles a function it has failed on, torch.cond's among them."""
    yield
    torch._dynamo.reset()


def test_agrees_with_eager(case: Case, device: torch.device) -> None:
    args, kwargs = case.arguments()
    eager = case.model()
    with torch.no_grad():
        expected = eager(*deepcopy(args), **deepcopy(kwargs))

        def to_device(leaf: object) -> object:
            return leaf.to(device) if isinstance(leaf, torch.Tensor) else leaf

        args, kwargs = pytree.tree_map(to_device, (args, kwargs))
        model = case.model().to(device)
        with device:  # where the program makes tensors of its own
            actual = model(*args, **kwargs)
        lazy.mark_step()
        actual = pytree.tree_map_only(torch.Tensor, torch.Tensor.cpu, actual)
    assert_agrees(actual, expected, case.loose)
    buffers = {name: buffer.cpu() for name, buffer in model.named_buffers()}
    assert_agrees(buffers, dict(eager.named_buffers()), case.loose)


def test_expected_failures_name_cases_that_exist() -> None:
    assert {name for failure in XFAILS for name in failure.cases.split()} <= set(CASES)
