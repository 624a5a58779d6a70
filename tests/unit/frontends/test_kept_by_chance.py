"""State that a call changes, and that an example leaves as it was: other elements and sizes would not."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim

import torch2mlir
from torch2mlir.errors import CaptureError


class Neuron(nn.Module):
    """One that fires begins anew."""

    def __init__(self) -> None:
        super().__init__()
        self.v = torch.zeros(3)

    def forward(self, x: Tensor) -> Tensor:
        v = self.v + x
        spike = v >= 1
        self.v = torch.where(spike, 0.0, v)
        return spike.float()


class Top(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.top = torch.full((3,), 10.0)

    def forward(self, x: Tensor) -> Tensor:
        self.top = torch.maximum(self.top, x)
        return x / self.top


class TopNumber(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.top = 10.0

    def forward(self, x: Tensor) -> Tensor:
        self.top = max(self.top, x.max().item())
        return x / self.top


class Hits(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hits = 0

    def forward(self, x: Tensor) -> Tensor:
        self.hits += int((x > 10).sum())
        return x + self.hits


class Largest(nn.Module):
    """Of integers, which may be places in a table."""

    def __init__(self) -> None:
        super().__init__()
        self.largest = torch.tensor(7)

    def forward(self, x: Tensor) -> Tensor:
        self.largest = torch.maximum(self.largest, x.long().amax())
        return x + self.largest


class Bytes(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.calls = bytearray(b"\0")
        self.counts = array("i", [0])

    def forward(self, x: Tensor) -> Tensor:
        self.calls[0] += 1
        self.counts[0] += 2
        return x + self.calls[0] + self.counts[0]


class FarTop(nn.Module):
    """No element of an example comes near what was there at first."""

    def __init__(self) -> None:
        super().__init__()
        self.top = torch.tensor(1000.0)

    def forward(self, x: Tensor) -> Tensor:
        self.top = torch.maximum(self.top, x.amax())
        return x / self.top


class FarTopNumber(FarTop):
    def __init__(self) -> None:
        super().__init__()
        self.top: Any = 1000.0

    def forward(self, x: Tensor) -> Tensor:
        self.top = max(self.top, x.amax().item())
        return x / self.top


class Marked(nn.Module):
    """The state is an attribute of a tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.scores = torch.ones(3)

    def forward(self, x: Tensor) -> Tensor:
        self.scores.calls = getattr(self.scores, "calls", 0) + 1
        return x * self.scores * self.scores.calls


class MarkedWeight(Marked):
    def __init__(self) -> None:
        super().__init__()
        self.scores = nn.Parameter(torch.ones(3), requires_grad=False)


CALLS = [torch.full((3,), value) for value in (5.0, 0.6, 20.0, 4e3, 0.6, 5.0)]


@pytest.mark.share(8)
@pytest.mark.parametrize(
    "make",
    [Neuron, Top, TopNumber, Hits, Largest, Bytes, FarTop, FarTopNumber, Marked, MarkedWeight],
)
def test_compile_refuses_and_optimize_goes_on(make: Callable[[], nn.Module]) -> None:
    """``compile`` went on with what the example had left, and ``optimize`` with numbers of the first call."""
    with pytest.raises(CaptureError, match="changes what its next call computes"):
        torch2mlir.compile(make(), CALLS[0])
    eager, model = make(), make()
    optimized = torch2mlir.optimize(model, allow_tracing=True, model_inputs=(CALLS[0],))
    for x in CALLS:
        with torch.no_grad():
            torch.testing.assert_close(optimized(x), eager(x))


class Window(nn.Module):
    """A full deque lets go of its first: TorchDynamo goes on with what was in it."""

    def __init__(self) -> None:
        super().__init__()
        self.last = deque([torch.zeros(3)] * 2, maxlen=2)

    def forward(self, x: Tensor) -> Tensor:
        self.last.append(x * 1)
        return x + self.last[0]


