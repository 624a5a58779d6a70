"""TorchScript's objects, graphs and files as programs of the torch dialect, compiled and run."""

from pathlib import Path
from typing import Any, Optional

import pytest
import torch
from torch import nn

import torch2mlir
from torch2mlir import torchscript
from torch2mlir.errors import BackendContractError
from torch2mlir.torchscript import ExampleArgs, TensorPlaceholder


def helper(x):
    return x + 1


class Tied(nn.Module):
    """One submodule by two names, constants of several kinds, a loop, an assert and a nested result."""

    maybe: Optional[int]  # noqa: UP045 - as TorchScript reads it

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.second = self.first
        self.maybe = None
        self.pair = (2, "name")
        self.tensors = [torch.ones(4)]

    def encode(self, x):
        return helper(x)

    def forward(self, x):
        y = self.first(x)
        for _ in range(self.pair[0]):
            if y.dim() > 1:
                y = y + self.tensors[0]
        assert y.dim() == 2, "rank"
        if self.maybe is None:
            y = y * 2
        return torch.nn.functional.relu(y), (self.encode(x), self.second(x)), None


def check(model: Any, example: Any, *args: torch.Tensor, **how: Any) -> None:
    program = torchscript.capture(model, example, **how)
    compiled = torch2mlir.compile(program, output_type="linalg-on-tensors", engine="reference")
    eager = torch.jit.load(model) if isinstance(model, str) else model
    with torch.no_grad():
        torch.testing.assert_close(compiled(*args), eager(*args))


X = torch.randn(2, 3)


