"""Cases through TorchScript, scripted and traced, on XLA, against eager PyTorch."""

from __future__ import annotations

import fnmatch
import warnings
import zlib
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils import _pytree as pytree

import torch2mlir
from tests.e2e.calls import Comparison
from tests.e2e.registry import Case, load_cases
from tests.e2e.scriptable import scriptable
from tests.e2e.torchscript_xfails import XFAILS
from torch2mlir import torchscript

SHARES = {"script": 80, "trace": 60}
"""Way to TorchScript -> one case in so many runs without ``--full``."""

CASES = load_cases()
TRACED_WRONG = {
    "identity_product_with_zero": "TorchScript keeps 0.0 and -0.0 as one constant",
    "loss_multilabel_margin": "the gradient goes on with what was written for the example",
}
"""Cases of which PyTorch runs its own trace otherwise than eager mode, and ours as eager mode does."""


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


@pytest.mark.share(8)
def test_agrees_with_pytorchs_own(case: Case, way: str) -> None:
    """What PyTorch makes of the same TorchScript program, which may not be what it makes of the Python one."""
    args, _ = case.arguments()
    tracing = way == "trace"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours, theirs = (_model(case, way) for _ in range(2))
            program = torchscript.capture(ours, list(deepcopy(args)), use_tracing=tracing)
            original = (
                torch.jit.trace(theirs, deepcopy(args), check_trace=False)
                if tracing
                else torch.jit.script(theirs)
            )
    except OSError as error:
        pytest.skip(f"no source to script: {error}")
    except torch2mlir.CaptureError as error:
        if not error.message.startswith(f"PyTorch cannot {way}"):
            raise
        pytest.skip(error.message.partition("\n")[0])
    if tracing and case.name in TRACED_WRONG:
        with pytest.raises(AssertionError):
            Comparison(_flat(original), _flat(case.model())).call(case.calls(dynamic=False))
        original = case.model()
    compiled = torch2mlir.compile(program, output_type="stablehlo", engine="xla", guard=True)
    state = {each.name: each.tensor for each in program.signature.state_inputs}
    held = dict(original.named_buffers()) if isinstance(original, nn.Module) else {}
    Comparison(
        _flat(compiled),
        _flat(original),
        {name: tensor for name, tensor in state.items() if name in held},
        held,
        case.loose,
        case.signed_zeros,
    ).call(case.calls(dynamic=False))


def _model(case: Case, way: str) -> Any:
    return scriptable(case) if way == "script" else case.model()


def _flat(function: Callable[..., Any]) -> Callable[..., Any]:
    """TorchScript's named results are plain tuples."""
    return lambda *args: tuple(pytree.tree_leaves(function(*args)))


def test_expected_failures_name_cases_that_exist() -> None:
    for failure in XFAILS:
        ways = failure.configurations.split()
        assert set(ways) <= set(SHARES)
        for pattern in failure.cases.split():
            assert any(failure.holds(name, ways[0]) for name in fnmatch.filter(CASES, pattern))
