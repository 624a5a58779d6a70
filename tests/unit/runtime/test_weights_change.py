"""What a compiled program computes from its weights is computed again when, and only when, they change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import torch2mlir
from torch2mlir.runtime.compiled import CompiledFunction
from torch2mlir.runtime.samples import Samples

ENGINES = [("stablehlo", "xla"), ("linalg-on-tensors", "iree"), ("linalg-on-tensors", "reference")]


class Scaled(nn.Module):
    """Computes from its weights alone: a scale, and a weight used in two ways."""

    variance: torch.Tensor

    def __init__(self, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(4, 4, dtype=dtype))
        self.register_buffer("variance", torch.rand(4, dtype=dtype) + 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        squared = self.weight * self.weight
        return (x @ self.weight.exp() + x @ squared) * torch.rsqrt(self.variance) + self.weight[0]


def agrees(run: CompiledFunction, model: nn.Module, *shape: int) -> None:
    """Results are eager's for values that no call had before: what a call keeps of another would show."""
    x = torch.rand(shape)
    torch.testing.assert_close(run(x), model(x).detach())


def counted(run: CompiledFunction) -> list[int]:
    """How often the weights have been prepared, counted from here on."""
    calls = list[int]()
    for prepared in run._prepare.values():
        inner = prepared._executable

        def count(args: Any, inner: Any = inner) -> list[torch.Tensor]:
            calls.append(1)
            return inner(args)

        prepared._executable = count  # type: ignore[assignment]
    return calls


def replace_data(model: Scaled) -> None:
    model.weight.data = torch.rand(4, 4)


def transpose_data(model: Scaled) -> None:
    model.weight.data = model.weight.data.t()


def load(model: Scaled) -> None:
    model.load_state_dict(Scaled().state_dict())


def write_buffer(model: Scaled) -> None:
    model.variance.mul_(3)


def step(model: Scaled) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    model(torch.rand(2, 4)).sum().backward()
    optimizer.step()


