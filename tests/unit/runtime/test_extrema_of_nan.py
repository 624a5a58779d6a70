"""Minima and maxima over many elements are NaN where one of them is: XLA's library leaves NaN out from 4096 elements on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from repeated_calls import Together

import torch2mlir
from torch2mlir.runtime import xla

INF, NAN = float("inf"), float("nan")
SPECIAL = torch.tensor([0.0, -0.0, INF, -INF, 1.0, -1.5, 2.0])


def some(shape: tuple[int, ...], nan: float) -> torch.Tensor:
    """Special numbers, of which so many are NaN."""
    x = SPECIAL[torch.randint(0, len(SPECIAL), shape)]
    return torch.where(torch.rand(shape) < nan, NAN, x)


Function = Callable[[torch.Tensor], Any]
EXTREMA: dict[str, Function] = {
    "amin": lambda x: x.amin(1),
    "amax of columns": lambda x: x.amax(0),
    "amin of half": lambda x: x.half().amin(-1),
    "amax of double": lambda x: x.double().amax(0),
    "max of all": lambda x: x.max(),
    "min and where": lambda x: x.min(1),
    "argmax": lambda x: x.argmax(1),
    "both": lambda x: torch.aminmax(x, dim=0),
    "norm": lambda x: x.norm(p=INF, dim=1),
    "windows": lambda x: F.max_pool1d(x, 3),
    "windows of planes": lambda x: F.max_pool2d(x[None], 2),
    "adaptive": lambda x: F.adaptive_max_pool1d(x, 4),
    "softmax": lambda x: x.clamp(-3, 3).softmax(1),
    "softmax of columns": lambda x: x.clamp(-3, 3).log_softmax(0),
    "logsumexp": lambda x: x.clamp(-3, 3).logsumexp(1),
    "from each other": lambda x: (x - x.amax(0)[:, None]).exp().sum(0),
    "exponentials": lambda x: (x.clamp(-3, 3) - x.amax(1, keepdim=True)).exp(),
}
WINDOWS = ("windows", "windows of planes", "adaptive")


@pytest.mark.share(6)
@pytest.mark.parametrize("windows", [False, True], ids=["lines", "windows"])
@pytest.mark.parametrize("output_type", ["stablehlo", "linalg-on-tensors", "tosa", "onnx"])
@torch.no_grad()
def test_of_many_elements(output_type: str, windows: bool) -> None:
    """Programs with windows do without XLA's library, so that they are compiled apart."""
    functions = {
        name: function
        for name, function in EXTREMA.items()
        if windows == (name in WINDOWS) and not (output_type == "tosa" and "double" in name)
    }
    together = Together(functions)

    def given(nan: float) -> dict[str, tuple[torch.Tensor]]:
        return {name: (some((64, 64), nan),) for name in functions}

    torch.manual_seed(0)
    compiled = torch2mlir.compile(together, given(0.0), output_type=output_type)
    for nan in (0.0, 0.003, 0.1):
        arguments = given(nan)
        torch.testing.assert_close(  # which names the function
            compiled(arguments), together(arguments), equal_nan=True
        )


@torch.no_grad()
def test_what_takes_no_harm_keeps_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Softmax has no second reduction, and only windows do without the library's reductions."""
    asked = list[bool]()

    def noted(module: Any) -> bool:
        asked.append(reads := real(module))
        return reads

    real = xla.reads_extrema_of_nan
    monkeypatch.setattr(xla, "reads_extrema_of_nan", noted)
    x = torch.randn(64, 64)
    for function, sums in (
        (lambda x: x.softmax(1), 1),
        (lambda x: x.log_softmax(0), 1),
        (lambda x: F.scaled_dot_product_attention(x, x, x), 1),
        (lambda x: x.amax(1), 1),
        (lambda x: (x - x.amax(0)[:, None]).exp() / x.sum(), 2),
    ):
        text = torch2mlir.compile(function, x).text()
        assert text.count("applies stablehlo.add") == sums
    assert asked and not any(asked)
    torch2mlir.compile(lambda x: F.max_pool1d(x, 3), x)
    assert asked[-1]
