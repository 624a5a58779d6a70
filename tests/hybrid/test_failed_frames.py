"""``optimize`` runs what PyTorch's analysis fails at, and raises what the model raises."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch._dynamo.variables.tensor import TensorVariable

import torch2mlir


class WithoutPlaces(nn.Module):
    """A convolution whose result has no place; on fake tensors PyTorch refuses it."""

    def __init__(self) -> None:
        super().__init__()
        self.transposed = nn.ConvTranspose1d(1, 1, kernel_size=2, padding=1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.erf(self.transposed(x)), x.sin() + x.cos()


def test_what_cannot_be_analysed_runs_in_python(capfd: pytest.CaptureFixture[str]) -> None:
    model = WithoutPlaces().eval()
    optimized = torch2mlir.optimize(model, model_inputs=torch.randn(3, 1, 1))
    for _ in range(3):
        x = torch.randn(3, 1, 1)
        with torch.no_grad():
            torch.testing.assert_close(optimized(x), model(x))
    assert "fake tensor call" in str(optimized.report())
    assert capfd.readouterr().err == ""
    assert not torch._dynamo.config.suppress_errors


def test_errors_are_the_models_own() -> None:
    def model(x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            x = x + 1
        return x @ x

    optimized = torch2mlir.optimize(model)
    square = torch.ones(2, 2)
    torch.testing.assert_close(optimized(square), model(square))
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        optimized(torch.ones(2, 3))
    torch.testing.assert_close(optimized(-square), model(-square))


def test_a_number_of_a_tensor_between_regions(capfd: pytest.CaptureFixture[str]) -> None:
    """PyTorch warned of the break, once in a process, and told how its own configuration prevents it."""

    def model(x: torch.Tensor) -> torch.Tensor:
        y = x.sin() + x.cos()
        return y * 2 if int(y.argmax()) > 1 else y.tolist()[0] + y

    TensorVariable._warn_capture_scalar_outputs.cache_clear()
    optimized = torch2mlir.optimize(model, allow_tracing=False)
    for _ in range(3):
        x = torch.randn(4)
        torch.testing.assert_close(optimized(x), model(x))
    assert capfd.readouterr().err == ""


class OfTwo(nn.Module):
    """Refuses arguments whose sizes do not go together, after it has counted the call."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return torch.relu(self.linear(x)) + y


def of_two(rows: int, others: int | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(rows, 8), torch.randn(others or rows, 8)


@pytest.mark.parametrize("allow_tracing", [True, False])
def test_a_refused_call_changes_nothing_for_others(
    allow_tracing: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    model, eager = OfTwo().eval(), OfTwo().eval()
    eager.load_state_dict(model.state_dict())
    optimized = torch2mlir.optimize(model, allow_tracing)
    with torch.no_grad():
        for arguments in (of_two(4), of_two(5), of_two(6)):
            torch.testing.assert_close(optimized(*arguments), eager(*arguments))
        for _ in range(2):
            refused = of_two(3, 4)
            for each in (optimized, eager):
                with pytest.raises(RuntimeError, match="must match the size"):
                    each(*refused)
            assert torch.equal(model.calls, eager.calls)
            before = sum(cluster.calls for cluster in optimized.report().clusters)
            for arguments in (of_two(7), of_two(4), of_two(8)):
                torch.testing.assert_close(optimized(*arguments), eager(*arguments))
            after = sum(cluster.calls for cluster in optimized.report().clusters)
            assert after >= before + 3
    assert torch.equal(model.calls, eager.calls)
    assert "making fake tensor call" not in str(optimized.report())
    assert capfd.readouterr().err == ""


def test_refused_examples() -> None:
    model = OfTwo().eval()
    with pytest.raises(RuntimeError, match="must match the size"):
        torch2mlir.optimize(model, model_inputs=of_two(3, 4))
    assert model.calls == 0


def test_a_kind_of_call_that_has_breaks_leaves_the_others_whole() -> None:
    def model(x: torch.Tensor, by_sum: bool) -> torch.Tensor:
        x = torch.erf(x)
        if by_sum and x.sum() > 0:
            x = x + 1
        return x.cos()

    optimized = torch2mlir.optimize(model, model_inputs=(torch.randn(4), False))
    for sign in (1, -1, 1):
        x = sign * torch.rand(4)
        torch.testing.assert_close(optimized(x, True), model(x, True))
        torch.testing.assert_close(optimized(x, False), model(x, False))
    report = str(optimized.report())
    assert "captured whole" in report
    assert "region by region" in report


def test_calls_without_a_graph_are_told() -> None:
    """PyTorch gives up on the whole function: it breaks inside of a loop."""

    def periods(x: torch.Tensor) -> torch.Tensor:
        chosen = (x * 2).relu().sum(0).topk(2)[1].numpy()
        parts = []
        for each in range(2):
            parts.append(x.sin() * int(chosen[each]))
        return torch.stack(parts).tanh()

    optimized = torch2mlir.optimize(periods)
    for _ in range(3):
        x = torch.randn(5, 4)
        torch.testing.assert_close(optimized(x), periods(x))
    report = optimized.report()
    assert report.pytorch_calls.total() == 3
    assert any("Python between regions" in line for line in report.capture)
