"""What a program draws and does not use is drawn all the same: later numbers are eager mode's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

import torch2mlir


def _numbers(x: Tensor) -> Tensor:
    torch.randn(4)
    return x + torch.rand(4)


def _auxiliary(x: Tensor) -> Tensor:
    auxiliary = F.dropout(x * 2, 0.5, True) + 1  # noqa: F841
    torch.bernoulli(x.sigmoid())
    torch.empty(3).uniform_()
    return x + torch.rand_like(x)


def _of_everything(x: Tensor) -> Tensor:
    """Which draws nothing in eager mode, used or not."""
    F.dropout(x, 1.0)
    return F.dropout(x, 1.0) + x * torch.rand(4)


class _Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.dropout = nn.Linear(4, 4), nn.Linear(4, 4), nn.Dropout(0.3)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.first(x)
        auxiliary = self.dropout(self.second(hidden)) * 2  # noqa: F841
        torch.randn(3)
        return self.dropout(checkpoint(self._again, hidden, use_reentrant=False))

    def _again(self, x: Tensor) -> Tensor:
        self.dropout(x)
        return self.dropout(x).sin()


@pytest.mark.parametrize("function", [_numbers, _auxiliary, _of_everything])
@pytest.mark.parametrize("entrance", ["regions", "torch.compile"])
def test_numbers_after_them_are_eagers(function: Callable[[Tensor], Tensor], entrance: str) -> None:
    if entrance == "regions":
        compiled = torch2mlir.optimize(function, allow_tracing=False)
    else:
        compiled = torch.compile(function, backend="torch2mlir")
    _assert_draws_alike(compiled, function, [torch.full((4,), float(k)) for k in range(3)])


def test_of_a_size_that_elements_decide() -> None:
    def chosen(x: Tensor) -> Tensor:
        F.dropout(x[x > 0], 0.3)
        return x * torch.rand(4)

    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        compiled = torch.compile(chosen, backend="torch2mlir")
        _assert_draws_alike(compiled, chosen, [torch.randn(4) for _ in range(3)])


def test_backward_passes_draw_nothing_of_them() -> None:
    model = _Model()
    other = deepcopy(model)
    compiled = torch.compile(other, backend="torch2mlir")
    for seed in range(4):
        x = torch.full((2 + seed, 4), float(seed))
        outcomes = []
        for each, held in ((compiled, other), (model, model)):
            held.zero_grad()
            torch.manual_seed(seed)
            result = each(x)
            between = torch.rand(1)
            result.square().sum().backward()
            outcomes.append((result, between, torch.rand(1), held.first.weight.grad))
            assert held.second.weight.grad is None
        torch.testing.assert_close(*outcomes, atol=1e-5, rtol=1e-4)


def _assert_draws_alike(
    compiled: Callable[[Tensor], Tensor],
    function: Callable[[Tensor], Tensor],
    arguments: Sequence[Tensor],
) -> None:
    """Both give the same, call by call, and leave the generator where the other does."""
    for seed, x in enumerate(arguments):
        outcomes = []
        for each in (compiled, function):
            torch.manual_seed(seed)
            outcomes.append((each(x), torch.rand(2)))
        torch.testing.assert_close(*outcomes)
