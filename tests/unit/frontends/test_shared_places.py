"""Writes to tensors several of whose elements may be one place of memory, on every entrance: never another value."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor

import torch2mlir
from torch2mlir import lazy

Program = Callable[[Tensor], Tensor]

DIALECTS = ["linalg-on-tensors", "tosa", "stablehlo"]


def _masked_row(m: Tensor) -> None:
    m.expand(2, 4)[0].fill_(0.0)


def _masked(m: Tensor) -> None:
    m.expand(2, 4).masked_fill_(torch.ones(2, 4, device=m.device) > 0, 0.0)


def _part_of_a_row(m: Tensor) -> None:
    first, _ = m.expand(2, 4).unbind(0)
    first[1:] = 1.0


def _out(m: Tensor) -> None:
    torch.add(torch.ones(4, device=m.device), 1.0, out=m.expand(2, 4)[1])


def _in_a_function(m: Tensor) -> None:
    torch.nn.functional.relu(m.expand(2, 4)[0], True)


def _in_a_list(m: Tensor) -> None:
    torch._foreach_mul_([m.expand(2, 4)[0]], 0.0)


def _by_broadcasting(m: Tensor) -> None:
    torch.broadcast_tensors(m, torch.zeros(3, 1, device=m.device))[0][0].fill_(1.0)


def _by_a_grid(m: Tensor) -> None:
    torch.meshgrid(m, torch.zeros(3, device=m.device), indexing="ij")[0][1:, 0].fill_(1.0)


EXPANDED = [
    _masked_row,
    _masked,
    _part_of_a_row,
    _out,
    _in_a_function,
    _in_a_list,
    _by_broadcasting,
    _by_a_grid,
]


def _overlapping_row(m: Tensor) -> None:
    m.as_strided((3, 2), (1, 1))[0].fill_(0.0)


def _overlapping_column(m: Tensor) -> None:
    m.as_strided((3, 2), (1, 1))[:, 1].add_(1.0)


def _overlapping_in_a_larger_step(m: Tensor) -> None:
    m.as_strided((2, 3), (1, 1))[1].mul_(0.5)


def _grid_of_one(m: Tensor) -> None:
    torch.meshgrid(m, torch.zeros(1, device=m.device), indexing="ij")[0][1:].fill_(1.0)


def _broadcast_to_more_dimensions(m: Tensor) -> None:
    torch.broadcast_tensors(m, torch.zeros(1, 1, device=m.device))[0][:, 1:].fill_(1.0)


OVERLAPPING = [
    _overlapping_row,
    _overlapping_column,
    _overlapping_in_a_larger_step,
    _grid_of_one,
    _broadcast_to_more_dimensions,
]


def _nothing(m: Tensor) -> None:
    m.expand(4).fill_(1.0)


def _one_more_dimension(m: Tensor) -> None:
    m.expand(1, 4)[0, 1:].fill_(1.0)


def _three_more_dimensions(m: Tensor) -> None:
    m.expand(1, 1, 1, 4)[..., :2] = 2.0


def _as_itself(m: Tensor) -> None:
    m.view(1, 4).expand_as(m.view(1, 4)).mul_(0.5)


def _masked_broadcast(m: Tensor) -> None:
    m.broadcast_to(1, 4).masked_fill_(torch.arange(4, device=m.device) > 1, 2.0)


def _kept_sizes(m: Tensor) -> None:
    m.view(2, 2).t().expand(1, -1, 2)[0, 0].zero_()


def _broadcast_with_itself(m: Tensor) -> None:
    torch.broadcast_tensors(m, m)[0][1:].fill_(1.0)


def _broadcast_beside_less(m: Tensor) -> None:
    torch.broadcast_tensors(m[:1], m)[1][1:].fill_(1.0)


def _broadcast_with_itself_in_one_call(m: Tensor) -> None:
    torch._foreach_mul_(torch.broadcast_tensors(m, m)[:1], 0.5)
    torch._foreach_mul_(list(torch.broadcast_tensors(m, m))[1:], 0.5)


def _grid_alone(m: Tensor) -> None:
    torch.meshgrid(m, indexing="ij")[0][1:].fill_(1.0)


def _disjoint_places(m: Tensor) -> None:
    m.as_strided((2, 2), (2, 1))[0].fill_(1.0)


NOTHING_EXPANDED = [
    _nothing,
    _one_more_dimension,
    _three_more_dimensions,
    _as_itself,
    _masked_broadcast,
    _kept_sizes,
    _broadcast_with_itself,
    _broadcast_with_itself_in_one_call,
    _broadcast_beside_less,
]
SAID_OTHERWISE = [_grid_alone, _disjoint_places]
"""What only a capture knows to share no places; the lazy device refuses the first and cannot run the second."""


def _writing(write: Callable[[Tensor], None]) -> Program:
    """A program that writes to what may be infinite, or much larger than what is written."""

    def program(x: Tensor) -> Tensor:
        m = x * 1e20
        write(m)
        return m + 0

    return program


def _values() -> Sequence[Tensor]:
    large = torch.tensor([1.0, -3.0, 7.0, 2.0])
    return large, torch.full((4,), -torch.inf), torch.tensor([torch.inf, 0.0, -1.0, -0.5])


def _name(write: Callable[[Tensor], None]) -> str:
    return write.__name__.strip("_")


@pytest.mark.share(32)
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("write", NOTHING_EXPANDED + SAID_OTHERWISE, ids=_name)
def test_expanding_nothing_is_a_view(write: Callable[[Tensor], None], dialect: str) -> None:
    """PyTorch's functionalization added the difference to what was there: NaN of infinities, 0 of 1 over 1e20."""
    program = _writing(write)
    compiled = torch2mlir.compile(program, torch.ones(4), output_type=dialect)
    for x in _values():
        torch.testing.assert_close(compiled(x), program(x))


