"""Models whose calls change themselves: buffers that are assigned to go on, what no program can do is refused.

``torch.export`` forgets all of this without a word, but for the buffers of the very module it is given.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import torch2mlir
from tests.e2e.agreement import assert_agrees
from torch2mlir.errors import CaptureError


class Part(nn.Module):
    """A module inside of another."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = nn.ModuleList([inner])

    def forward(self, x: torch.Tensor) -> Any:
        return self.inner[0](x)


class Steps(nn.Module):
    """Counts its calls in a buffer that it replaces."""

    steps: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("steps", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.steps = self.steps + 1
        return x * self.steps


class Unread(Steps):
    """The new buffer is not part of the result."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.steps = self.steps + x.sum()
        return x * 2


class Twice(Steps):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.steps = self.steps + 1
        self.steps = self.steps * 2
        self.steps += x.sum()
        return x + self.steps


class Before(nn.Module):
    """Two buffers change places, and what one was before is a result."""

    one: torch.Tensor
    other: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("one", torch.zeros(4))
        self.register_buffer("other", torch.ones(4))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        before = self.one
        self.one, self.other = self.other, self.one + x.sum(0)
        return before, before[1:], self.one * 2, self.other


class InPlace(nn.Module):
    """Writes to a tensor that is no buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.state = torch.zeros(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.state.add_(1)
        return x * self.state


@pytest.mark.parametrize("is_part", [False, True], ids=["whole", "part"])
@pytest.mark.parametrize("make", [Steps, Unread, Twice, Before, InPlace])
def test_assigned_buffers_go_on(make: Callable[[], nn.Module], is_part: bool) -> None:
    model = Part(make()) if is_part else make()
    eager = copy.deepcopy(model)
    ours = torch2mlir.compile(model, torch.randn(2, 4))
    assert_agrees(dict(model.state_dict()), dict(eager.state_dict()))
    for _ in range(3):
        x = torch.randn(2, 4)
        assert_agrees(ours(x), eager(x))
        assert_agrees(dict(model.state_dict()), dict(eager.state_dict()))


class Grows(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(2, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen = torch.cat([self.seen, x])
        return self.seen.sum(0)


class Number(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return x * self.calls


class Plain(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.state = torch.zeros(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.state = self.state + 1
        return x * self.state


class ByBytecode(Number):
    """PyTorch captures a number of elements by reading the bytecode, and runs nothing."""

    def forward(self, x: torch.Tensor) -> Any:
        self.calls += 1
        return float(x.sum()) * 2, x * self.calls


class AssignedByBytecode(Steps):
    """There an assignment to a buffer is kept by nobody."""

    def forward(self, x: torch.Tensor) -> Any:
        self.steps = self.steps + 1
        return float(x.sum()) * 2, x * self.steps


class FirstSum(nn.Module):
    """Keeps what it computes of its first input: a second call with the same one gives the same."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = dict[str, torch.Tensor]()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if "sum" not in self.kept:
            self.kept["sum"] = x.sum(0)
        return x * self.kept["sum"]


class Listed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.states = [torch.zeros(4)]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.states[0] = self.states[0] + 1
        return x * self.states[0]


class OtherParameter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.weight = nn.Parameter(self.weight + 1)
        return x * self.weight


class FirstCall(nn.Module):
    """Initializes itself from its first input, as an activation norm."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("scale", torch.ones(4))
        self.is_first = True

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.is_first:
            self.scale = x.sum(0)
            self.is_first = False
        return x * self.scale


class NoTensorYet(nn.Module):
    sum: torch.Tensor | None

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("sum", None)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.sum = x.sum(0) if self.sum is None else self.sum + x.sum(0)
        return self.sum * 2


@pytest.mark.share(4)
@pytest.mark.parametrize("is_part", [False, True], ids=["whole", "part"])
@pytest.mark.parametrize(
    ("make", "named"),
    [
        (Grows, "seen"),
        (Number, "'calls'"),
        (ByBytecode, "'calls'"),
        (AssignedByBytecode, "steps'"),
        (FirstSum, "'kept'"),
        (Plain, "'state'"),
        (Listed, "'states'"),
        (OtherParameter, "'weight'"),
        (FirstCall, "'is_first'"),
        (NoTensorYet, "'sum'"),
    ],
)
def test_what_no_program_does_is_refused(
    make: Callable[[], nn.Module], named: str, is_part: bool
) -> None:
    model = Part(make()) if is_part else make()
    before = copy.deepcopy(model)
    x = torch.randn(2, 4)
    with pytest.raises(CaptureError, match=named):
        torch2mlir.compile(model, x)
    with torch.no_grad():
        ours, eager = model(x), before(x)  # the attempt left no trace
    assert_agrees(ours, eager)


class Remembers(nn.Module):
    """Keeps a table that depends on sizes only, and its last result."""

    def __init__(self) -> None:
        super().__init__()
        self.table: torch.Tensor | None = None
        self.last: torch.Tensor | None = None
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        if self.table is None:
            self.table = torch.arange(x.shape[1], dtype=x.dtype).exp()
        self.last = nn.functional.dropout(x * self.table, 0.5, self.training)
        return self.last + 1


def test_what_does_not_matter_is_taken() -> None:
    model = Remembers().eval()
    ours = torch2mlir.compile(model, torch.randn(2, 4))
    assert (model.table, model.last, model.calls) == (None, None, 0)
    for _ in range(3):
        x = torch.randn(2, 4)
        assert_agrees(ours(x), model(x))


class KeptAndDerived(nn.Module):
    """Is traced twice, because it takes a derivative; the second trace found what the first had kept."""

    kept: torch.Tensor | None

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("kept", None)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.kept is None:
            self.kept = torch.arange(4.0) * x.shape[0]
        return torch.func.grad(lambda z: (z * z).sum())(x + self.kept)


def test_a_second_trace_begins_as_the_first() -> None:
    model, eager = KeptAndDerived(), KeptAndDerived()
    ours = torch2mlir.compile(model, torch.ones(2, 4), engine="reference")
    assert model.kept is None
    for _ in range(3):
        x = torch.randn(2, 4)
        assert_agrees(ours(x), eager(x))


class OtherMemory(nn.Module):
    """Gives its weight another tensor's memory; PyTorch's tracing ended the process where it had to read bytecode."""

    def __init__(self, asks: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))
        self.asks = asks

    def forward(self, x: torch.Tensor) -> Any:
        self.weight.data = self.weight.data + 1
        return x * self.weight, int((x > 0).sum()) if self.asks else 0


@pytest.mark.share(2)
@pytest.mark.parametrize("asks", [False, True])
def test_other_memory_is_refused_and_given_by_pytorch(asks: bool) -> None:
    with pytest.raises(CaptureError, match=r"w\.copy_"):
        torch2mlir.compile(OtherMemory(asks), torch.randn(2, 4))
    model, eager = OtherMemory(asks), OtherMemory(asks)
    ours = torch2mlir.optimize(model, model_inputs=(torch.randn(2, 4),))
    for _ in range(3):
        x = torch.randn(2, 4)
        with torch.no_grad():
            assert_agrees(ours(x), eager(x))
        assert_agrees(dict(model.state_dict()), dict(eager.state_dict()))


def test_a_function_that_calls_a_changing_module() -> None:
    module = Number()
    with pytest.raises(CaptureError, match="'calls'"):
        torch2mlir.compile(lambda x: module(x) + 1, torch.randn(2, 4))
