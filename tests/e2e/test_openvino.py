"""Cases on OpenVINO, which is either right or refused: it computes too much in other types to be asked for everything."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from copy import deepcopy

import pytest
import torch
from torch import Tensor
from torch.utils import _pytree as pytree

import torch2mlir
from tests.e2e.agreement import assert_agrees
from tests.e2e.configurations import ROUNDED_MEANS
from tests.e2e.registry import Case, load_cases
from torch2mlir.errors import EngineError, InputError, UnsupportedOpError

CASES = load_cases()
SHARE = 24
"""One case in so many runs without ``--full``, either static or dynamic."""

ZEROS_OF_ITS_OWN = {
    "hardswish",
    "ihfft",
    "expm1_of_small_numbers",
    "legendre_of_any_degree",
    *("loss_cosine_embedding", "loss_margin_ranking", "loss_triplet_margin"),
}
"""Cases in which OpenVINO's fusions give a zero another sign; nothing that we could refuse tells them from others."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "mode" not in metafunc.fixturenames:
        return
    full = metafunc.config.getoption("--full")
    parameters = []
    for case in CASES.values():
        if (case.name, "openvino") in ROUNDED_MEANS:
            continue
        number = zlib.crc32(case.name.encode())
        if case.dynamic:
            modes = ["static", "dynamic"] if full else [("static", "dynamic")[number % 2]]
        else:
            modes = ["static"]
        if full or number // 2 % SHARE == 0:
            parameters += [pytest.param(case, mode, id=f"{case.name}-{mode}") for mode in modes]
    metafunc.parametrize("case, mode", parameters)


@pytest.mark.share(24)
def test_right_or_refused(case: Case, mode: str) -> None:
    program = case.export(dynamic=mode == "dynamic")
    if program.graph_signature.buffers:
        pytest.skip("keeps state: see the other engines")
    eager = case.model()
    signed_zeros = case.signed_zeros and case.name not in ZEROS_OF_ITS_OWN
    try:
        compiled = torch2mlir.compile(program, output_type="onnx", engine="openvino")
        for which in (0, 1 if mode == "dynamic" else 0, 0):
            args, kwargs = case.arguments(which)
            ours = deepcopy((args, kwargs))
            with torch.no_grad():
                expected = eager(*args, **kwargs)
            expected = pytree.tree_map_only(torch.Tensor, torch.Tensor.detach, expected)
            assert_agrees(compiled(*ours[0], **ours[1]), expected, case.loose, signed_zeros)
            assert_agrees(ours, (args, kwargs), case.loose, signed_zeros)
    except (EngineError, InputError, UnsupportedOpError) as error:
        pytest.skip(f"refused: {str(error).splitlines()[0]}")


def test_arguments_that_do_not_lie_densely_live_until_they_are_read() -> None:
    def model(x, y, z):
        return x @ y, y * 2, z.relu()

    def arguments():
        image = torch.randn(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
        return torch.randn(4, 3).t(), torch.randn(1, 5).expand(4, 5), image

    compiled = torch2mlir.compile(model, *arguments(), output_type="onnx", engine="openvino")
    for _ in range(3):
        given = arguments()
        assert_agrees(compiled(*given), model(*given))


BEYOND_FLOATS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "greater": lambda x, y: x > y,
    "equal": lambda x, y: x == y,
    "equal_to_number": lambda x, y: x == 16777217,
    "quotient": lambda x, y: x // y,
    "remainder": lambda x, y: x % 7,
    "clamped": lambda x, y: x.clamp(-16777217, 16777217),
    "largest": lambda x, y: x.amax(),
    "product": lambda x, y: x[:2, None] @ y[None, :2],
    "sum": lambda x, y: x + y,
    "sign": lambda x, y: (x < 0) | (x > 5),
    "doubled": lambda x, y: x * 2,
}
RIGHT_BEYOND = {torch.int32: {"sum", "sign", "doubled"}, torch.int64: {"sign"}}


@pytest.mark.share(4)
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
@pytest.mark.parametrize("name", BEYOND_FLOATS)
def test_integers_that_are_no_floats(name: str, dtype: torch.dtype) -> None:
    function = BEYOND_FLOATS[name]
    small = torch.tensor([1, -2, 3], dtype=dtype), torch.tensor([5, 6, -7], dtype=dtype)
    large = torch.tensor([16777217, -33554435, 2147483521]), torch.tensor([16777216, 3, 2147483520])
    try:
        compiled = torch2mlir.compile(function, *small, output_type="onnx", engine="openvino")
        assert torch.equal(compiled(*small), function(*small))
        large = large[0].to(dtype), large[1].to(dtype)
        assert torch.equal(compiled(*large), function(*large))
    except (EngineError, InputError):
        assert name not in RIGHT_BEYOND[dtype]
    else:
        assert name in RIGHT_BEYOND[dtype]