@pytest.mark.parametrize("write", EXPANDED + OVERLAPPING, ids=_name)
@pytest.mark.filterwarnings("ignore:Use of masked_fill_ on expanded tensors")
def test_compile_refuses_shared_places(write: Callable[[Tensor], None]) -> None:
    with pytest.raises(torch2mlir.CaptureError, match="one place of memory") as caught:
        torch2mlir.compile(_writing(write), torch.ones(4))
    assert caught.value.location is not None and __file__ in caught.value.location
    assert "clone()" in str(caught.value)


@pytest.mark.share(8)
@pytest.mark.parametrize(
    "write", EXPANDED + OVERLAPPING + NOTHING_EXPANDED + SAID_OTHERWISE, ids=_name
)
@pytest.mark.filterwarnings("ignore:Use of masked_fill_ on expanded tensors")
def test_what_is_refused_is_left_to_pytorch(write: Callable[[Tensor], None]) -> None:
    program = _writing(write)
    torch._dynamo.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", torch2mlir.dynamo.FallbackWarning)
        compiled = torch.compile(program, backend="torch2mlir")
        optimized = torch2mlir.optimize(program, model_inputs=(torch.ones(4),))
        for x in _values():
            expected = program(x)
            torch.testing.assert_close(compiled(x), expected, equal_nan=True)
            torch.testing.assert_close(optimized(x), expected, equal_nan=True)


def _in_a_branch(x: Tensor) -> Tensor:
    return torch.cond(x[0] > 0, _expanded_by_one, torch.clone, (x,))


def _expanded_by_one(x: Tensor) -> Tensor:
    m = x * 1e20
    m.expand(1, 4)[0, 1:].fill_(1.0)
    return m + 0


def test_expanding_nothing_in_a_branch() -> None:
    torch._dynamo.reset()
    compiled = torch2mlir.compile(_in_a_branch, torch.ones(4), output_type="linalg-on-tensors")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", torch2mlir.dynamo.FallbackWarning)
        others = torch.compile(_in_a_branch, backend="torch2mlir"), compiled
        for x in _values():
            for other in others:
                torch.testing.assert_close(other(x), _in_a_branch(x))


@pytest.mark.parametrize("write", EXPANDED, ids=_name)
def test_the_lazy_device_refuses_shared_places(write: Callable[[Tensor], None]) -> None:
    with (
        pytest.raises(torch2mlir.CaptureError, match="one place of memory"),
        lazy.device(engine="xla") as device,
    ):
        write(torch.full((4,), -torch.inf).to(device))


@pytest.mark.parametrize("write", NOTHING_EXPANDED, ids=_name)
def test_expanding_nothing_on_the_lazy_device(write: Callable[[Tensor], None]) -> None:
    with lazy.device(engine="xla") as device:
        for x in _values():
            expected, ours = x * 1e20, x.to(device) * 1e20
            write(expected)
            write(ours)
            torch.testing.assert_close(ours.cpu(), expected)
            expected.sub_(expected[:1].clone())
            ours.sub_(ours[:1].expand(4))
            torch.testing.assert_close(ours.cpu(), expected, equal_nan=True)


@pytest.mark.parametrize("is_argument", [True, False])
def test_writes_to_windows_are_left_to_pytorch(is_argument: bool) -> None:
    """AOTAutograd makes the elements that no window covers zero."""

    def function(x: Tensor) -> Tensor:
        y = x if is_argument else x * 2
        y.unfold(0, 2, 2).add_(1)
        return y * 3

    torch._dynamo.reset()
    torch2mlir.dynamo.reset_metrics()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", torch2mlir.dynamo.FallbackWarning)
        compiled = torch.compile(function, backend="torch2mlir")
        for start in range(3):
            given, written = torch.arange(start, start + 3.0), torch.arange(start, start + 3.0)
            torch.testing.assert_close(compiled(given), function(written))
            torch.testing.assert_close(given, written)
    assert torch2mlir.dynamo.metrics().compiled == 0


def test_windows_of_what_has_been_written_to_are_compiled() -> None:
    def function(x: Tensor) -> Tensor:
        y = torch.relu_(x * 2)
        return y.unfold(0, 2, 2) + 1

    torch._dynamo.reset()
    compiled = torch.compile(function, backend="torch2mlir", options={"fallback": False})
    for _ in range(3):
        x = torch.randn(5)
        torch.testing.assert_close(compiled(x), function(x))


def test_an_argument_that_overlaps_itself() -> None:
    def function(x: Tensor) -> Tensor:
        x[0].add_(1.0)
        return x * 2

    compiled = torch2mlir.compile(function, torch.rand(3, 2))
    for _ in range(2):
        x = torch.rand(3, 2)
        given, written = x.clone(), x.clone()
        torch.testing.assert_close(compiled(given), function(written))
        torch.testing.assert_close(given, written)
    with pytest.raises(torch2mlir.InputError, match="one place of memory"):
        compiled(torch.rand(4).as_strided((3, 2), (1, 1)))