@torch.no_grad()
def test_a_window_of_the_last_calls() -> None:
    with pytest.raises(CaptureError, match="changes what its next call computes"):
        torch2mlir.compile(Window(), CALLS[0])
    eager = Window()
    optimized = torch2mlir.optimize(Window(), allow_tracing=True, model_inputs=(CALLS[0],))
    for x in CALLS:
        torch.testing.assert_close(optimized(x), eager(x))
    assert "a full deque" in str(optimized.report())


def _asks_whether_it_is_compiled(x: Tensor) -> Tensor:
    return x * 3 if torch.compiler.is_compiling() else x * 2


@torch.no_grad()
def test_neither_the_whole_nor_regions_are_the_model() -> None:
    """The graphs of ``torch.export`` and ``torch.compile`` differ from the model in the same way."""
    optimized = torch2mlir.optimize(
        _asks_whether_it_is_compiled, allow_tracing=True, model_inputs=(CALLS[0],)
    )
    assert "nor are PyTorch's regions of it" in str(optimized.report())
    for x in CALLS:
        torch.testing.assert_close(optimized(x), x * 2)


class Longest(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.longest = 4

    def forward(self, x: Tensor) -> Tensor:
        self.longest = max(self.longest, x.shape[0])
        return x * self.longest


class LongestIf(Longest):
    def forward(self, x: Tensor) -> Tensor:
        if x.shape[0] > self.longest:
            self.longest = x.shape[0]
        return x * self.longest


LENGTHS = (3, 8, 3, 9, 5)


def test_the_longest_size_so_far() -> None:
    with pytest.raises(CaptureError, match="changes what its next call computes"):
        torch2mlir.compile(Longest(), torch.ones(3), dynamic_shapes=({0: Dim.DYNAMIC},))
    compiled = torch2mlir.compile(LongestIf(), torch.ones(3), dynamic_shapes=({0: Dim.DYNAMIC},))
    assert compiled(torch.ones(3)).tolist() == [4, 4, 4]
    with pytest.raises(torch2mlir.InputError):  # a call that would change the next ones
        compiled(torch.ones(8))
    for make in (Longest, LongestIf):
        eager, model = make(), make()
        optimized = torch2mlir.optimize(model, allow_tracing=True, model_inputs=(torch.ones(3),))
        for length in LENGTHS:
            torch.testing.assert_close(optimized(torch.ones(length)), eager(torch.ones(length)))


class Table(nn.Module):
    """Grows by chunks; what is in it depends on the size at which it grew."""

    def __init__(self) -> None:
        super().__init__()
        self.count, self.table = 4, torch.arange(4.0)

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[0] > self.count:
            self.count = 2 * x.shape[0]
            self.table = torch.arange(self.count) / x.shape[0]
        return x + self.table[: x.shape[0]]


def test_a_table_that_depends_on_when_it_grew() -> None:
    dynamic = {"dynamic_shapes": ({0: Dim.DYNAMIC},)}
    with pytest.raises(CaptureError, match="changes what its next call computes"):
        torch2mlir.compile(Table(), torch.ones(5), **dynamic)
    compiled = torch2mlir.compile(Table(), torch.ones(3), **dynamic)
    torch.testing.assert_close(compiled(torch.ones(4)), Table()(torch.ones(4)))
    with pytest.raises(torch2mlir.InputError):
        compiled(torch.ones(8))


class OnlyWritten(nn.Module):
    """What later calls do not read is no reason: the last attention, a table that grows, a largest value to look at."""

    def __init__(self) -> None:
        super().__init__()
        self.last: Any = None
        self.top = torch.zeros(())
        self.known, self.table = 2, torch.arange(2.0)

    def forward(self, x: Tensor) -> Tensor:
        self.last = x.softmax(0)
        self.top = x.amax()
        if x.shape[0] > self.known:
            self.known, self.table = x.shape[0], torch.arange(x.shape[0]).float()
        return self.last + self.table[: x.shape[0]] + self.top


@pytest.mark.filterwarnings("ignore:a call of the model sets")
def test_what_no_later_call_reads_is_taken() -> None:
    model, eager = OnlyWritten(), OnlyWritten()
    compiled = torch2mlir.compile(model, torch.randn(5), dynamic_shapes=({0: Dim.DYNAMIC},))
    for size in (5, 3, 8, 5):
        x = torch.randn(size)
        torch.testing.assert_close(compiled(x), eager(x))


class Resized(nn.Module):
    """PyTorch's observers of channels keep the least of each so."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("low", torch.tensor([]))

    def forward(self, x: Tensor) -> Tensor:
        low = x.amin(0)
        if self.low.numel():
            low = torch.minimum(low, self.low)
        self.low.resize_(low.shape)
        self.low.copy_(low)
        return x - low


class Unsqueezed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("scale", torch.ones(2, 3))

    def forward(self, x: Tensor) -> Tensor:
        self.scale.unsqueeze_(0)
        return x * self.scale.sum()


class FilledFromEmpty(nn.Module):
    """What ``out=`` gives the result's sizes; a program would write to what is there."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("low", torch.tensor([]))

    def forward(self, x: Tensor) -> Tensor:
        torch.mul(x.amin(0), 2, out=self.low)
        return x - self.low


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.parametrize("make", [Resized, Unsqueezed, FilledFromEmpty])
@torch.no_grad()
def test_sizes_of_buffers_are_put_back_after_trials(make: Callable[[], nn.Module]) -> None:
    eager, model, x = make(), make(), torch.randn(2, 3)
    with pytest.raises(CaptureError, match="changes the sizes of a tensor"):
        torch2mlir.compile(model, x)
    optimized = torch2mlir.optimize(model, allow_tracing=True, model_inputs=(x,))
    for name, buffer in eager.named_buffers():
        assert torch.equal(model.get_buffer(name), buffer)
    for shift in (10, -5, 3):
        torch.testing.assert_close(optimized(x + shift), eager(x + shift))
    for name, buffer in eager.named_buffers():
        torch.testing.assert_close(model.get_buffer(name), buffer)


def _squeezed(x: Tensor) -> Tensor:
    x.squeeze_()
    return x.sum() + x.shape[0]


def _transposed(x: Tensor) -> Tensor:
    x.mul_(2).t_()
    return x.sum(0)


def _own(x: Tensor) -> Tensor:
    y = x.view(x.shape)
    y.unsqueeze_(0)
    y += 1
    return y


def test_sizes_of_arguments_changed_in_place() -> None:
    for function, x in ((_squeezed, torch.randn(1, 4, 3)), (_transposed, torch.randn(2, 3))):
        with pytest.raises(CaptureError, match="changes the sizes of a tensor"):
            torch2mlir.compile(function, x)
        optimized = torch2mlir.optimize(function, allow_tracing=True, model_inputs=(x,))
        for _ in range(3):
            one = torch.randn(x.shape)
            other = one.clone()
            torch.testing.assert_close(optimized(one), function(other))
            torch.testing.assert_close(one, other)


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.parametrize(("given", "there"), [(1, 4), (3, 0), (3, 5), (1, 0)])
def test_a_result_of_other_sizes_than_out(given: int, there: int) -> None:
    """A result of one element was written to all of what was there."""

    class Doubled(nn.Module):
        def forward(self, x: Tensor, out: Tensor) -> Tensor:
            torch.mul(x, 2, out=out)
            return out + 1

    doubled, x = Doubled(), torch.randn(given)
    with pytest.raises(CaptureError, match="changes the sizes of a tensor"):
        torch2mlir.compile(doubled, x, torch.ones(there))
    exported = torch.export.export(doubled, (x, torch.ones(there)))
    with pytest.raises(CaptureError, match="changes the sizes of a tensor"):
        torch2mlir.compile(exported)
    optimized = torch2mlir.optimize(doubled, allow_tracing=True)
    for shift in range(3):
        one, other = torch.ones(there), torch.ones(there)
        torch.testing.assert_close(optimized(x + shift, one), doubled(x + shift, other))
        torch.testing.assert_close(one, other)


def test_a_view_of_an_argument_has_its_own_sizes() -> None:
    compiled = torch2mlir.compile(_own, torch.randn(2, 3))
    for _ in range(3):
        x = torch.randn(2, 3)
        other = x.clone()
        torch.testing.assert_close(compiled(x), _own(other))
        torch.testing.assert_close(x, other)
