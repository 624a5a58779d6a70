"""The guard finds an engine that writes into what it was lent; ``verify`` finds one that is wrong; both let others be."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode

import torch2mlir
from torch2mlir.errors import EngineError, InputError
from torch2mlir.runtime.engine import Engine, Executable, Prepared, get_engine
from torch2mlir.runtime.lowered import LoweredFunction

ENGINES = (("stablehlo", "xla"), ("linalg-on-tensors", "iree"), ("linalg-on-tensors", "reference"))


class Spoiling(Engine):
    """The reference engine, with something done to the arguments or results of each call."""

    name = "spoiling"
    output_types = frozenset({"linalg-on-tensors"})

    def __init__(self, argument: int | None = None, result: int | None = None) -> None:
        self.argument = argument
        self.result = result

    def compile(self, function: LoweredFunction) -> Executable:
        return SpoilingExecutable(get_engine("reference").compile(function), self)


class SpoilingExecutable(Executable):
    def __init__(self, executable: Executable, engine: Spoiling) -> None:
        super().__init__(executable.function)
        self.executable = executable
        self.engine = engine

    def prepare(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor

    def run(self, args: Sequence[Any]) -> list[torch.Tensor]:
        results = self.executable.run(args)
        if self.engine.argument is not None:
            args[self.engine.argument].view(-1)[1] += 1
        if self.engine.result is not None:
            results[self.engine.result].view(-1)[3] += 1
        return results


def compiled(model: Any, *args: Any, engine: Any, **options: Any) -> Any:
    return torch2mlir.compile(
        model, *args, output_type="linalg-on-tensors", engine=engine, **options
    )


@torch.no_grad()
def test_the_guard_names_the_input_that_was_written() -> None:
    x, y = torch.randn(4), torch.randn(4)
    f = compiled(torch.add, x, y, engine=Spoiling(argument=0), guard=True)
    with pytest.raises(EngineError, match="'spoiling' has written into input"):
        f(x, y)


@torch.no_grad()
def test_the_guard_names_the_weight_that_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    model = nn.Linear(4, 4)
    monkeypatch.setenv("TORCH2MLIR_GUARD", "1")
    f = compiled(model, torch.randn(2, 4), engine=Spoiling(argument=1), prepare_weights=False)
    with pytest.raises(EngineError, match="has written into the model's 'weight'"):
        f(torch.randn(2, 4))
    monkeypatch.setenv("TORCH2MLIR_GUARD", "0")
    f = compiled(model, torch.randn(2, 4), engine=Spoiling(argument=1), prepare_weights=False)
    f(torch.randn(2, 4))


@torch.no_grad()
def test_the_guard_sees_memory_an_engine_holds() -> None:
    from torch2mlir.runtime.guard import Guard

    held = torch.ones(8)
    guard = Guard("any")
    guard.watch([("a weight", Prepared(None, held.dtype, (8,), held.data_ptr(), False))])
    guard.check()
    held[3] = 2
    with pytest.raises(EngineError, match="'any' has written into a weight: 2 of 32 bytes"):
        guard.check()


class Counting(nn.Module):
    """Writes to its own state, and to an input."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("count", torch.zeros(4))

    def forward(self, x: torch.Tensor, total: torch.Tensor) -> torch.Tensor:
        self.count.add_(1)
        total.add_(x.sum(0))
        return self.linear(x) + self.count


@torch.no_grad()
@pytest.mark.parametrize(("output_type", "engine"), ENGINES)
@pytest.mark.share(2)
def test_a_program_that_is_right_passes_both_and_its_state_is_written_once(
    output_type: str, engine: str
) -> None:
    model = Counting()
    f = torch2mlir.compile(
        model,
        torch.randn(3, 4),
        torch.zeros(4),
        output_type=output_type,
        engine=engine,
        guard=True,
        verify=True,
    )
    before = model.count.clone()
    for calls in range(1, 4):
        x, total = torch.randn(3, 4), torch.zeros(4)
        f(x, total)
        assert torch.equal(model.count, before + calls)
        torch.testing.assert_close(total, x.sum(0))


@torch.no_grad()
def test_verify_names_the_output_the_place_and_the_error() -> None:
    x = torch.arange(1.0, 7.0).reshape(2, 3)
    f = compiled(lambda x: (x + 1, x * 2), x, engine=Spoiling(result=1), verify=True)
    said = "'spoiling' does not agree with PyTorch: output 1 is 9.0 at [1, 0] where it is 8.0 in PyTorch (error 1"
    with pytest.raises(EngineError, match=re.escape(said)):
        f(x)


@torch.no_grad()
def test_verify_looks_at_the_first_call_of_each_combination_of_sizes() -> None:
    engine = Spoiling()
    rows = {0: torch.export.Dim("rows")}
    f = compiled(
        lambda x: x.sin(), torch.randn(4), engine=engine, verify=True, dynamic_shapes=(rows,)
    )
    f(torch.randn(4))
    engine.result = 0
    f(torch.randn(4))  # compared already
    with pytest.raises(EngineError, match="output 0"):
        f(torch.randn(5))


@pytest.mark.parametrize(
    ("output_type", "engine"),
    [*ENGINES, ("tosa", "iree"), ("onnx", "onnxruntime"), ("onnx", "openvino")],
)
def test_a_tensor_without_memory_is_refused(output_type: str, engine: str) -> None:
    f = torch2mlir.compile(torch.sin, torch.randn(3), output_type=output_type, engine=engine)
    with FakeTensorMode() as mode:
        fake = mode.from_tensor(torch.randn(3))
    functional = torch._to_functional_tensor(torch.randn(3))
    for strange in (fake, functional):
        with pytest.raises(InputError, match="engines take tensors with elements"):
            f(strange)
    with pytest.raises(InputError, match="engines take tensors with elements"):
        torch.vmap(f)(torch.randn(2, 3))
    with pytest.raises(InputError, match="dense CPU tensors"):
        f(torch.randn(3, device="meta"))
    x = torch.randn(3)
    torch.testing.assert_close(f(x), torch.sin(x))


def test_the_guard_takes_one_element_without_strides() -> None:
    from torch2mlir.runtime.guard import Guard

    guard = Guard("any")
    guard.watch([("a number", torch.zeros(1).expand(1).as_strided((1,), (0,)))])
    guard.check()


@pytest.mark.parametrize("guard", [False, True])
def test_tensors_that_are_not_dense_are_refused(guard: bool) -> None:
    """The guard takes a copy of what a call is given, and these have no memory of the usual kind."""
    function = torch2mlir.compile(lambda x: x * 2, torch.ones(2, 3), guard=guard)
    x = torch.randn(2, 3)
    for kind, layout in ((Tensor.to_sparse, "sparse_coo"), (Tensor.to_sparse_csr, "sparse_csr")):
        with pytest.raises(InputError, match=f"dense CPU tensors, got torch.{layout}"):
            function(kind(x))
    for layout in (torch.strided, torch.jagged):
        nested = torch.nested.nested_tensor([x[0], x[1, :2]], layout=layout)
        with pytest.raises(InputError, match="input 'x' is a nested tensor") as caught:
            function(nested)
        assert "to_padded_tensor" in str(caught.value)
    torch.testing.assert_close(function(x), x * 2)
