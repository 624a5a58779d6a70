"""Forward-mode differentiation, whose tangents engines lose: PyTorch runs such calls, or they are refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.autograd.forward_ad as forward_ad
from torch import Tensor, nn

import torch2mlir

MODEL = nn.Sequential(nn.Linear(3, 3), nn.Tanh()).eval()


@pytest.mark.parametrize(
    "compiled",
    [
        torch.compile(MODEL, backend="torch2mlir"),
        torch2mlir.optimize(MODEL, engine="iree"),
        torch2mlir.optimize(MODEL, False, engine="iree"),
    ],
)
def test_tangents_are_those_of_eager_mode(compiled: Callable[[Tensor], Tensor]) -> None:
    x, tangent = torch.randn(2, 3)
    with torch.no_grad():
        compiled(x)
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(x, tangent)
            found, expected = (forward_ad.unpack_dual(f(dual)) for f in (compiled, MODEL))
            torch.testing.assert_close(found.tangent, expected.tangent)
            torch.testing.assert_close(found.primal, expected.primal)
        torch.testing.assert_close(compiled(x), MODEL(x))


def test_a_compiled_function_refuses_them() -> None:
    x = torch.randn(3)
    compiled = torch2mlir.compile(MODEL, x)
    with torch.no_grad(), forward_ad.dual_level():
        torch.testing.assert_close(compiled(x), MODEL(x))
        with pytest.raises(torch2mlir.InputError, match="has a tangent"):
            compiled(forward_ad.make_dual(x, torch.ones(3)))
