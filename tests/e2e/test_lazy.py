"""Cases on PyTorch's lazy device, computed by XLA, against eager PyTorch."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.utils import _pytree as pytree

from tests.e2e.agreement import assert_agrees
from tests.e2e.calls import Comparison
from tests.e2e.lazy_xfails import XFAILS
from tests.e2e.registry import Case, load_cases
from torch2mlir import lazy

SHARE = 48
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
    eager, model = case.model(), case.model().to(device)

    def on_device(*args: Any, **kwargs: Any) -> Any:
        """The model with its arguments on the device; what it writes to them comes back."""
        given, spec = pytree.tree_flatten((args, kwargs))
        moved = [leaf.to(device) if isinstance(leaf, torch.Tensor) else leaf for leaf in given]
        args, kwargs = pytree.tree_unflatten(moved, spec)
        with torch.no_grad(), device:  # where the program makes tensors of its own
            results = model(*args, **kwargs)
        lazy.mark_step()
        with torch.no_grad():
            for here, there in zip(given, moved, strict=True):
                if isinstance(here, torch.Tensor):
                    here.copy_(there.cpu())
        return pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.detach().cpu(), results)

    comparison = Comparison(on_device, eager, loose=case.loose, signed_zeros=case.signed_zeros)
    for arguments in case.calls(dynamic=False):
        comparison.call([arguments])
        ours, theirs = dict(model.named_buffers()), dict(eager.named_buffers())
        assert_agrees({name: ours[name].cpu() for name in ours}, theirs, case.loose)


def test_expected_failures_name_cases_that_exist() -> None:
    assert {name for failure in XFAILS for name in failure.cases.split()} <= set(CASES)