def test_a_view_waits_for_sizes_that_tensors_hold() -> None:
    """Traced sizes are tensors: what PyTorch makes of a view at examples is tried before they are numbers."""

    class Heads(nn.Module):
        def forward(self, x):
            y = x.unflatten(-1, (2, 4)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
            return y[0].view(x.shape[0], x.shape[1] * 2, y.shape[3] // 2)

    check(Heads(), [torch.randn(2, 3, 8)], torch.randn(2, 3, 8), use_tracing=True)


def test_sizes_that_a_trace_computes_in_floats() -> None:
    class Resized(nn.Module):
        def forward(self, x):
            return nn.functional.interpolate(
                x, scale_factor=1.7, mode="bilinear", recompute_scale_factor=True
            )

    check(Resized(), [torch.randn(1, 2, 4, 5)], torch.randn(1, 2, 4, 5), use_tracing=True)


def test_scripted_loaded_and_saved_modules_run(tmp_path: Path) -> None:
    path = str(tmp_path / "model.pt")
    scripted = torch.jit.script(Tied())
    torch.jit.save(scripted, path)
    check(scripted, X, X)
    check(torch.jit.load(path), X, X)
    check(path, TensorPlaceholder(["B", 3], torch.float32), X)


def test_object_graph_has_classes_methods_and_shared_tensors() -> None:
    text = str(torchscript.compile(Tied(), X, output_type="raw"))
    linear = "__torch__.torch.nn.modules.linear.Linear"
    assert text.count(f"torch.class_type @{linear}") == 1
    assert (
        text.count("torch.tensor.literal") == 3
    )  # weight, bias and the tensor of the list, once each
    assert 'torch.attr private "maybe" : !torch.optional<int>' in text
    assert 'torch.attr private "pair" : !torch.tuple<int, str>' in text
    assert "%x: !torch.tensor {torch.type_bound = !torch.vtensor<[2,3],f32>}" in text
    assert 'torch.method "forward", @' in text
    assert 'torch.method private "encode", @' in text
    assert "func.call_indirect" in text
    assert "torch.prim.RaiseException" in text


def test_several_methods_are_public_functions() -> None:
    examples = ExampleArgs().add_method("forward", X).add_method("encode", X)
    text = str(torchscript.compile(Tied(), examples))
    assert "func.func @forward(%x: !torch.vtensor<[2,3],f32>)" in text
    assert "func.func @encode(%x: !torch.vtensor<[2,3],f32>)" in text
    assert not hasattr(Tied.encode, "_torchscript_modifier")


class Scaled(nn.Module):
    def forward(self, x):
        return x * x.shape[0]


def test_traced_shapes_are_forgotten_when_asked() -> None:
    example = TensorPlaceholder.like(X, dynamic_axes=[0])
    check(Scaled(), example, torch.randn(5, 3), use_tracing=True, ignore_traced_shapes=True)
    with pytest.raises(torch2mlir.CaptureError, match="traced with one shape"):
        torchscript.compile(Scaled(), example, use_tracing=True)


@pytest.mark.parametrize("model", [Scaled(), lambda x: x * 2], ids=["module", "function"])
def test_what_was_traced_before_is_compiled_for_its_shape_alone(model) -> None:
    traced = torch.jit.trace(model, X)
    example = TensorPlaceholder.like(X, dynamic_axes=[0])
    for other in (example, torch.randn(5, 3), torch.randn(3)):
        with pytest.raises(torch2mlir.CaptureError, match="was traced with .2, 3. for 'x', and"):
            torchscript.compile(traced, other)
    check(traced, X, torch.randn(2, 3))
    check(traced, example, torch.randn(5, 3), ignore_traced_shapes=True)


def with_numbers_of_a_trace(x):
    n = x.shape[0]  # a tensor of one element, while it is traced
    for _ in range(25):
        n = n + n - n  # each of two, or there would be more ways to the first than can be followed
    return x.new_zeros(n)


def test_numbers_of_a_trace_are_computed_once() -> None:
    example = TensorPlaceholder.like(X, dynamic_axes=[0])
    module = torchscript.compile(
        with_numbers_of_a_trace, example, use_tracing=True, ignore_traced_shapes=True
    )
    assert len(str(module)) < 10_000


def branching(x, y):
    if x.dim() > 1:
        return torch.nn.functional.softmax(x + y, dim=-1)
    return x * y


def test_functions_run() -> None:
    check(branching, [X, X], X, X)
    check(torch.jit.script(branching), [X[0], X[0]], X[0], X[0])


def with_string(x, mode: str):
    return x


@pytest.mark.parametrize(
    ("model", "example", "message"),
    [
        (Tied(), [X, X], "takes 1 arguments, 2 examples"),
        (Tied(), ExampleArgs().add_method("decode", X), "no method 'decode'"),
        (torch.jit.script(Tied()), ExampleArgs().add_method("decode", X), "no exported method"),
        (__file__, X, "is not a TorchScript program"),
        (with_string, X, "takes 2 arguments, 1 examples"),
        (3, X, "a int is no module, function or path"),
    ],
)
def test_what_cannot_be_imported_says_why(model: Any, example: Any, message: str) -> None:
    with pytest.raises(torch2mlir.CaptureError, match=message):
        torchscript.compile(model, example)


def test_example_of_another_kind_is_refused() -> None:
    with pytest.raises(torch2mlir.CaptureError, match="is a str"):
        ExampleArgs().add_method("forward", [X, "no tensor"])


def test_scripted_modules_go_where_others_go() -> None:
    scripted = torch.jit.script(Tied())
    assert "func.func @forward" in str(torch2mlir.export_and_import(scripted, X))
    compiled = torch2mlir.compile(scripted, X, output_type="linalg-on-tensors", engine="reference")
    with torch.no_grad():
        torch.testing.assert_close(compiled(X), scripted(X))


@pytest.mark.share(6)
@pytest.mark.parametrize(
    ("function", "first", "second"),
    [
        (torch.nonzero, [1, 0, 2], [1, 2, 3]),
        (torch.unique, [1, 1, 2], [1, 3, 2]),
        (torch.bincount, [1, 1, 2], [4, 3, 2]),
        (lambda x: x[x > 1], [1, 1, 2], [4, 3, 2]),
        (lambda x: torch.tensor_split(x * 2, x[:1])[0], [1, 7, 2], [3, 7, 2]),
    ],
)
def test_sizes_that_tracing_observed_are_not_those_of_other_values(function, first, second) -> None:  # type: ignore[no-untyped-def]
    x, y = torch.tensor(first), torch.tensor(second)
    traced = torchscript.capture(function, [x], use_tracing=True)
    compiled = torch2mlir.compile(traced, output_type="linalg-on-tensors", engine="iree")
    for values in (x, y, x):
        assert torch.equal(compiled(values), function(values))
    with pytest.raises(torch2mlir.Torch2MLIRError):
        torch2mlir.compile(traced, output_type="stablehlo", engine="xla")(x)


class NotScriptable(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("scale", torch.ones(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.scale.data = x.std(0)
        return x * self.scale


def test_a_class_that_cannot_be_scripted_is_told_the_same_again() -> None:
    """PyTorch said the second time that the class has its method already, with an address."""
    said = list[str]()
    for _ in range(2):
        with pytest.raises(torch2mlir.CaptureError, match="non-class") as caught:
            torchscript.compile(NotScriptable(), torch.ones(3, 2), output_type="torch")
        said.append(str(caught.value))
    assert said[0] == said[1]


class OfEach(nn.Module):
    """Tracing calls both arguments by the name that they have in ``positive``."""

    def forward(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(map(positive, tensors))


def positive(x: torch.Tensor) -> torch.Tensor:
    return x.relu()


def test_traced_arguments_of_one_name() -> None:
    example = torch.randn(3), torch.randn(4)
    traced = torch.jit.trace(OfEach(), example, check_trace=False)
    compiled = torch2mlir.compile(traced, *example)
    for _ in range(3):
        x, y = torch.randn(3), torch.randn(4)
        assert all(map(torch.equal, compiled(x, y), (x.relu(), y.relu())))
    with pytest.raises(torch2mlir.InputError, match="'x_1' should have size 4"):
        compiled(torch.randn(3), torch.randn(5))


@pytest.mark.parametrize("parts", ["x.unbind(0)", "x.split(1)", "x.split([1, 1, 1])"])
def test_a_list_is_unpacked_into_another_number(parts: str) -> None:
    text = f"def forward(x: Tensor):\n    a, b = {parts}\n    return a + b\n"
    model = torch.jit.CompilationUnit(text).forward
    with pytest.raises(RuntimeError, match="Expected 2 elements in a list but found 3"):
        model(X.mT)
    with pytest.raises(BackendContractError, match="a list of 3 is unpacked into 2") as error:
        torch2mlir.compile(model, X.mT)
    assert "has 2 parts" in str(error.value)
