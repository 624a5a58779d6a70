"""What cannot be compiled runs in PyTorch, is told and counted; or is an error."""

from __future__ import annotations

import copy
import pickle
import threading
import warnings
from typing import Any

import pytest
import torch
from torch import nn
from torch._dynamo.exc import BackendCompilerFailed

from tests.dynamo.agreement import assert_close, assert_same, compiled
from torch2mlir import Torch2MLIRError, dynamo

X = torch.linspace(-2, 2, 12).view(3, 4)
LIBRARY = torch.library.Library("dynamo_test", "FRAGMENT")


@pytest.fixture(scope="module", autouse=True)
def unknown_operators() -> None:
    @torch.library.custom_op("dynamo_test::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(x.detach().numpy() * 2)

    twice.register_fake(torch.empty_like)
    twice.register_autograd(lambda context, gradient: gradient * 2)

    @torch.library.custom_op("dynamo_test::triple_", mutates_args=("x",))
    def triple_(x: torch.Tensor) -> None:
        x.mul_(3)


def with_unknown_operator(x: torch.Tensor) -> torch.Tensor:
    return torch.ops.dynamo_test.twice(x.sin()).cos() + torch.ops.dynamo_test.twice(x)


@pytest.mark.filterwarnings("ignore::torch2mlir.dynamo.FallbackWarning")
def test_an_unknown_operator_runs_in_pytorch_and_what_is_around_it_compiled() -> None:
    assert_same(with_unknown_operator, X.clone().requires_grad_(), fallbacks=2)
    metrics = dynamo.metrics()
    assert metrics.fallbacks == {"dynamo_test.twice.default": 2}
    assert "dynamo_test.twice" in str(metrics)
    assert metrics.compiled >= 3


def test_it_is_told_once() -> None:
    with pytest.warns(dynamo.FallbackWarning, match="dynamo_test.twice.default") as found:
        compiled(with_unknown_operator)(X)
    assert len([w for w in found if issubclass(w.category, dynamo.FallbackWarning)]) == 1
    torch._dynamo.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("error", dynamo.FallbackWarning)
        compiled(with_unknown_operator)(X)


@pytest.mark.filterwarnings("ignore::torch2mlir.dynamo.FallbackWarning")
def test_an_operator_that_writes_to_its_argument() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        y = x.sin()
        torch.ops.dynamo_test.triple_(y)
        return y + 1

    assert_same(function, X, fallbacks=1)


def test_without_fallback_the_error_names_the_operator_and_the_line() -> None:
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed) as found:
        compiled(with_unknown_operator, {"fallback": False})(X)
    error = found.value.inner_exception
    assert isinstance(error, Torch2MLIRError)
    assert "dynamo_test.twice" in str(error)
    assert "test_fallback.py" in str(error)


def test_without_fallback_a_size_that_depends_on_elements_is_an_error() -> None:
    with (
        torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True),
        pytest.raises(torch._dynamo.exc.BackendCompilerFailed) as found,
    ):
        compiled(lambda x: x[x > 0].sum(), {"fallback": False})(X)
    assert "depends on the elements" in str(found.value.inner_exception)
    assert "test_fallback.py" in str(found.value.inner_exception)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"engin": "xla"}, "has no option 'engin'"),
        ({"engine": "xla", "output_type": "tosa"}, "does not take 'tosa'"),
        ({"engine": "nobody"}, "no engine 'nobody'"),
        ({"output_type": "torch"}, "cannot be run"),
        ({"fallback": "yes"}, "True or False"),
        ({"cache": 3}, "a directory"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match=message):
        compiled(torch.sin, options)(X)


def test_modes() -> None:
    for mode in ("default", "reduce-overhead", "max-autotune"):
        torch._dynamo.reset()
        assert_close(compiled(torch.sin, mode=mode)(X), X.sin())
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match="unknown mode 'fastest'"):
        compiled(torch.cos, mode="fastest")(X)


def test_eight_threads_call_one_function(request: pytest.FixtureRequest) -> None:
    seconds = 60.0 if request.config.getoption("--full") else 1.0
    model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 4))
    other = compiled(model, dynamic=True)
    with torch.no_grad():
        other(X)
    failures, stop = list[str](), threading.Event()

    def call(seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            while not stop.is_set():
                size = int(torch.randint(2, 6, (), generator=generator))
                x = torch.randn(size, 4, generator=generator)
                if not torch.allclose(other(x), model(x), atol=1e-5):
                    failures.append(f"thread {seed}, size {size}")
                    return

    threads = [threading.Thread(target=call, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    stop.wait(seconds)
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_compiled_module_can_be_copied_and_pickled_as_inductors() -> None:
    model = nn.Linear(4, 4)
    other = torch.compile(model, backend="torch2mlir")
    other(X)
    twin = copy.deepcopy(other)
    assert_close(twin(X), model(X))
    again = pickle.loads(pickle.dumps(other))
    assert_close(again(X), model(X))


def fills_expanded(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    rows = x.expand(4, 4)
    rows.masked_fill_(rows > 1, 5.0)
    return rows + 0, x + 0


@pytest.mark.filterwarnings("ignore:Use of masked_fill_ on expanded tensors")
def test_writes_to_expanded_tensors_are_left_to_pytorch() -> None:
    """AOTAutograd adds up what is written to one place of memory."""
    x = torch.arange(4.0)
    dynamo.reset_metrics()
    with pytest.warns(dynamo.FallbackWarning, match="one place of memory"):
        ours = compiled(fills_expanded)(given := x.clone())
    expected = fills_expanded(written := x.clone())
    assert_close((*ours, given), (*expected, written))
    assert dynamo.metrics().compiled == 0
    with pytest.raises(BackendCompilerFailed, match="one place of memory"):
        compiled(fills_expanded, options={"fallback": False})(x.clone())


class OtherMemory(nn.Module):
    """Gives its weight another tensor's memory in every call."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.weight.data = self.weight.data + 1
        return x * self.weight


def test_a_tensor_gets_other_memory_from_pytorch() -> None:
    """It was compiled, and the weight stayed what it was."""
    model, eager = OtherMemory(), OtherMemory()
    ours = torch.compile(model, backend="torch2mlir")
    with pytest.warns(dynamo.FallbackWarning, match="gives a tensor other memory"):
        assert_close(ours(X), eager(X))
    for _ in range(2):
        assert_close(ours(X), eager(X))
        assert_close(model.weight, eager.weight)


def test_dropout_out_of_training_is_its_input() -> None:
    """AOTAutograd's definition copies it: a write to the input was not seen in the result."""

    def written(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = x * 1
        dropped = nn.functional.dropout(y, training=False)
        y.add_(1)
        return dropped + 0, y + x

    x = torch.arange(4.0)
    assert_same(written, x, options={"fallback": False})


@pytest.mark.parametrize("engine", ["reference", "xla"])
def test_what_ops_need_of_sizes_that_vary_is_asked(engine: str) -> None:
    """Nobody else does: PyTorch's fake tensors take a ``select_scatter`` of any place."""

    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        z = torch.full((x.size(0), 2), 3.0) * y.sum()
        return torch.select_scatter(z, z.select(0, 0), 0, x.size(0) % 3)

    torch._dynamo.reset()
    compiled = torch.compile(
        function, backend="torch2mlir", dynamic=True, options={"engine": engine}
    )
    for size in (4, 3, 7, 2, 4):
        x, y = torch.randn(size, 2), torch.randn(3)
        if size == 2:
            with pytest.raises(IndexError, match="out of range"):
                compiled(x, y)
        else:
            torch.testing.assert_close(compiled(x, y), function(x, y))
