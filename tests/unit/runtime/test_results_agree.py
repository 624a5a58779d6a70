"""How far results may be from PyTorch's, by what they were computed in."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
from torch import nn

import torch2mlir
from torch2mlir.hybrid.difference import narrowest_floats
from torch2mlir.runtime.agreement import difference
from torch2mlir.runtime.exact_results import exact_results

COMPUTED = torch.randn(64)


@pytest.mark.parametrize(
    ("expected", "error", "agrees"),
    [
        (COMPUTED.double(), 1e-6, True),  # in 32 bits, and converted
        (COMPUTED.double(), 1e-1, False),
        (torch.randn(64, dtype=torch.float64), 1e-6, False),
        (torch.arange(64.0, dtype=torch.float64), 1e-6, False),  # counted
        (COMPUTED, 1e-6, True),
    ],
    ids=["converted", "converted_far", "double", "counted", "float"],
)
def test_errors_of_doubles(expected: torch.Tensor, error: float, agrees: bool) -> None:
    actual = (expected + error).float().to(expected.dtype)
    assert (difference(actual, expected) is None) == agrees


class Scores(nn.Module):
    """Probabilities by doubles of what is computed in floats, as detectors have them."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64), nn.GELU())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x).double()


@torch.no_grad()
def test_what_is_converted_to_doubles_is_compiled() -> None:
    model, x = Scores().eval(), torch.randn(8, 64)
    report = torch2mlir.optimize(model, model_inputs=(x,)).report()
    assert "differs" not in str(report)


class Mixed(nn.Module):
    """Results in doubles: of halves, of floats, of numbers that floats have chosen, of doubles, of nothing computed."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        hidden = x @ x
        return (
            (hidden.half() * 2).double().log_softmax(-1),
            hidden.double().log_softmax(-1),
            hidden.argmax(-1).double() / 3,
            y.exp(),
            x.double(),
            y,
        )


def test_the_narrowest_floats_on_the_way_to_a_result() -> None:
    arguments = (torch.randn(4, 4), torch.randn(4, dtype=torch.float64))
    graph = torch.export.export(Mixed(), arguments).graph
    double = torch.float64
    assert narrowest_floats(graph) == [torch.float16, torch.float32, double, double, double, None]


class Likelihoods(nn.Module):
    """Doubles computed of floats, whose bits they all have."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64), nn.GELU())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x).double().log_softmax(-1)


@torch.no_grad()
def test_doubles_of_floats_are_compiled() -> None:
    model, x = Likelihoods().eval(), torch.randn(8, 64)
    report = torch2mlir.optimize(model, model_inputs=(x,)).report()
    assert "differs" not in str(report)


class Centred(nn.Module):
    """Means and running means of centred numbers are 0 but for rounding; the scores are not."""

    def __init__(self) -> None:
        super().__init__()
        self.normalized = nn.BatchNorm1d(32, affine=False)
        self.mixed = nn.Linear(32, 64, bias=False)
        self.behind = nn.BatchNorm1d(64)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        hidden = self.behind(self.mixed(self.normalized(x)))
        return hidden.mean(0), (x - x.mean(-1, keepdim=True)).mean(-1), hidden.relu().sum(-1)


@torch.no_grad()
def test_verification_takes_rounding_for_rounding() -> None:
    model, x = Centred().train(), torch.randn(96, 32)
    compiled = torch2mlir.compile(model, x, verify=True)
    for batch in (x, torch.randn(96, 32) * 3 + 5):
        wanted = Centred().train()
        wanted.load_state_dict(model.state_dict())
        torch.testing.assert_close(compiled(batch), wanted(batch), atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(model.state_dict(), wanted.state_dict(), atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_what_is_nothing_but_rounding_is_compiled() -> None:
    model, x = Centred().train(), torch.randn(96, 32)
    report = str(torch2mlir.optimize(model, model_inputs=(x,)).report())
    assert "captured whole" in report and "differs" not in report


def test_rounding_is_no_excuse() -> None:
    """What is off by more than PyTorch's rounding differs; so does what a step makes of rounding."""
    centred = torch.randn(64, 256)
    centred -= centred.mean(-1, keepdim=True)
    (exact,) = exact_results(lambda: centred.mean(-1))
    assert exact is not None
    expected = centred.mean(-1)
    assert difference(centred.flip(-1).mean(-1), expected, exact=exact) is None
    for wrong in (expected + 1e-6, expected * torch.nan, expected + torch.inf):
        assert difference(wrong, expected, exact=exact) is not None
    (step,) = exact_results(lambda: centred.mean(-1).sign())
    assert step is None or step.error == 0


def test_exact_results_of_writes_and_views() -> None:
    x, counter = torch.rand(1000) + 1000, torch.zeros(2)

    def run() -> tuple[torch.Tensor, ...]:
        sums = torch.zeros(2)
        sums[1:].add_(x.sum())
        counter.add_(sums)
        half = x.half().float().cumsum(0)
        return sums, half, x.argmax(), torch.rand(3), counter.clone()

    sums, half, place, drawn, counted = exact_results(run)
    assert place is None
    assert sums is not None and half is not None and counted is not None
    total = x.double().sum()
    torch.testing.assert_close(sums.value, torch.stack([total * 0, total]), atol=0, rtol=1e-15)
    torch.testing.assert_close(counted.value, sums.value, atol=0, rtol=1e-15)
    assert 0 < sums.error < 1
    torch.testing.assert_close(half.value, x.double().cumsum(0), atol=0, rtol=1e-13)
    assert drawn is None or drawn.error == 0


def test_what_fails_has_no_exact_results() -> None:
    def run() -> torch.Tensor:
        raise RuntimeError("not here")

    assert exact_results(run) == []


def _filled_by_no_op() -> torch.Tensor:
    x = torch.empty(3)
    x.numpy()[:] = 5
    return x


def _filled_behind_a_view() -> torch.Tensor:
    x = torch.empty(6)
    part = x[::2]
    x.numpy()[:] = 5
    return part


def _copied() -> torch.Tensor:
    return copy.deepcopy(torch.full((3,), 5.0))


def _drawn_behind_a_view() -> torch.Tensor:
    x = torch.ones(6)
    part = x[::2] * 1
    view = x[::2]
    x.bernoulli_(1.0).mul_(5)
    return view * part


@pytest.mark.parametrize(
    "make", [_filled_by_no_op, _filled_behind_a_view, _copied, _drawn_behind_a_view]
)
def test_what_comes_to_memory_by_no_op_is_known(make: Callable[[], torch.Tensor]) -> None:
    """Another result passed for rounding: what ``empty`` had found in memory was taken for what is exact."""
    for size in range(20):
        junk = [torch.full((2 * size + 1,), 1e30) for _ in range(20)]
        del junk
        (exact,) = exact_results(lambda: [make() * 2])
        assert exact is not None and exact.value.tolist() == [10, 10, 10]
        assert exact.largest <= 10 and exact.error == 0


def _asks_whether_it_is_compiled(x: torch.Tensor) -> torch.Tensor:
    return x * 3 if torch.compiler.is_compiling() else x * 2


@torch.no_grad()
def test_another_result_is_no_rounding() -> None:
    x = torch.full((3,), 5.0)
    for _ in range(12):
        optimized = torch2mlir.optimize(_asks_whether_it_is_compiled, model_inputs=(x,))
        assert optimized(x).tolist() == [10, 10, 10]
