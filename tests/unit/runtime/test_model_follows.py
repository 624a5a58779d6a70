"""A compiled function beside the model it came from: other weights, gradients, copies, names of arguments."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.overrides import TorchFunctionMode

import torch2mlir
from torch2mlir.errors import InputError, Torch2MLIRError

TARGETS = [("stablehlo", "xla"), ("linalg-on-tensors", "iree"), ("tosa", "iree")]


class Tied(nn.Module):
    """A weight with two names, a buffer that counts, and a part that can be exchanged."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.second = nn.Linear(3, 3, bias=False)
        self.second.weight = self.first.weight
        self.register_buffer("calls", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return self.second(torch.relu(self.first(x))) + self.calls


def _agrees(compiled: Any, model: nn.Module, eager: nn.Module) -> None:
    for _ in range(3):
        x = torch.randn(2, 3)
        with torch.no_grad():
            assert torch.allclose(compiled(x), eager(x), atol=1e-5)
        for got, want in zip(model.buffers(), eager.buffers(), strict=True):
            assert torch.equal(got, want)


@pytest.mark.share(4)
@pytest.mark.parametrize("output_type, engine", TARGETS)
def test_what_the_model_gets_in_the_place_of_a_tensor_is_used(
    output_type: str, engine: str
) -> None:
    torch.manual_seed(0)
    model = Tied()
    eager = deepcopy(model)
    compiled = torch2mlir.compile(model, torch.ones(2, 3), output_type=output_type, engine=engine)
    _agrees(compiled, model, eager)
    for each in (model, eager):
        torch.manual_seed(1)
        each.first.weight = nn.Parameter(torch.randn(3, 3))
        each.second.weight = each.first.weight
        each.calls = torch.full((3,), 7.0)
    _agrees(compiled, model, eager)
    for each in (model, eager):
        torch.manual_seed(2)
        each.first = nn.Linear(3, 3)
        each.second.weight = each.first.weight
    _agrees(compiled, model, eager)


def test_what_does_not_fit_the_program_is_refused() -> None:
    model = Tied()
    compiled = torch2mlir.compile(model, torch.ones(2, 3))
    with torch.no_grad():
        model.first.weight = nn.Parameter(torch.randn(3, 3))
        with pytest.raises(InputError, match="was the same tensor as another weight"):
            compiled(torch.ones(2, 3))
        model.second.weight = model.first.weight
        compiled(torch.ones(2, 3))
        model.first.bias = nn.Parameter(torch.ones(3, dtype=torch.float64))
        with pytest.raises(InputError, match="'first.bias' is a torch.float64 tensor"):
            compiled(torch.ones(2, 3))
        model.first.bias = None
        with pytest.raises(InputError, match="no longer has the tensor 'first.bias'"):
            compiled(torch.ones(2, 3))


@pytest.mark.share(4)
@pytest.mark.parametrize("output_type, engine", TARGETS)
@torch.no_grad()
def test_a_weight_of_other_sizes_or_another_dtype_is_refused(output_type: str, engine: str) -> None:
    model, x = Tied(), torch.ones(2, 3)
    compiled = torch2mlir.compile(model, x, output_type=output_type, engine=engine)
    compiled(x)
    model.half()
    with pytest.raises(InputError, match="torch.float16 tensor of sizes .*torch.float32 tensor"):
        compiled(x)
    model.float()
    _agrees(compiled, model, deepcopy(model))
    bias, calls = model.first.bias.data, model.calls.data
    model.first.bias.data = bias[:2]  # the same memory
    with pytest.raises(InputError, match=r"'first.bias' is a torch.float32 tensor of sizes \[2\]"):
        compiled(x)
    model.first.bias.data = bias.flip(0)
    _agrees(compiled, model, deepcopy(model))
    model.calls.data = torch.zeros(3, dtype=torch.int32)
    with pytest.raises(InputError, match="'calls' is a torch.int32 tensor"):
        compiled(x)
    model.calls.data = torch.zeros(1)
    with pytest.raises(InputError, match="'calls' is a torch.float32 tensor of sizes"):
        compiled(x)
    model.calls.data = calls
    _agrees(compiled, model, deepcopy(model))


@torch.no_grad()
def test_what_is_saved_or_copied_has_the_tensors_of_now(tmp_path: Path) -> None:
    model, other, x = Tied(), Tied(), torch.randn(2, 3)
    compiled = torch2mlir.compile(model, x)
    compiled(x)
    model.load_state_dict(deepcopy(other.state_dict()), assign=True)
    model.second.weight = model.first.weight
    copied = deepcopy(compiled)  # before a call has seen them
    loaded = torch2mlir.load(torch2mlir.save(compiled, tmp_path / "before"))
    _agrees(compiled, model, deepcopy(other))
    again = torch2mlir.load(torch2mlir.save(compiled, tmp_path / "after"))
    for each in (copied, loaded):
        eager = deepcopy(other)
        for _ in range(3):
            assert torch.allclose(each(x), eager(x), atol=1e-5)
    eager = deepcopy(model)
    assert torch.allclose(again(x), eager(x), atol=1e-5)


@torch.no_grad()
def test_a_written_tensor_that_is_replaced_is_guarded_and_verified_as_before() -> None:
    model, x = Tied(), torch.randn(2, 3)
    eager = deepcopy(model)
    compiled = torch2mlir.compile(
        model, x, guard=True, verify=True, dynamic_shapes=({0: torch.export.Dim("batch", max=9)},)
    )
    _agrees(compiled, model, eager)
    model.calls, eager.calls = torch.ones(3), torch.ones(3)
    x = torch.randn(5, 3)
    assert torch.allclose(compiled(x), eager(x), atol=1e-5)
    _agrees(compiled, model, eager)


class Scaled(nn.Linear):
    factor = 1.0
    shift: Any

    def __init__(self) -> None:
        super().__init__(3, 3)
        self.factor = 2.0
        self.shift = torch.ones(3)
        self.epoch = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x) * self.factor + self.shift


