"""Cases whose sizes vary, called with sizes of 0 and 1, which capture takes for 2 or more: right, or refused.

Each size alone is 1 and 0, then all of them together; ``--full`` takes every case on every engine.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import pytest
import torch

import torch2mlir
from tests.e2e.configurations import ROUNDED_MEANS, TARGETS, require
from tests.e2e.registry import Case, load_cases
from tests.e2e.test_cases import three_calls
from torch2mlir.errors import InputError, Torch2MLIRError

CASES = load_cases()
SHARE = 320
"""One case in so many on each target, without ``--full``."""
ENDLESS = {"while_until_large"}
"""Nothing never gets large."""
EAGER_ALONE = {
    "pixel_unshuffle": "eager mode leaves the shape of an empty tensor as it is",
    "loss_multi_margin": "eager mode does not write the mean of nothing",
    "batch_norm_backward": "eager mode's gradients of nothing are zeros, those of PyTorch's formula NaN",
}
"""What eager mode does with empty tensors and PyTorch's own shapes and formulas do not."""
SIGNS_OF_ZEROS = {
    "attention_bool_mask",
    "attention_row_mask",
    "long_lines_of_zeros",
    "arithmetic_backward",
}
"""Sums of a single zero, whose sign eager mode keeps."""


def combinations(names: list[str]) -> Iterator[dict[str, int]]:
    for size in (1, 0):
        yield from ({name: size} for name in names)
        if len(names) > 1:
            yield dict.fromkeys(names, size)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    full = metafunc.config.getoption("--full")
    parameters = [
        pytest.param(case, *target, id=f"{case.name}-{target[0]}-{target[1]}")
        for case in CASES.values()
        if case.dynamic and case.name not in ENDLESS | EAGER_ALONE.keys()
        for turn, target in enumerate(TARGETS)
        if (case.name, target[1]) not in ROUNDED_MEANS
        and (full or zlib.crc32(case.name.encode()) % SHARE == turn)
    ]
    metafunc.parametrize("case, output_type, engine", parameters)


@pytest.mark.share(6)
def test_right_or_refused(case: Case, output_type: str, engine: str) -> None:
    require(engine)
    try:
        program = case.exported(dynamic=True, least=0)
        compiled = torch2mlir.compile(program, output_type=output_type, engine=engine, guard=True)
        args, kwargs = case.arguments()
        compiled.compile_like(*args, **kwargs)
    except (Torch2MLIRError, ValueError, AssertionError, RuntimeError) as refused:
        pytest.skip(f"not for all sizes: {str(refused).splitlines()[0]}")
    beside = three_calls(case, program, compiled)
    beside.signed_zeros &= case.name not in SIGNS_OF_ZEROS
    # for a single row it computes x * a as x * a + 0
    beside.signed_zeros &= engine != "openvino"
    for sizes in combinations(case.names):
        try:
            with torch.no_grad():
                for which in (1, 2):
                    args, kwargs = case.arguments(sizes, which)
                    case.model()(*args, **kwargs)
        except (RuntimeError, IndexError, ValueError):
            continue  # eager mode refuses it too
        try:
            beside.call([case.arguments(sizes, 1), case.arguments(sizes, 2)])
        except InputError:
            assert min(sizes.values()) < 2
