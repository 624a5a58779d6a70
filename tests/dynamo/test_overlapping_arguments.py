"""Arguments that share memory with one that is written to, without being it: PyTorch takes the call."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor

import torch2mlir
from torch2mlir import dynamo
from torch2mlir.errors import InputError


def _written(x: Tensor, y: Tensor) -> Tensor:
    x.add_(1)
    return x + y * 2


def _apart() -> tuple[Tensor, Tensor]:
    return torch.arange(4.0)[1:], torch.arange(3.0)


def _shifted() -> tuple[Tensor, Tensor]:
    x = torch.arange(4.0)
    return x[:3], x[1:]


def _interleaved() -> tuple[Tensor, Tensor]:
    x = torch.arange(6.0)
    return x[::2], x[1::2]


def _both() -> tuple[Tensor, Tensor]:
    x = torch.arange(3.0)
    return x, x[:]


@pytest.mark.parametrize("entrance", ["regions", "torch.compile"])
@pytest.mark.parametrize("overlapping", [_shifted, _both])
def test_they_are_written_as_in_eager_mode(
    entrance: str, overlapping: Callable[[], tuple[Tensor, Tensor]]
) -> None:
    if entrance == "regions":
        compiled = torch2mlir.optimize(_written, allow_tracing=False)
    else:
        compiled = torch.compile(_written, backend="torch2mlir")
    for arguments in (_apart, overlapping, _interleaved, overlapping):
        given, expected = arguments(), arguments()
        torch.testing.assert_close(compiled(*given), _written(*expected))
        torch.testing.assert_close(given, expected)
    if entrance == "regions":
        assert "for arguments that share memory: 2" in str(compiled.report())


@pytest.fixture
def counted_anew() -> Iterator[None]:
    dynamo.reset_metrics()
    yield
    dynamo.reset_metrics()


@pytest.mark.usefixtures("counted_anew")
def test_what_overlaps_from_the_start_is_compiled() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(_written, backend="torch2mlir")
    for arguments, runs in ((_both, 0), (_both, 0), (_apart, 1), (_shifted, 2), (_both, 2)):
        given, expected = arguments(), arguments()
        torch.testing.assert_close(compiled(*given), _written(*expected))
        torch.testing.assert_close(given, expected)
        if arguments is _both:
            assert dynamo.metrics().fallbacks["a call of a graph"] == runs


def test_without_fallback_they_are_refused() -> None:
    compiled = torch.compile(_written, backend="torch2mlir", options={"fallback": False})
    torch.testing.assert_close(compiled(*_apart()), _written(*_apart()))
    with pytest.raises(InputError, match="shares memory"):
        compiled(*_shifted())


def test_a_weight_that_comes_to_lie_there() -> None:
    compiled = torch.compile(_written, backend="torch2mlir")
    weights = [torch.nn.Parameter(torch.arange(4.0), requires_grad=False) for _ in range(2)]
    for moves in (False, False, True, True, False):
        memory = [torch.arange(5.0) for _ in range(2)]
        outcomes = []
        for function, weight, x in zip((compiled, _written), weights, memory, strict=True):
            weight.data = x[1:] if moves else torch.arange(4.0)
            outcomes.append((function(x[:4], weight), x))
        torch.testing.assert_close(*outcomes)


def test_results_of_no_elements_can_be_resized() -> None:
    """TorchDynamo takes a graph apart at ``out=`` with a result of another size."""

    def added(x: Tensor) -> Tensor:
        result = torch.empty(0)
        torch.add(x, 1, out=result)
        return result * 2

    compiled = torch.compile(added, backend="torch2mlir")
    for size in (4, 4, 1):
        x = torch.randn(size)
        torch.testing.assert_close(compiled(x), added(x))
    dynamo.reset_metrics()