@pytest.mark.parametrize(
    "name, value, said",
    [
        ("factor", 3.0, "'1.factor' is 3.0 and was 2.0"),
        ("shift", torch.zeros(3), "'1.shift' is another than"),
    ],
)
@torch.no_grad()
def test_another_attribute_of_the_model_is_warned_of_once(name: str, value: Any, said: str) -> None:
    x = torch.randn(4, 3)
    model = nn.Sequential(nn.ReLU(), Scaled())
    compiled = torch2mlir.compile(model, x)
    expected = compiled(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model[1].epoch = 1  # no code reads it
        model.eval()  # nor that
        compiled(x)
    setattr(model[1], name, value)
    with pytest.warns(UserWarning, match=said) as caught:
        assert torch.equal(compiled(x), expected)
        compiled(x)
    assert len(caught) == 1 and caught[0].filename == __file__


@torch.no_grad()
def test_another_mode_of_the_model_is_warned_of() -> None:
    x = torch.randn(4, 3)
    model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5)).eval()
    compiled = torch2mlir.compile(model, x)
    model.train()
    with pytest.warns(UserWarning, match="'1.training' is True and was False when it was compiled"):
        compiled(x)


def test_an_input_that_requires_a_gradient_is_refused_in_grad_mode() -> None:
    compiled = torch2mlir.compile(lambda x: x * 2, torch.ones(3))
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(InputError, match="input 'x' requires a gradient") as caught:
        compiled(x)
    assert "torch.no_grad()" in str(caught.value) and "torch.compile" in str(caught.value)
    with torch.no_grad():
        assert torch.equal(compiled(x), torch.full((3,), 2.0))


