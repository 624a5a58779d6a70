"""NaNs that a program makes of numbers stay NaN on OpenVINO, and are not greater than anything.

Its plugin clamps them to a bound (``relu(log(-1))`` was 0), takes ``NaN > 0`` for true, and loses a line's in a softmax.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.nn import functional as F
from torch.testing import assert_close
from xdsl.context import Context

import torch2mlir
from torch2mlir.engine_passes.onnx_nans_kept import OnnxNansKeptPass

pytest.importorskip("openvino")
MAKERS: dict[str, Callable[[Tensor], Tensor]] = {
    "log": torch.log,
    "sqrt": lambda x: x.sqrt() * 2,
    "asin": lambda x: torch.asin(x / 2),
    "pow": lambda x: x**0.3,
    "div": lambda x: (x * 0.0) / (x.clamp(min=-0.1) + 0.1),
    "constant": lambda x: torch.where(x > 0, x, torch.nan),
    "wrapped": lambda x: x + (x.sign().int() * 50_000 * 50_000).sqrt(),
    "mean": lambda x: (x - 1).log().mean(-1, keepdim=True) + x,
}
READERS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "relu6": F.relu6,
    "relu twice": lambda x: F.relu(F.relu(x)),
    "bounds": lambda x: x.clamp(max=5).clamp(min=0),
    "softmax of relu": lambda x: F.relu(x).softmax(-1),
    "hardsigmoid": F.hardsigmoid,
    "exp": torch.exp,
    "sign": torch.sign,
    "clamp": lambda x: x.clamp(-0.3, 0.3),
    "maximum": lambda x: torch.maximum(x, x.flip(-1)),
    "minimum": lambda x: torch.minimum(x, torch.zeros(())),
    "greater": lambda x: torch.where(x > 0, 1.0, 2.0),
    "at least": lambda x: x >= 0,
    "less": lambda x: torch.zeros(()) < x,
    "softmax": lambda x: x.softmax(-1) * 3,
    "log_softmax": lambda x: x.log_softmax(0),
    "normalize": lambda x: F.normalize(x, dim=-1),
    "cummax": lambda x: x.cummax(-1)[0],
    "linear": lambda x: F.relu(x @ torch.ones(8, 3)),
    "branch": lambda x: torch.cond(x.sum() > 0, lambda y: y * 2, lambda y: y - 1, (x,)),
}


@pytest.mark.share(3)
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("is_dynamic", [False, True])
def test_nans_are_kept(maker: str, reader: str, is_dynamic: bool) -> None:
    torch.manual_seed(0)

    def function(x: Tensor) -> Tensor:
        return READERS[reader](MAKERS[maker](x))

    vary: Any = ({0: Dim("rows", min=2, max=9)},) if is_dynamic else None
    compiled = torch2mlir.compile(
        function,
        torch.rand(4, 8) + 1,
        dynamic_shapes=vary,
        output_type="onnx",
        engine="openvino",
    )
    for rows in (4, 4, 7 if is_dynamic else 4):
        x = torch.rand(rows, 8) + 0.5
        x[0, 2], x[2, 5] = -1.0, -2.0
        assert_close(compiled(x), function(x), equal_nan=True, rtol=1e-4, atol=1e-5)


def _by_loop(x: Tensor) -> Tensor:
    def body(i: Tensor, y: Tensor, z: Tensor) -> tuple[Tensor, ...]:
        return i + 1.0, torch.log(y - 5), z + torch.relu(y)

    start = torch.tensor(0.0), x.abs() + 1, torch.zeros_like(x)
    return torch.while_loop(lambda i, y, z: i < 2.0, body, start)[2]


def _by_low_bound(x: Tensor) -> Tensor:
    return F.relu((x.relu().clamp(max=-0.5) * x.abs()).sqrt())


@pytest.mark.parametrize("function", [_by_loop, _by_low_bound])
def test_nans_of_loops_and_bounds(function: Callable[[Tensor], Tensor]) -> None:
    torch.manual_seed(0)
    compiled = torch2mlir.compile(function, torch.rand(2, 3), output_type="onnx", engine="openvino")
    for _ in range(3):
        x = torch.randn(2, 3)
        assert_close(compiled(x), function(x), equal_nan=True)


def _norms(x: Tensor) -> Tensor:
    y = F.layer_norm(x, (8,)) + x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    y = y / y.norm(dim=-1, keepdim=True).clamp(min=1e-3) + torch.tanh(y).var(0).add(1e-5).sqrt()
    return F.relu(y / (1 + y.abs())).softmax(-1).log().exp() / 3.0


def test_what_is_no_nan_costs_nothing() -> None:
    model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.GELU()).eval()
    for function in (_norms, model):
        example = torch.randn(4, 8)
        module = torch2mlir.export_and_import(function, example, output_type="onnx").operation
        before = str(module)
        OnnxNansKeptPass().apply(Context(), module)
        assert "onnx.Relu" in before
        assert str(module) == before
        compiled = torch2mlir.compile(function, example, output_type="onnx", engine="openvino")
        assert_close(compiled(example), function(example), rtol=1e-4, atol=1e-5)