def fused_step(model: Scaled) -> None:
    """PyTorch counts no write of it."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, fused=True)
    model(torch.rand(2, 4)).sum().backward()
    optimizer.step()


@pytest.mark.parametrize(("output_type", "engine"), ENGINES)
@pytest.mark.share(2)
def test_changes_are_seen(output_type: str, engine: str) -> None:
    model, x = Scaled(), torch.rand(2, 4)
    run = torch2mlir.compile(model, x, output_type=output_type, engine=engine)
    assert "@main_prepare" in run.text()
    calls = counted(run)
    for _ in range(3):
        agrees(run, model, 2, 4)
    assert len(calls) == 1
    changes: list[Callable[[Scaled], None]]
    changes = [replace_data, transpose_data, load, write_buffer, step, fused_step]
    for number, change in enumerate(changes, 2):
        change(model)
        for _ in range(2):
            agrees(run, model, 2, 4)
        assert len(calls) == number, change.__name__


def through_numpy(weight: torch.Tensor) -> None:
    weight.detach().numpy()[:] += 1


UNCOUNTED: list[Callable[[torch.Tensor], Any]] = [
    lambda weight: weight.data.mul_(2),
    lambda weight: weight.data.copy_(torch.rand(weight.shape)),
    lambda weight: weight.data.fill_(-0.0),
    lambda weight: weight.data.fill_(0.0),
    lambda weight: weight.data.t()[-1:].fill_(3.0),
    through_numpy,
]


@pytest.mark.share(4)
@torch.no_grad()
@pytest.mark.parametrize("engine", ["xla", "iree", "onnxruntime", "openvino", "reference"])
def test_what_pytorch_does_not_count_is_seen(engine: str) -> None:
    model = nn.Sequential(nn.Linear(5, 7), nn.BatchNorm1d(7), nn.Tanh(), nn.Linear(7, 3)).eval()
    x = torch.rand(2, 5)
    run = torch2mlir.compile(model, x, engine=engine)
    for write in UNCOUNTED:
        for weight in model.parameters():
            write(weight if weight.dim() == 2 else weight[None])
        for _ in range(2):
            torch.testing.assert_close(run(x), model(x))


def test_a_part_of_a_weight_needs_a_refresh() -> None:
    model, x = Scaled(), torch.rand(2, 4)
    run = torch2mlir.compile(model, x)
    run(x)
    model.weight.data[1, 1] = 7
    run.refresh()
    agrees(run, model, 2, 4)


def test_elements_that_are_looked_at() -> None:
    tensors = [torch.zeros(3, 5), torch.zeros(4, 4).t(), torch.zeros(6, 6)[:, 2:4], torch.zeros(())]
    tensors += [torch.zeros(2, 3, dtype=dtype) for dtype in (torch.bool, torch.half, torch.cdouble)]
    samples = Samples([*tensors, torch.zeros(0, 3), torch.zeros(2).to_sparse()])
    assert samples.are_current()
    for tensor in tensors:
        tensor.data.fill_(1)
        assert not samples.are_current()
        tensor.data.fill_(0)
        assert samples.are_current()
    tensors[0][0, 0] = -0.0
    assert not samples.are_current()


def test_nothing_is_prepared_when_it_is_not_wanted() -> None:
    model, x = Scaled(), torch.rand(2, 4)
    run = torch2mlir.compile(model, x, prepare_weights=False)
    assert "@main_prepare" not in run.text()
    run(x)
    model.weight.data.mul_(2)
    agrees(run, model, 2, 4)


def test_weights_that_count_no_writes_are_not_prepared() -> None:
    with torch.inference_mode():
        model = Scaled().requires_grad_(False)
    x = torch.rand(2, 4)
    run = torch2mlir.compile(model, x)
    assert "@main_prepare" not in run.text()
    torch.testing.assert_close(run(x), model(x).detach())


def test_a_weight_that_counts_no_writes_may_take_the_place_of_one_that_does() -> None:
    model, x = Scaled(), torch.rand(2, 4)
    run = torch2mlir.compile(model, x)
    assert "@main_prepare" in run.text()
    with torch.inference_mode():
        model.weight = nn.Parameter(torch.rand(4, 4), requires_grad=False)
        for _ in range(3):
            agrees(run, model, 2, 4)
            model.weight.mul_(2)


class Counter(nn.Module):
    """Writes a buffer that it computes with."""

    state: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("state", torch.ones(4))
        self.weight = nn.Parameter(torch.rand(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x * self.state.exp() * self.weight.exp()
        self.state.mul_(0.5)
        return y


def test_a_buffer_that_is_written_is_not_prepared() -> None:
    x, eager, model = torch.rand(4), Counter(), Counter()
    model.load_state_dict(eager.state_dict())
    run = torch2mlir.compile(model, x)
    prepare = run.text().split("@main_prepare")[1]
    assert prepare.count("exponential") == 1
    for _ in range(3):
        agrees(run, eager, 4)
    torch.testing.assert_close(model.state, eager.state)


def test_shared_weights_and_tied_views() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(8, 4)
            self.head = nn.Linear(4, 8, bias=False)
            self.head.weight = self.embedding.weight

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            return self.embedding(ids) @ self.head.weight.sigmoid().t()

    model, ids = Tied(), torch.tensor([1, 5, 2])
    run = torch2mlir.compile(model, ids)
    for given in (ids, torch.tensor([7, 0, 5])):
        torch.testing.assert_close(run(given), model(given).detach())
        with torch.no_grad():
            model.embedding.weight.add_(1)


def test_all_sizes_share_what_is_prepared() -> None:
    model, x = Scaled(), torch.rand(2, 4)
    batch = torch.export.Dim("batch", min=2)
    run = torch2mlir.compile(model, x, dynamic_shapes={"x": {0: batch}})
    for size in (2, 3, 5):
        x = torch.rand(size, 4)
        torch.testing.assert_close(run(x), model(x).detach())
    assert len(run.shapes) == 3 and len(run._prepare) == 1
    calls = counted(run)
    with torch.no_grad():
        model.weight.add_(1)
    for size in (2, 3, 5):
        x = torch.rand(size, 4)
        torch.testing.assert_close(run(x), model(x).detach())
    assert len(calls) == 1


@pytest.mark.share(4)
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize(("output_type", "engine"), ENGINES[:2])
def test_other_dtypes(output_type: str, engine: str, dtype: torch.dtype) -> None:
    model, x = Scaled(dtype), torch.rand(2, 4, dtype=dtype)
    run = torch2mlir.compile(model, x, output_type=output_type, engine=engine)
    torch.testing.assert_close(run(x), model(x).detach(), rtol=2e-2, atol=2e-2)


def test_quantized_weights_are_dequantized_once() -> None:
    class Quantized(nn.Module):
        q: torch.Tensor
        scale: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("q", torch.randint(-128, 127, (8, 4), dtype=torch.int8))
            self.register_buffer("scale", torch.rand(8, 1))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return nn.functional.linear(x, self.q * self.scale)

    model, x = Quantized(), torch.rand(3, 4)
    run = torch2mlir.compile(model, x)
    main, prepare = run.text().split("@main_prepare")
    assert "convert" in prepare and "convert" not in main
    torch.testing.assert_close(run(x), model(x))