def test_weights_that_require_gradients_are_warned_of_once() -> None:
    compiled = torch2mlir.compile(nn.Linear(3, 2), torch.ones(1, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with torch.no_grad():
            compiled(torch.ones(1, 3))
    with pytest.warns(UserWarning, match="carry no gradients") as caught:
        compiled(torch.ones(1, 3))
        compiled(torch.ones(1, 3))
    assert len(caught) == 1 and caught[0].filename == __file__
    frozen = torch2mlir.compile(nn.Linear(3, 2).requires_grad_(False), torch.ones(1, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frozen(torch.ones(1, 3))


@torch.no_grad()
def test_a_deep_copy_has_state_of_its_own() -> None:
    model = Tied()
    compiled = torch2mlir.compile(model, torch.ones(2, 3))
    copied = deepcopy(compiled)
    eager = deepcopy(model)
    x = torch.randn(2, 3)
    given = [torch.randn(2, 3) for _ in range(3)]
    results = [copied(each) for each in given]
    assert not model.calls.any()
    for result, each in zip(results, given, strict=True):
        assert torch.allclose(result, eager(each))
    model, compiled = deepcopy((model, compiled))  # copied together they stay together
    model.first.bias = nn.Parameter(torch.full((3,), 2.0))
    assert torch.allclose(compiled(x), deepcopy(model)(x) - 1)


def test_pickling_is_one_clear_error() -> None:
    compiled = torch2mlir.compile(nn.ReLU(), torch.ones(3))
    with pytest.raises(Torch2MLIRError, match="cannot be pickled"):
        pickle.dumps(compiled)


class Engine(nn.Module):
    def forward(self, x: torch.Tensor, engine: torch.Tensor) -> torch.Tensor:
        return x * 2 + engine


def test_an_argument_of_the_model_may_be_called_as_an_option() -> None:
    x, e = torch.randn(3), torch.randn(3)
    for compiled in (
        torch2mlir.compile(Engine(), x, e),
        torch2mlir.compile(Engine(), x, example_kwargs={"engine": e}),
    ):
        for _ in range(3):
            x, e = torch.randn(3), torch.randn(3)
            assert torch.allclose(compiled(x, engine=e), x * 2 + e)
            assert torch.allclose(compiled(x, e), x * 2 + e)
    with pytest.raises(Torch2MLIRError, match="engine= is an option") as caught:
        torch2mlir.compile(Engine(), x, engine=e)  # type: ignore[arg-type]
    assert "example_kwargs={'engine': ...}" in str(caught.value)


def _hooked(model: nn.Sequential) -> Any:
    return model[0].register_forward_hook(lambda module, given, result: result * 2)


def _hooked_before(model: nn.Sequential) -> Any:
    return model.register_forward_pre_hook(lambda module, given: (given[0] * 2,))


def _hooked_everywhere(model: nn.Sequential) -> Any:
    return nn.modules.module.register_module_forward_hook(
        lambda module, given, result: result * 2 if isinstance(module, nn.Linear) else None
    )


def _other_forward(model: nn.Sequential) -> Any:
    model[0].forward = lambda x: x * 2


CHANGES: dict[Callable[[nn.Sequential], Any], str] = {
    _hooked: "'0' has other hooks",
    _hooked_before: "the model has other hooks",
    _hooked_everywhere: "the model has other hooks",
    _other_forward: "'0.forward' is ",
}


@pytest.mark.parametrize("change", CHANGES)
@torch.no_grad()
def test_hooks_and_another_forward_are_warned_of(change: Callable[[nn.Sequential], Any]) -> None:
    x = torch.randn(4, 3)
    model = nn.Sequential(nn.Linear(3, 3), nn.ReLU()).eval()
    compiled = torch2mlir.compile(model, x)
    expected = compiled(x)
    handle = change(model)
    try:
        with pytest.warns(UserWarning, match=CHANGES[change]) as caught:
            assert torch.equal(compiled(x), expected)
            compiled(x)
        assert len(caught) == 1
    finally:
        if handle is not None:
            handle.remove()


@pytest.mark.parametrize("change", CHANGES)
@torch.no_grad()
def test_optimize_follows_them(change: Callable[[nn.Sequential], Any]) -> None:
    x = torch.randn(4, 3)
    model = nn.Sequential(nn.Linear(3, 3), nn.ReLU()).eval()
    optimized = torch2mlir.optimize(model, model_inputs=(x,))

    handle = change(model)
    try:
        for _ in range(3):
            x = torch.randn(4, 3)
            torch.testing.assert_close(optimized(x), model(x))
    finally:
        if handle is not None:
            handle.remove()
    x = torch.randn(4, 3)
    torch.testing.assert_close(optimized(x), model(x))


@torch.no_grad()
def test_another_autocast_is_warned_of() -> None:
    x = torch.randn(4, 3)
    compiled = torch2mlir.compile(nn.Linear(3, 3), x)
    expected = compiled(x)
    with (
        torch.autocast("cpu", dtype=torch.bfloat16),
        pytest.warns(UserWarning, match="autocast is on") as caught,
    ):
        assert torch.equal(compiled(x), expected)
        compiled(x)
    assert len(caught) == 1 and caught[0].filename == __file__


class Asking(nn.Module):
    """A model whose code asks PyTorch for its modes.

    Args:
        asks: of no argument.
    """

    def __init__(self, asks: Callable[[], Any]) -> None:
        super().__init__()
        self.asks = asks

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.asks()


class _Negated(TorchFunctionMode):
    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        result = func(*args, **kwargs or {})
        return -result if func is torch.sin else result


@contextmanager
def _set(setter: Callable[[Any], Any], value: Any, before: Any) -> Iterator[None]:
    setter(value)
    try:
        yield
    finally:
        setter(before)


MODES: dict[str, tuple[Callable[[], Any], Callable[[], AbstractContextManager[Any]]]] = {
    "grad mode": (lambda: 2 if torch.is_grad_enabled() else 3, torch.no_grad),
    "inference mode": (
        lambda: 2 if torch.is_inference_mode_enabled() else 3,
        torch.inference_mode,
    ),
    "the default dtype": (
        lambda: torch.ones(3),
        lambda: _set(torch.set_default_dtype, torch.float64, torch.float32),
    ),
    "the use of deterministic algorithms": (
        lambda: 2 if torch.are_deterministic_algorithms_enabled() else 3,
        lambda: _set(torch.use_deterministic_algorithms, True, False),
    ),
    "the TorchFunctionMode": (lambda: torch.sin(torch.ones(3)), lambda: _Negated()),
    "the number of threads": (
        lambda: torch.get_num_threads(),
        lambda: _set(torch.set_num_threads, torch.get_num_threads() + 1, torch.get_num_threads()),
    ),
}


@pytest.mark.parametrize("name", MODES)
def test_other_modes_that_a_model_asks_for_are_warned_of(name: str) -> None:
    asks, mode = MODES[name]
    x = torch.randn(4, 3)
    compiled = torch2mlir.compile(Asking(asks), x)
    expected = compiled(x)
    torch.testing.assert_close(expected, x * asks())
    with mode(), pytest.warns(UserWarning, match=f"{name} is .* and was") as caught:
        assert torch.equal(compiled(x), expected)
        compiled(x)
    assert sum(name in str(each.message) for each in caught) == 1
    assert torch.equal(compiled(x), expected)


@pytest.mark.parametrize("name", MODES)
def test_optimize_follows_modes_that_a_model_asks_for(name: str) -> None:
    asks, mode = MODES[name]
    x = torch.randn(4, 3)
    model = Asking(asks).eval()
    optimized = torch2mlir.optimize(model, model_inputs=(x,))
    for _ in range(2):
        torch.testing.assert_close(optimized(x), model(x))
        with mode():
            torch.testing.assert_close(optimized(x), model(x))
            torch.testing.assert_close(optimized(x), model(x))


@torch.no_grad()
def test_a_weight_that_is_computed_now_is_refused() -> None:
    x = torch.randn(4, 3)
    model = nn.Sequential(nn.Linear(3, 3))
    compiled = torch2mlir.compile(model, x)
    nn.utils.parametrizations.weight_norm(model[0])
    with pytest.raises(InputError, match="no longer has the tensor '0.weight'"):
        compiled(x)


class Counting(nn.Module):
    """State that two methods write to."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count.add_(1)
        return x * self.count

    def doubled(self, x: torch.Tensor) -> torch.Tensor:
        self.count.mul_(2)
        return x + self.count


LAYER = nn.Linear(3, 3)


@pytest.mark.share(4)
@pytest.mark.parametrize("output_type, engine", TARGETS)
@torch.no_grad()
def test_functions_follow_the_modules_they_refer_to(output_type: str, engine: str) -> None:
    """A method of a model, or a function of modules around it, went on with tensors that these had no more."""
    model = Counting()
    theirs = deepcopy(model)
    options = {"output_type": output_type, "engine": engine}
    method = torch2mlir.compile(model.doubled, torch.randn(3), **options)
    whole = torch2mlir.compile(model, torch.randn(3), **options)
    layer = nn.Linear(3, 3)
    around = torch2mlir.compile(lambda x: layer(x) + LAYER(x), torch.randn(2, 3), **options)
    for _ in range(3):
        for ours, eager in ((method, theirs.doubled), (whole, theirs)):
            x = torch.randn(3)
            torch.testing.assert_close(ours(x), eager(x))
            torch.testing.assert_close(model.count, theirs.count)
        model.count, theirs.count = torch.ones(3), torch.ones(3)
        x = torch.randn(2, 3)
        torch.testing.assert_close(around(x), layer(x) + LAYER(x), atol=1e-5, rtol=1e-5)
        layer.weight = nn.Parameter(torch.randn(3, 3))
        LAYER.bias = nn.Parameter(torch.randn(3))


def _applied(module: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return module(x)


class Wrapper:
    """An object that is called, and has a model."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return self.model(x)

    def more(self, x: torch.Tensor) -> torch.Tensor:
        return self.model(x) + 1


def _decorated(model: nn.Module) -> Callable[[torch.Tensor], torch.Tensor]:
    @torch.no_grad()
    def call(x: torch.Tensor) -> torch.Tensor:
        return model(x)

    return call


def _through_a_helper(model: nn.Module) -> Callable[[torch.Tensor], torch.Tensor]:
    def helper(x: torch.Tensor) -> torch.Tensor:
        return model(x)

    return lambda x: helper(x) * 2


@pytest.mark.parametrize(
    "made",
    [
        Wrapper,
        lambda model: Wrapper(model).more,
        lambda model: partial(_applied, model),
        _decorated,
        _through_a_helper,
    ],
    ids=["object", "method", "partial", "decorated", "helper"],
)
@torch.no_grad()
def test_however_a_function_has_its_modules(made: Callable[[nn.Module], Any]) -> None:
    model = nn.Linear(3, 3)
    function = made(model)
    ours = torch2mlir.compile(function, torch.randn(2, 3), engine="reference")
    for _ in range(3):
        x = torch.randn(2, 3)
        torch.testing.assert_close(ours(x), function(x))
        model.weight = nn.Parameter(torch.randn(3, 3))


class Halved(torch.Tensor):
    """A weight that consists of two others, as quantized ones do: elements, and what they are to be multiplied by."""

    elements: torch.Tensor
    scale: torch.Tensor

    @staticmethod
    def __new__(cls, elements: torch.Tensor, scale: torch.Tensor) -> Halved:
        made: Halved = torch.Tensor._make_wrapper_subclass(cls, elements.shape, dtype=scale.dtype)  # type: ignore[attr-defined]
        made.elements, made.scale = elements, scale
        return made

    def __tensor_flatten__(self) -> tuple[list[str], None]:
        return ["elements", "scale"], None

    @classmethod
    def __tensor_unflatten__(cls, inner: Any, *_: Any) -> Halved:
        return cls(inner["elements"], inner["scale"])

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if function is nn.functional.linear:
            return args[0] @ (args[1].elements * args[1].scale).t()
        with torch._C.DisableTorchFunctionSubclass():
            return function(*args, **(kwargs or {}))

    @classmethod
    def __torch_dispatch__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return cls(args[0].elements, args[0].scale)


class OfParts(nn.Module):
    """A write makes PyTorch take the weight apart."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(Halved(torch.randn(4, 3), torch.rand(4, 1)), False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = nn.functional.linear(x, self.weight)
        y.view(-1).add_(1)
        return y


@torch.no_grad()
def test_a_weight_of_parts_is_followed_or_refused() -> None:
    model, x = OfParts().eval(), torch.randn(2, 3)
    compiled = torch2mlir.compile(model, x, engine="reference", output_type="linalg-on-tensors")
    torch.testing.assert_close(compiled(x), model(x))
    model.weight.scale.mul_(2)
    torch.testing.assert_close(compiled(x), model(x))
    model.weight = nn.Parameter(Halved(torch.randn(4, 3), torch.rand(4, 1)), False)
    with pytest.raises(torch2mlir.InputError, match="'weight' is another Halved"):
        compiled(x)
